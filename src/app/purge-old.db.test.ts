import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { testApp, type TestApp } from '../../test/harness.ts';
import { timestamp } from '../store/database.ts';
import { insertPerson } from '../store/people/people.ts';
import { newId } from './context.ts';
import { purgeOld } from './purge-old.ts';

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;

/** Deliveries made so long ago, each with one attempt, as many as said; `next` is when they are due again. */
async function delivery(app: TestApp, ageMs: number, next: number | null = null, count = 1): Promise<void> {
  const madeAt = timestamp(app.clock() - ageMs);
  await sql`
    with made as (
      insert into deliveries (event_id, endpoint_id, state, next_attempt_at, created_at)
      select gen_random_uuid(), gen_random_uuid(), ${next === null ? 'delivered' : 'waiting'},
        ${next === null ? null : timestamp(next)}, ${madeAt}
      from generate_series(1, ${count}::integer) returning id
    )
    insert into delivery_attempts (delivery_id, manual, started_at, duration_ms, request_headers, response_truncated)
    select id, false, ${madeAt}, 1, '{}', false from made`.execute(app.db);
}

async function answer(app: TestApp, key: string, ageMs: number): Promise<void> {
  await app.db
    .insertInto('idempotency_keys')
    .values({
      project_id: app.projectId,
      mode: 'test',
      route: 'POST /v1/orders',
      key,
      body_hash: Buffer.of(1),
      response: '{}',
      created_at: new Date(app.clock() - ageMs),
    })
    .execute();
}

/** How old what is left of the deliveries is, in days; each must have its attempt, and no attempt is left alone. */
async function agesLeft(app: TestApp): Promise<readonly number[]> {
  const rows = await app.db.selectFrom('deliveries').select(['id', 'created_at']).execute();
  const attempts = await app.db.selectFrom('delivery_attempts').select('delivery_id').execute();
  const ids = (some: readonly bigint[]): readonly string[] => some.map(String).toSorted();
  expect(ids(attempts.map((row) => row.delivery_id))).toEqual(ids(rows.map((row) => row.id)));
  return rows.map((row) => (app.clock() - row.created_at) / DAY_MS).toSorted((a, b) => a - b);
}

describe('what outlived its time', () => {
  it('goes: deliveries of more than 90 days with their attempts; younger ones stay', async () => {
    const app = await testApp();
    for (const ageMs of [0, DAY_MS, 90 * DAY_MS, 90 * DAY_MS + 1, 400 * DAY_MS]) await delivery(app, ageMs);
    expect(await purgeOld(app)).toBe(false);
    expect(await agesLeft(app)).toEqual([0, 1, 90]);
  });

  it('stays while it is still to be sent, however old it is', async () => {
    const app = await testApp();
    await delivery(app, 400 * DAY_MS, app.clock() + 1);
    await purgeOld(app);
    expect(await agesLeft(app)).toEqual([400]);
  });

  it('goes: answers of more than 24 hours; the same request gets a younger one again', async () => {
    const app = await testApp();
    await answer(app, 'now', 0);
    await answer(app, 'a day', 24 * HOUR_MS);
    await answer(app, 'older', 24 * HOUR_MS + 1);
    await purgeOld(app);
    const rows = await app.db.selectFrom('idempotency_keys').select('key').orderBy('key').execute();
    expect(rows.map(({ key }) => key)).toEqual(['a day', 'now']);
  });

  it('goes: mails and occurrences that ended more than 30 days ago, and unused links of mails after 180', async () => {
    const app = await testApp();
    const person = newId(app, app.clock());
    await app.db
      .transaction()
      .execute((trx) => insertPerson(trx, { id: person, email: 'ann@shop.example', createdAt: app.clock() }));
    const at = (ageMs: number) => timestamp(app.clock() - ageMs);
    for (const [name, ageMs] of [
      ['30 days', 30 * DAY_MS],
      ['older', 30 * DAY_MS + 1],
    ] as const) {
      await sql`insert into mails (id, person_id, kind, occasion, content, created_at, give_up_at, attempts, outcome, ended_at)
        values (gen_random_uuid(), ${person}, 'attention', ${name}, '{}', ${at(400 * DAY_MS)}, ${at(0)}, 1, 'sent', ${at(ageMs)})`.execute(
        app.db,
      );
      await sql`insert into attention_occurrences (project_id, mode, kind, subject, occurrence, name, noticed_at, ended_at)
        values (${app.projectId}, 'live', 'network', ${name}, '', '', ${at(400 * DAY_MS)}, ${at(ageMs)})`.execute(
        app.db,
      );
    }
    // Neither is over, however old.
    await sql`insert into mails (id, person_id, kind, occasion, content, created_at, next_attempt_at, give_up_at, attempts)
      values (gen_random_uuid(), ${person}, 'attention', 'waits', '{}', ${at(400 * DAY_MS)}, ${at(0)}, ${at(-DAY_MS)}, 0)`.execute(
      app.db,
    );
    await sql`insert into attention_occurrences (project_id, mode, kind, subject, occurrence, name, noticed_at)
      values (${app.projectId}, 'live', 'network', 'goes on', '', '', ${at(400 * DAY_MS)})`.execute(app.db);
    for (const [byte, ageMs] of [
      [1, 180 * DAY_MS],
      [2, 180 * DAY_MS + 1],
    ] as const) {
      await sql`insert into mail_unsubscribes (token_hash, person_id, notification, created_at)
        values (${Buffer.alloc(32, byte)}, ${person}, 'attention', ${at(ageMs)})`.execute(app.db);
    }
    expect(await purgeOld(app)).toBe(false);
    const { rows } = await sql<{ what: string }>`
      select occasion as what from mails union all select subject from attention_occurrences
      union all select encode(substring(token_hash, 1, 1), 'hex') from mail_unsubscribes order by what`.execute(app.db);
    expect(rows.map(({ what }) => what)).toEqual(['01', '30 days', '30 days', 'goes on', 'waits']);
  });

  it('is purged in batches, and says if there may be more', async () => {
    const app = await testApp();
    await delivery(app, 91 * DAY_MS, null, 2_001);
    expect(await purgeOld(app)).toBe(true);
    expect(await agesLeft(app)).toHaveLength(1);
    expect(await purgeOld(app)).toBe(false);
    expect(await agesLeft(app)).toEqual([]);
  });
});
