import { sql } from 'kysely';
import type { Client } from 'pg';
import { expect, it, onTestFinished, vi } from 'vitest';
import { databaseProxy } from '../../test/database-proxy.ts';
import { testDatabase, type TestDatabase } from '../../test/database.ts';
import type { DatabaseHandle } from './database.ts';
import {
  listen,
  notification,
  notifyAccess,
  type Listening,
  type Notifications,
  type NotificationPayloads,
  type Topic,
} from './notifications.ts';
import { DEADLINE_MS, PROMPT_MS, WAIT } from '../../test/deadline.ts';

/** Far beyond what a test takes: nothing that it sees is a statement that was given up. */
const NEVER_MS = 600_000;

function listener(handle: DatabaseHandle): Listening {
  const notifications = listen(handle);
  onTestFinished(() => notifications.stop());
  return notifications;
}

const untilHealthy = (notifications: Notifications): Promise<void> =>
  vi.waitFor(() => expect(notifications.healthy()).toBe(true), { interval: 5, timeout: DEADLINE_MS });

const nextOf = <T extends Topic>(notifications: Notifications, topic: T): Promise<NotificationPayloads[T]> =>
  new Promise((resolve) => notifications.on(topic, resolve));

const down = (notifications: Notifications): Promise<void> => new Promise((resolve) => notifications.onDown(resolve));

