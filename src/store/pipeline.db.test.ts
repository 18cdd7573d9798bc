import { CompiledQuery } from 'kysely';
import { DatabaseError, type QueryResult } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { testDatabase, type TestDatabase } from '../../test/database.ts';
import { openDatabase } from './database.ts';

const KEY = 4711;

async function run(database: TestDatabase, text: string, values: readonly unknown[] = []) {
  const result = (await database.pipeline.executeQuery(CompiledQuery.raw(text, [...values]))) as QueryResult<{
    readonly value: number;
  }>;
  return result.rows[0]?.value;
}

/** Another connection that holds a lock, at which a statement of the pipeline waits until the test lets it go on. */
async function heldLock(database: TestDatabase) {
  const client = await database.connect();
  onTestFinished(() => client.end());
  await client.query('select pg_advisory_lock($1)', [KEY]);
  const waiting = async (): Promise<number> => {
    for (;;) {
      const { rows } = await client.query<{ pid: number }>(
        "select pid from pg_locks where locktype = 'advisory' and not granted and objid = $1",
        [KEY],
      );
      if (rows[0] !== undefined) return rows[0].pid;
    }
  };
  return { client, waiting, release: () => client.query('select pg_advisory_unlock($1)', [KEY]) };
}

const WAIT = 'select 1 as value from pg_advisory_xact_lock($1)';

describe('a pipeline', () => {
  it('sends a statement before the one ahead of it is answered, and has them carried out in turn', async () => {
    const database = await testDatabase();
    await run(database, 'create table seen (value int)');
    const lock = await heldLock(database);
    const answered: string[] = [];
    const first = run(database, WAIT, [KEY]).then(() => answered.push('first'));
    const second = run(database, 'insert into seen values (2) returning value').then(() => answered.push('second'));
    await lock.waiting();
    const { rows } = await lock.client.query('select value from seen');
    expect(rows).toEqual([]);
    await lock.release();
    await Promise.all([first, second]);
    expect(answered).toEqual(['first', 'second']);
  });

  it('keeps what the others did when one fails', async () => {
    const database = await testDatabase();
    await run(database, 'create table seen (value int primary key)');
    const insert = (value: number) => run(database, 'insert into seen values ($1) returning value', [value]);
    const outcomes = await Promise.allSettled([insert(1), insert(1), insert(2)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await run(database, 'select count(*)::int as value from seen')).toBe(2);
  });

  it('fails all that is under way when its connection breaks, and opens another for what comes next', async () => {
    const database = await testDatabase();
    const lock = await heldLock(database);
    const outcomes = Promise.allSettled([run(database, WAIT, [KEY]), run(database, 'select 2 as value')]);
    await lock.client.query('select pg_terminate_backend($1)', [await lock.waiting()]);
    const [first, second] = await outcomes;
    expect([first.status, second.status]).toEqual(['rejected', 'rejected']);
    // Its own words, so that nobody takes it for a statement that the server refused and that may be tried again.
    const reason: unknown = first.status === 'rejected' ? first.reason : null;
    expect(reason instanceof DatabaseError ? reason.code : 'connection').toMatch(/^57P01$|^connection$/);
    await expect.poll(() => run(database, 'select 3 as value').catch(() => 'broken')).toBe(3);
  });

  it('carries transactions out in turn, each asked and answered before its end, and the next one behind that end', async () => {
    const database = await testDatabase();
    await run(database, 'create table seen (value int primary key)');
    const count = CompiledQuery.raw('select count(*)::int as value from seen');
    const insert = (value: number) => CompiledQuery.raw('insert into seen values ($1)', [value]);
    const add = (value: number) =>
      database.pipeline.transaction(async (runner) => {
        const { rows } = (await runner.executeQuery(count)) as QueryResult<{ readonly value: number }>;
        return { result: rows[0]?.value, statements: [insert(value), insert(value + 10)] };
      });
    expect(await Promise.all([add(1), add(2), add(3)])).toEqual([0, 2, 4]);
  });

  it('undoes a transaction of which a statement fails, which is refused, or which saves nothing, and no other', async () => {
    const database = await testDatabase();
    await run(database, 'create table seen (value int primary key)');
    const insert = (value: number) => CompiledQuery.raw('insert into seen values ($1)', [value]);
    const save = (...values: readonly number[]) =>
      database.pipeline.transaction(() => Promise.resolve({ result: values.length, statements: values.map(insert) }));
    const outcomes = await Promise.allSettled([
      save(1, 2),
      save(3, 1, 4),
      database.pipeline.transaction(async (runner) => {
        await runner.executeQuery(insert(5));
        throw new Error('Not to be.');
      }),
      database.pipeline.transaction(async (runner) => {
        await runner.executeQuery(insert(6));
        return { result: 'nothing', statements: [] };
      }),
      save(7),
    ]);
    expect(
      outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : String(outcome.reason))),
    ).toEqual([2, expect.stringContaining('duplicate key'), 'Error: Not to be.', 'nothing', 1]);
    expect(await run(database, "select string_agg(value::text, ' ' order by value) as value from seen")).toBe('1 2 7');
    expect(database.pipeline.unansweredMs()).toBeNull();
  });

  it('makes the server abort a transaction whose client has fallen silent, and release its locks', async () => {
    const database = await testDatabase();
    await run(database, 'create table seen (value int primary key)');
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    const { promise: locked, resolve: onLocked } = Promise.withResolvers<void>();
    // Half of what a statement may take at most, which is 30 seconds otherwise.
    const impatient = openDatabase(
      { connectionString: database.url },
      { maxConnections: 1, onError: () => {}, answerTimeoutMs: 4_000 },
    );
    onTestFinished(() => impatient.close());
    const frozen = impatient.pipeline.transaction(async (runner) => {
      await runner.executeQuery(CompiledQuery.raw('lock table seen'));
      onLocked();
      await held;
      return { result: 'late', statements: [CompiledQuery.raw('insert into seen values ($1)', [1])] };
    });
    await locked;
    expect(await run(database, 'insert into seen values (2) returning value')).toBe(2);
    letGo();
    await expect(frozen).rejects.toThrow(
      /terminating connection|Connection terminated|not queryable|idle-in-transaction/,
    );
    expect(await run(database, 'select count(*)::int as value from seen')).toBe(1);
  });

  it('ends only when what was sent is answered, and can be closed unused', async () => {
    const database = await testDatabase();
    const lock = await heldLock(database);
    const last = run(database, WAIT, [KEY]);
    await lock.waiting();
    const closed = database.pipeline.close();
    await lock.release();
    await closed;
    expect(await last).toBe(1);
    const unused = await testDatabase();
    await unused.pipeline.close();
  });
});
