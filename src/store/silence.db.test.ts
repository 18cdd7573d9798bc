import { Socket } from 'node:net';
import { CompiledQuery, sql } from 'kysely';
import { expect, it, onTestFinished, vi } from 'vitest';
import { testDatabase } from '../../test/database.ts';
import { databaseProxy } from '../../test/database-proxy.ts';
import { NoAnswerError } from './client.ts';
import { openDatabase, type Database, type DatabaseHandle } from './database.ts';

/** Long for a statement on a busy machine, short for a test. */
const PATIENCE_MS = 1_000;

const ONE = sql<{ one: number }>`select 1 as one`;
const one = async (db: Database): Promise<number | undefined> => (await ONE.execute(db)).rows[0]?.one;
const onPipeline = ({ pipeline, db }: DatabaseHandle): Promise<unknown> => pipeline.executeQuery(ONE.compile(db));

/** Why each failed. */
async function faults(statements: readonly Promise<unknown>[]): Promise<readonly unknown[]> {
  const outcomes = await Promise.allSettled(statements);
  return outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason : 'answered'));
}

it('a statement of the pool that gets no answer fails in time, and the next ones get connections that answer', async () => {
  const proxy = await databaseProxy(await testDatabase());
  const { db } = proxy.open(PATIENCE_MS);
  await Promise.all([one(db), one(db)]);
  const made = proxy.connections();
  proxy.silence('everything');
  const found = await faults([one(db), one(db)]);
  expect(found).toEqual([expect.any(NoAnswerError), expect.any(NoAnswerError)]);
  expect(found[0]).toMatchObject({ code: 'ETIMEDOUT', message: 'the database did not answer within 1 s' });
  expect(await Promise.all([one(db), one(db), one(db)])).toEqual([1, 1, 1]);
  expect(proxy.connections()).toBe(made + 2);
});

it('a transaction whose connection falls silent fails, its lost rollback included, and holds no connection', async () => {
  const proxy = await databaseProxy(await testDatabase());
  const { db } = proxy.open(PATIENCE_MS);
  const work = db.transaction().execute(async (trx) => {
    await one(trx);
    proxy.silence('everything');
    await one(trx);
  });
  expect(await faults([work])).toEqual([expect.any(Error)]);
  expect(await Promise.all([one(db), one(db)])).toEqual([1, 1]);
});

it('a transaction of a process that hangs is given up by the server, with what it has locked', async () => {
  const database = await testDatabase();
  await sql`create table seen (value int primary key)`.execute(database.db);
  // Half of what a statement may take at most.
  const hanging = openDatabase(
    { connectionString: database.url },
    { maxConnections: 1, onError: () => {}, answerTimeoutMs: 4_000 },
  );
  onTestFinished(() => hanging.close());
  const locked = Promise.withResolvers<void>();
  const hang = Promise.withResolvers<void>();
  const work = hanging.db.transaction().execute(async (trx) => {
    await sql`lock table seen`.execute(trx);
    locked.resolve();
    await hang.promise;
    await sql`insert into seen values (1)`.execute(trx);
  });
  await locked.promise;
  await sql`insert into seen values (2)`.execute(database.db);
  hang.resolve();
  expect(await faults([work])).toEqual([expect.any(Error)]);
  expect((await sql`select value from seen`.execute(database.db)).rows).toEqual([{ value: 2 }]);
  expect(await one(hanging.db)).toBe(1);
});

it('outside a transaction no connection is given up for its silence', async () => {
  const database = await testDatabase();
  const { db, pipeline } = database;
  const text = 'show idle_in_transaction_session_timeout';
  await db.transaction().execute(async (trx) => {
    expect((await sql.raw(text).execute(trx)).rows).toEqual([{ idle_in_transaction_session_timeout: '5s' }]);
  });
  const listener = await database.connect();
  onTestFinished(() => listener.end());
  const told = [
    await sql.raw(text).execute(db),
    Object(await pipeline.executeQuery(CompiledQuery.raw(text))),
    await listener.query(text),
  ];
  expect(told.map(({ rows }) => rows)).toEqual([1, 2, 3].map(() => [{ idle_in_transaction_session_timeout: '0' }]));
});

it('all statements on a pipeline that falls silent fail in time, and the next one opens another connection', async () => {
  const proxy = await databaseProxy(await testDatabase());
  const handle = proxy.open(PATIENCE_MS);
  await onPipeline(handle);
  proxy.silence('everything');
  const found = await faults([onPipeline(handle), onPipeline(handle)]);
  expect(found).toEqual([expect.any(NoAnswerError), expect.any(NoAnswerError)]);
  await onPipeline(handle);
  await onPipeline(handle);
  expect(proxy.connections()).toBe(2);
});

it('a statement on a connection of its own, a migration or the wait for a lock, may take any time', async () => {
  const database = await testDatabase();
  const handle = (await databaseProxy(database)).open(PATIENCE_MS);
  const client = await handle.connect();
  const { rows } = await client.query('select 2 as two, pg_sleep($1)', [(PATIENCE_MS + 200) / 1000]);
  expect(rows).toEqual([{ two: 2, pg_sleep: '' }]);
  await client.end();
});

it('the operating system probes every idle connection to a remote server', async () => {
  const proxy = await databaseProxy(await testDatabase());
  const keepAlive = vi.spyOn(Socket.prototype, 'setKeepAlive');
  const handle = proxy.open(PATIENCE_MS);
  await one(handle.db);
  await handle.pipeline.executeQuery(CompiledQuery.raw('select 1'));
  await (await handle.connect()).end();
  expect(keepAlive.mock.calls).toEqual([1, 2, 3].map(() => [true, 10_000]));
  keepAlive.mockRestore();
});