/** Ends every other connection to the database. */
async function killConnections(database: TestDatabase): Promise<void> {
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`.execute(database.db);
}

it('a notification reaches every listener of its topic in every process, and no other', async () => {
  const database = await testDatabase();
  const [one, two] = [listener(database), listener(database)];
  await Promise.all([untilHealthy(one), untilHealthy(two)]);
  let others = 0;
  one.on('payments', () => (others += 1));
  const arrived = Promise.all([nextOf(one, 'access'), nextOf(one, 'access'), nextOf(two, 'access')]);
  await notifyAccess(database.db);
  await arrived;
  expect(others).toBe(0);
});

it('a notification is sent when its transaction commits, and never when it is rolled back', async () => {
  const database = await testDatabase();
  const notifications = listener(database);
  await untilHealthy(notifications);
  const seen: Topic[] = [];
  for (const topic of ['access', 'sessions', 'poll'] as const) notifications.on(topic, () => seen.push(topic));
  const arrived = nextOf(notifications, 'poll');
  const rolledBack = database.db.transaction().execute(async (trx) => {
    await notifyAccess(trx);
    throw new Error('changed my mind');
  });
  await expect(rolledBack).rejects.toThrow('changed my mind');
  await database.db.transaction().execute(async (trx) => {
    await sql`select ${notification('sessions', '019a')}`.execute(trx);
    await sql`select 1`.execute(trx);
    expect(seen).toEqual([]);
  });
  await sql`select ${notification('poll', 'bitcoin')}`.execute(database.db);
  await arrived;
  expect(seen).toEqual(['sessions', 'poll']);
});

it('a notification names what its topic names; one of a newer version is passed over', async () => {
  const database = await testDatabase();
  const notifications = listener(database);
  await untilHealthy(notifications);
  const networks: unknown[] = [];
  notifications.on('chain', (payload) => networks.push(payload));
  const [ids, ended] = [nextOf(notifications, 'payments'), nextOf(notifications, 'access')];
  await sql`select pg_notify('cointill', 'payments a b'), pg_notify('cointill', 'chain litecoin'),
    pg_notify('cointill', 'chain dogecoin'), pg_notify('cointill', 'chain'), pg_notify('cointill', 'weather fine')`.execute(
    database.db,
  );
  await notifyAccess(database.db);
  expect(await ids).toEqual(['a', 'b']);
  expect(await ended).toEqual([]);
  expect(networks).toEqual([['litecoin']]);
});

it('a connection that is killed is reported at once, counts as down, and is replaced', async () => {
  const database = await testDatabase();
  const notifications = listener(database);
  await untilHealthy(notifications);
  let ups = 0;
  notifications.onUp(() => (ups += 1));
  const broke = down(notifications).then(() => notifications.healthy());
  await killConnections(database);
  expect(await broke).toBe(false);
  expect(ups).toBe(0);
  await untilHealthy(notifications);
  expect(ups).toBe(1);
  const arrived = nextOf(notifications, 'access');
  await notifyAccess(database.db);
  await arrived;
});

it('a connection that falls silent counts as down within a second, and is replaced', async () => {
  const database = await testDatabase();
  const proxy = await databaseProxy(database);
  const notifications = listener(proxy.open(NEVER_MS));
  await untilHealthy(notifications);
  const connections = proxy.connections();
  proxy.silence('everything');
  const startedMs = performance.now();
  await vi.waitFor(() => expect(notifications.healthy()).toBe(false), { interval: 5, timeout: DEADLINE_MS });
  expect(performance.now() - startedMs).toBeLessThan(PROMPT_MS);
  expect(notifications.problem()).toBe('not listening');
  await vi.waitFor(() => expect(proxy.connections()).toBeGreaterThan(connections), WAIT);
});

it('a connection that falls silent before its first proof arrives is given up, and another one is made', async () => {
  const database = await testDatabase();
  const proxy = await databaseProxy(database);
  proxy.withholdNotifications();
  // The proof is sent past the proxy.
  listener({ ...proxy.open(NEVER_MS), db: database.db });
  const listening = sql<{ pid: number }>`select pid from pg_stat_activity where datname = current_database()
    and state = 'idle' and query = 'select pg_backend_pid() as pid'`;
  await vi.waitFor(async () => expect((await listening.execute(database.db)).rows).toHaveLength(1), WAIT);
  const connections = proxy.connections();
  proxy.silence('everything');
  await vi.waitFor(() => expect(proxy.connections()).toBeGreaterThan(connections), WAIT);
});

it('listening counts only where a message to oneself arrives; what withholds it is named once', async () => {
  const database = await testDatabase();
  const proxy = await databaseProxy(database);
  proxy.withholdNotifications();
  const problems: string[] = [];
  let ups = 0;
  const notifications = listen(proxy.open(NEVER_MS), { onWithheld: (problem) => problems.push(problem) });
  onTestFinished(() => notifications.stop());
  notifications.onUp(() => (ups += 1));
  // Each attempt is a connection of its own, which is given up when the message has not come.
  await vi.waitFor(() => expect(proxy.connections()).toBeGreaterThan(3), { timeout: DEADLINE_MS });
  expect(notifications.healthy()).toBe(false);
  expect(ups).toBe(0);
  expect(problems).toEqual([expect.stringContaining('DATABASE_DIRECT_URL')]);
  expect(notifications.problem()).toBe(problems[0]);
});

it('notifications that a pooler withholds arrive on the direct way past it', async () => {
  const database = await testDatabase();
  const proxy = await databaseProxy(database);
  proxy.withholdNotifications();
  const handle = proxy.open(NEVER_MS, { connectionString: database.url });
  const notifications = listener(handle);
  await untilHealthy(notifications);
  const arrived = nextOf(notifications, 'access');
  await notifyAccess(handle.db);
  expect(await arrived).toEqual([]);
});

it('a connection on which notifications stop coming is found out by the next proof', async () => {
  const database = await testDatabase();
  const proxy = await databaseProxy(database);
  const notifications = listen(proxy.open(NEVER_MS), { proofEveryMs: 100 });
  onTestFinished(() => notifications.stop());
  await untilHealthy(notifications);
  const broke = down(notifications);
  proxy.withholdNotifications();
  await broke;
  expect(notifications.healthy()).toBe(false);
  expect(notifications.problem()).toContain('DATABASE_DIRECT_URL');
});

it('a connection that is led to another session counts as down', async () => {
  const database = await testDatabase();
  let other: Promise<Client> | null = null;
  const handle: DatabaseHandle = {
    ...database,
    connect: async () => {
      const client = await database.connect();
      const query = client.query.bind(client);
      client.query = (async (text: string) => (other === null ? query(text) : (await other).query(text))) as never;
      return client;
    },
  };
  const notifications = listener(handle);
  await untilHealthy(notifications);
  const broke = down(notifications);
  other = database.connect();
  onTestFinished(async () => (await other)?.end());
  await broke;
  expect(notifications.healthy()).toBe(false);
});

it('a connection that falls silent before it listens is given up, and another is made', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const database = await testDatabase();
  const asked = Promise.withResolvers<void>();
  let connections = 0;
  const handle: DatabaseHandle = {
    ...database,
    connect: async () => {
      const client = await database.connect();
      connections += 1;
      if (connections === 1) {
        // The statement that waits for another's lock is answered as late as one that was lost on its way.
        const other = await database.connect();
        onTestFinished(() => other.end());
        await other.query('select pg_advisory_lock(1)');
        const query = client.query.bind(client);
        client.query = () => {
          asked.resolve();
          return query('select pg_advisory_lock(1)') as never;
        };
      }
      return client;
    },
  };
  const notifications = listener(handle);
  await asked.promise;
  expect(notifications.healthy()).toBe(false);
  await vi.advanceTimersByTimeAsync(5_000);
  await expect
    .poll(async () => {
      await vi.advanceTimersByTimeAsync(250);
      return notifications.healthy();
    })
    .toBe(true);
  expect(connections).toBe(2);
});

it('a database that is away is tried again until it is there', async () => {
  const database = await testDatabase();
  let isAway = true;
  let tries = 0;
  const enough = Promise.withResolvers<void>();
  const handle: DatabaseHandle = {
    ...database,
    connect: () => {
      tries += 1;
      if (tries === 2) enough.resolve();
      return isAway ? Promise.reject(new Error('connection refused')) : database.connect();
    },
  };
  const notifications = listener(handle);
  await enough.promise;
  expect(notifications.healthy()).toBe(false);
  isAway = false;
  await untilHealthy(notifications);
});

it('stopping leaves no connection behind, not even one that was being made', async () => {
  const database = await testDatabase();
  const connected = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const sessions: number[] = [];
  const connect = async (): Promise<Client> => {
    const client = await database.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    sessions.push(...rows.map(({ pid }) => pid));
    return client;
  };
  const late = listen({
    ...database,
    connect: async () => {
      const client = await connect();
      connected.resolve();
      await goOn.promise;
      return client;
    },
  });
  const usual = listen({ ...database, connect });
  await Promise.all([connected.promise, untilHealthy(usual)]);
  await Promise.all([late.stop(), usual.stop()]);
  goOn.resolve();
  await vi.waitFor(
    async () => {
      const { rows } = await sql`select 1 from pg_stat_activity where pid = any (${sessions})`.execute(database.db);
      expect(rows).toEqual([]);
    },
    { interval: 10, timeout: DEADLINE_MS },
  );
  expect(sessions.length).toBeGreaterThan(1);
});
