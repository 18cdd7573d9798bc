import { randomBytes, randomInt } from 'node:crypto';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { testDatabase } from '../../../test/database.ts';
import { testApp } from '../../../test/harness.ts';
import { numberDue } from '../../app/webhooks/number-events.ts';
import { uuidV7 } from '../../domain/id.ts';
import type { Trx } from '../database.ts';
import { logEnds, readLog } from './event-log.ts';
import { numberEvents } from './event-positions.ts';

/** A project with a log; `write` stores an event of a payment in an open transaction and returns its id. */
async function emptyLog() {
  const database = await testDatabase();
  const { projectId } = await testApp({ database });
  const { db } = database;
  const scope = { projectId, mode: 'test' } as const;
  const write = async (trx: Trx, sequence: number, paymentId = newUuid()): Promise<string> => {
    const id = newUuid();
    await sql`insert into events (id, project_id, mode, payment_id, type, body, created_at)
      values (${id}, ${projectId}, 'test', ${paymentId}, 'order.created', ${JSON.stringify({ id, sequence, paymentId })}, now())`.execute(
      trx,
    );
    return id;
  };
  const commit = (sequence = 1): Promise<string> => db.transaction().execute((trx) => write(trx, sequence));
  const number = async (): Promise<void> => {
    while (await numberDue({ db }));
  };
  return { db, scope, write, commit, number, ...readerOf(db, scope) };
}

const newUuid = (): string => uuidV7(Date.now(), randomBytes(10));

interface Read {
  readonly id: string;
  readonly sequence: number;
  readonly paymentId: string;
}

/** A reader that keeps its position and reads what came since. */
function readerOf(db: Parameters<typeof readLog>[0], scope: Parameters<typeof readLog>[1]) {
  let after = 0n;
  const all: Read[] = [];
  const positions: bigint[] = [];
  const readOn = async (): Promise<readonly Read[]> => {
    for (;;) {
      const page = await readLog(db, scope, { after, limit: 7, types: null, paymentId: null });
      if (page === 'deleted') throw new Error('Entries were deleted.');
      if (page.entries.length === 0) return all;
      for (const entry of page.entries) {
        positions.push(entry.position);
        if ('event' in entry) all.push(JSON.parse(entry.event));
      }
      after = page.next;
    }
  };
  return { readOn, positions };
}

it('an event that commits after a younger one is read after it, which a reader by id would miss', async () => {
  const { db, write, commit, number, readOn } = await emptyLog();
  const late = await db.startTransaction().execute();
  const older = await write(late, 1);
  const younger = await commit();
  await number();
  expect((await readOn()).map(({ id }) => id)).toEqual([younger]);
  const byId = await sql<{ id: string }>`select id from events order by id desc limit 1`.execute(db);
  await late.commit().execute();
  await number();
  expect((await readOn()).map(({ id }) => id)).toEqual([younger, older]);
  const missed = await sql`select id from events where id > ${byId.rows[0]?.id}`.execute(db);
  expect(missed.rows).toEqual([]);
});

it('a reader beside many writers and workers gets each event once, at every position, and each payment’s in its order', async () => {
  const { db, write, number, readOn, positions } = await emptyLog();
  const written: string[] = [];
  let areWriting = true;
  const writer = async (): Promise<void> => {
    const paymentId = newUuid();
    for (let sequence = 1; sequence <= 25; sequence += 1) {
      const trx = await db.startTransaction().execute();
      const id = await write(trx, sequence, paymentId);
      // Commits come in another order than the events, and some never.
      for (let left = randomInt(4); left > 0; left -= 1) await sql`select`.execute(trx);
      const isLost = randomInt(8) === 0;
      await (isLost ? trx.rollback() : trx.commit()).execute();
      if (!isLost) written.push(id);
    }
  };
  const beside = async (work: () => Promise<unknown>): Promise<void> => {
    while (areWriting) await work();
  };
  const others = [beside(() => numberDue({ db })), beside(() => numberDue({ db })), beside(readOn)];
  await Promise.all(Array.from({ length: 5 }, writer));
  areWriting = false;
  await Promise.all(others);
  await number();
  const read = await readOn();
  expect(read.map(({ id }) => id).toSorted()).toEqual(written.toSorted());
  expect(positions).toEqual(positions.map((_, index) => BigInt(index + 1)));
  for (const own of Map.groupBy(read, ({ paymentId }) => paymentId).values()) {
    const sequences = own.map(({ sequence }) => sequence);
    expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
  }
});

it('a worker that ends before its commit has given no position', async () => {
  const { db, commit, number, readOn } = await emptyLog();
  const id = await commit();
  const ended = db.transaction().execute(async (trx) => {
    await numberEvents(trx);
    throw new Error('killed');
  });
  await expect(ended).rejects.toThrow('killed');
  await number();
  expect((await readOn()).map((one) => one.id)).toEqual([id]);
});

it('events from before the log come first, oldest first, also while others are written', async () => {
  const { db, scope, commit, number, readOn } = await emptyLog();
  const earlier = [await commit(), await commit(), await commit()];
  // The state after the migration: the events are there, and nothing of the log.
  await sql`delete from unnumbered_events`.execute(db);
  await sql`insert into event_numbering (id, number_to) select 1, id from events order by id desc limit 1`.execute(db);
  const younger = await commit();
  expect(await logEnds(db, scope)).toEqual({ head: 0n, oldest: 1n });
  await number();
  expect((await readOn()).map(({ id }) => id)).toEqual([...earlier.toSorted(), younger]);
});
