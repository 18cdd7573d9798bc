import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, it, onTestFinished, vi } from 'vitest';
import { testDatabase, type TestDatabase } from '../../test/database.ts';
import { DEADLINE_MS, WAIT } from '../../test/deadline.ts';
import { webhookApp } from '../app/webhooks/webhooks.fixture.ts';
import { openDatabase, type DatabaseHandle, type Trx } from './database.ts';
import { listen } from './notifications.ts';
import { wake } from './wake.ts';
import { WAKEUP_TOPICS, type Wakeup, type WakeupTopic } from './wakeups.ts';

/** A process of the database, and what it heard. */
interface Process {
  readonly handle: DatabaseHandle;
  readonly heard: string[];
}

/** A process, or a further part of the process that has this handle. */
async function processOf(database: TestDatabase, own?: DatabaseHandle): Promise<Process> {
  const handle = own ?? openDatabase({ connectionString: database.url }, { maxConnections: 2, onError: () => {} });
  if (own === undefined) onTestFinished(() => handle.close());
  const notifications = listen(handle);
  onTestFinished(() => notifications.stop());
  const heard: string[] = [];
  for (const topic of WAKEUP_TOPICS) notifications.on(topic, (payload) => heard.push([topic, ...payload].join(' ')));
  await vi.waitFor(() => expect(notifications.healthy()).toBe(true), { interval: 5, timeout: DEADLINE_MS });
  return { handle, heard };
}

const commit = <Result>({ handle }: Process, work: (trx: Trx) => Promise<Result>): Promise<Result> =>
  handle.db.transaction().execute(work);

/** The wake-ups that another process has heard once everything sent before has arrived. */
async function heardBy(other: Process, by: Process): Promise<readonly string[]> {
  const last = `sweeps ${randomUUID()}`;
  await commit(by, (trx) => wake(trx, ['sweeps', last.slice('sweeps '.length)]));
  await vi.waitFor(() => expect(other.heard.join(' ')).toContain(last), WAIT);
  return other.heard.filter((one) => !one.startsWith('sweeps '));
}

const sent = ({ handle }: Process, topic: WakeupTopic, way: string): number =>
  handle.wakeups.counts().find((one) => one.topic === topic && one.way === way)?.count ?? 0;

it('a wake-up comes once its transaction has committed: to its own process at once, to another soon, once each', async () => {
  const database = await testDatabase();
  const [one, two] = [await processOf(database), await processOf(database)];
  await commit(one, async (trx) => {
    await wake(trx, ['payments', 'a', 'b']);
    await wake(trx, ['deliveries']);
    await sql`select 1`.execute(trx);
    expect(one.heard).toEqual([]);
  });
  expect(one.heard).toEqual(['payments a b', 'deliveries']);
  expect(await heardBy(two, one)).toEqual(['payments a b', 'deliveries']);
  expect(one.heard.slice(0, -1)).toEqual(['payments a b', 'deliveries']);
  expect([sent(one, 'payments', 'own'), sent(one, 'payments', 'sent'), sent(two, 'payments', 'received')]).toEqual([
    1, 1, 1,
  ]);
});

it('each topic reaches its own process and the others, with its payload', async () => {
  const database = await testDatabase();
  const [one, two] = [await processOf(database), await processOf(database)];
  const wakeups: { readonly [T in WakeupTopic]: Wakeup } = {
    deliveries: ['deliveries'],
    payments: ['payments', 'a'],
    chain: ['chain', 'bitcoin'],
    attention: ['attention', 'p', 'live'],
    events: ['events', 'p', 'test'],
    sweeps: ['sweeps', 'p'],
  };
  const words = Object.values(wakeups).map((wakeup) => wakeup.join(' '));
  await commit(one, (trx) => wake(trx, ...Object.values(wakeups)));
  expect(one.heard).toEqual(words);
  await vi.waitFor(() => expect(two.heard.toSorted()).toEqual(words.toSorted()), WAIT);
});

