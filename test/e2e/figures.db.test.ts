import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { runDue } from '../../src/app/payments/run-due.ts';
import { readFigures } from '../../src/store/figures/figures.ts';
import { holdLease } from '../../src/store/leases.ts';
import { COMPLETE_AFTER_MS, testApp } from '../harness.ts';

it('the figures say what waits, what is late, who holds what, and how the payments stand', async () => {
  const app = await testApp();
  const read = () => readFigures(app.db, app.clock);
  expect(await read()).toMatchObject({
    deliveriesWaiting: 0,
    deliveriesOldestMs: 0,
    deliveriesLagMs: 0,
    paymentsLagMs: 0,
    payments: [],
    leases: [],
  });
  for (let count = 0; count < 3; count += 1) await app.pay();
  const startedAt = app.clock();
  await holdLease(app.db, 'chain bitcoin', 'worker', startedAt, startedAt + 60_000);
  await holdLease(app.db, 'chain litecoin', 'dead', startedAt, startedAt + 1);
  // Ten and five minutes old; the first is retried in a minute, the other has been due for one.
  await sql`insert into deliveries (event_id, endpoint_id, state, next_attempt_at, created_at)
    select gen_random_uuid(), gen_random_uuid(), 'waiting', to_timestamp(${startedAt / 1000}) + d.due, to_timestamp(${startedAt / 1000}) - d.age
    from (values (interval '1 minute', interval '10 minutes'), (interval '-1 minute', interval '5 minutes')) d (due, age)`.execute(
    app.db,
  );
  app.clock.advance(30_000);
  expect(await read()).toMatchObject({
    deliveriesWaiting: 2,
    deliveriesOldestMs: 630_000,
    deliveriesLagMs: 90_000,
    paymentsLagMs: 0,
    payments: [{ mode: 'test', status: 'pending', count: 3 }],
  });
  const { leases } = await read();
  expect(leases.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
    { name: 'chain bitcoin', isHeld: true },
    { name: 'chain litecoin', isHeld: false },
  ]);
  app.clock.set(startedAt + COMPLETE_AFTER_MS + 7_000);
  expect((await read()).paymentsLagMs).toBe(7_000);
  await runDue(app, 10);
  expect(await read()).toMatchObject({
    paymentsLagMs: 0,
    payments: expect.arrayContaining([{ mode: 'test', status: 'completed', count: 3 }]),
  });
});

it('the cost of a scrape is bounded, however long the backlog is', async () => {
  const { db, clock } = await testApp();
  await sql`insert into deliveries (event_id, endpoint_id, state, next_attempt_at, created_at)
    select gen_random_uuid(), gen_random_uuid(), 'waiting', now(), now() from generate_series(1, 100001)`.execute(db);
  expect((await readFigures(db, clock)).deliveriesWaiting).toBe(100_000);
});

it.each([
  ['deliveries', 'select 1 from deliveries where next_attempt_at is not null limit 100000', 'deliveries_due'],
  ['payments', 'select due_at from payments where due_at is not null order by due_at limit 1', 'payments_due'],
  ['counters', "select 1 from payment_day_counts where day >= '2026-06-01'", 'payment_day_counts_by_day'],
])('the %s are found by an index', async (_name, text, index) => {
  const { db } = await testApp();
  const plan = await db.transaction().execute(async (trx) => {
    // A test's tables are so small that PostgreSQL would prefer sequential scans.
    await sql`set local enable_seqscan = off`.execute(trx);
    return (await sql.raw(`explain ${text}`).execute(trx)).rows;
  });
  expect(JSON.stringify(plan)).toContain(index);
});