it('what commits while the connections are closed still wakes the others, and leaves no connection', async () => {
  const database = await testDatabase();
  const other = await processOf(database);
  const handle = openDatabase(
    { connectionString: `${database.url}?application_name=closing` },
    { maxConnections: 2, onError: () => {} },
  );
  const begun = Promise.withResolvers<void>();
  const closing = Promise.withResolvers<void>();
  const work = handle.db.transaction().execute(async (trx) => {
    await wake(trx, ['payments', 'late']);
    begun.resolve();
    await closing.promise;
  });
  await begun.promise;
  const closed = handle.close();
  closing.resolve();
  await Promise.all([work, closed]);
  await vi.waitFor(() => expect(other.heard).toContain('payments late'), WAIT);
  const left = sql`select from pg_stat_activity where datname = current_database() and application_name = 'closing'`;
  await vi.waitFor(async () => expect((await left.execute(database.db)).rows).toEqual([]), WAIT);
});

it('a transaction that is rolled back wakes nobody, and neither does the next one on its connection for it', async () => {
  const database = await testDatabase();
  const [one, two] = [await processOf(database), await processOf(database)];
  const failing = commit(one, async (trx) => {
    await wake(trx, ['payments', 'lost']);
    throw new Error('changed my mind');
  });
  await expect(failing).rejects.toThrow('changed my mind');
  for (let round = 0; round < 4; round += 1) await commit(one, (trx) => wake(trx, ['chain', 'bitcoin']));
  expect(await heardBy(two, one)).not.toContain('payments lost');
  expect(one.heard).not.toContain('payments lost');
});

it('what many commits say meanwhile is sent together, each payment once, and none is left out', async () => {
  const database = await testDatabase();
  const [one, two] = [await processOf(database), await processOf(database)];
  const ids = Array.from({ length: 1_001 }, () => randomUUID());
  await commit(one, (trx) => wake(trx, ['payments', ...ids]));
  // While the first of them is on its way.
  for (const id of ids) one.handle.wakeups.send(['payments', id]);
  const told = (await heardBy(two, one)).flatMap((text) => text.split(' ').slice(1));
  expect(new Set(told)).toEqual(new Set(ids));
  expect(sent(one, 'payments', 'own')).toBe(1_002);
  expect(sent(one, 'payments', 'sent')).toBeLessThanOrEqual(2);
});

it('wake-ups wait while the database takes none, and are sent when it does again', async () => {
  const database = await testDatabase();
  const [one, two] = [await processOf(database), await processOf(database)];
  await one.handle.pipeline.executeQuery(sql`select 1`.compile(one.handle.db));
  const end = sql`select pg_terminate_backend(pg_backend_pid())`.compile(one.handle.db);
  const [ended] = await Promise.allSettled([
    one.handle.pipeline.executeQuery(end),
    commit(one, (trx) => wake(trx, ['attention', 'shop', 'live'])),
  ]);
  expect(ended.status).toBe('rejected');
  await vi.waitFor(() => expect(two.heard).toContain('attention shop live'), WAIT);
});

it('a process that closes tells the others first', async () => {
  const database = await testDatabase();
  const two = await processOf(database);
  const handle = openDatabase({ connectionString: database.url }, { maxConnections: 2, onError: () => {} });
  for (let round = 0; round < 20; round += 1) {
    await handle.db.transaction().execute((trx) => wake(trx, ['payments', `p${round}`]));
  }
  await handle.close();
  await vi.waitFor(() => expect(two.heard.join(' ')).toContain('p19'), WAIT);
});

it('a new payment wakes deliverers if an endpoint gets it, and otherwise nobody', async () => {
  const { app, register } = await webhookApp();
  const other = await processOf(app.database);
  const one = await processOf(app.database, app.database);
  await app.pay();
  expect(await heardBy(other, one)).toEqual([]);
  await register('https://shop.example/');
  await heardBy(other, one);
  const before = other.heard.length;
  await app.pay();
  await heardBy(other, one);
  expect(other.heard.slice(before).filter((text) => !text.startsWith('sweeps'))).toEqual(['deliveries']);
});
