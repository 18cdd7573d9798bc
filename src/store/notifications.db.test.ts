import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import { sql } from 'kysely';
import { inject, expect, it, onTestFinished, vi } from 'vitest';
import { testDatabase, type TestDatabase } from '../../test/database.ts';
import { openDatabase, type DatabaseHandle } from './database.ts';
import {
  listen,
  notification,
  notify,
  paymentPayloads,
  type Notifications,
  type Told,
  type Topic,
} from './notifications.ts';
import { DEADLINE_MS, PROMPT_MS } from '../../test/deadline.ts';

function listener(handle: DatabaseHandle): Notifications {
  const notifications = listen(handle);
  onTestFinished(() => notifications.stop());
  return notifications;
}

const untilHealthy = (notifications: Notifications): Promise<void> =>
  vi.waitFor(() => expect(notifications.healthy()).toBe(true), { interval: 5, timeout: DEADLINE_MS });

const told = <T extends Topic>(notifications: Notifications, topic: T): Promise<Told[T]> =>
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
  const arrived = Promise.all([told(one, 'access'), told(one, 'access'), told(two, 'access')]);
  await notify(database.db, 'access');
  await arrived;
  expect(others).toBe(0);
});

it('a notification is sent when its transaction commits, and never when it is rolled back', async () => {
  const database = await testDatabase();
  const notifications = listener(database);
  await untilHealthy(notifications);
  const seen: Topic[] = [];
  for (const topic of ['access', 'deliveries', 'payments'] as const) notifications.on(topic, () => seen.push(topic));
  const arrived = told(notifications, 'payments');
  const rolledBack = database.db.transaction().execute(async (trx) => {
    await notify(trx, 'access');
    throw new Error('changed my mind');
  });
  await expect(rolledBack).rejects.toThrow('changed my mind');
  await database.db.transaction().execute(async (trx) => {
    await notify(trx, 'deliveries');
    await sql`select 1`.execute(trx);
    expect(seen).toEqual([]);
  });
  await sql`select ${notification('payments', '019a')}`.execute(database.db);
  await arrived;
  expect(seen).toEqual(['deliveries', 'payments']);
});

it('a notification names what its topic names; one of a newer version is passed over', async () => {
  const database = await testDatabase();
  const notifications = listener(database);
  await untilHealthy(notifications);
  const networks: unknown[] = [];
  notifications.on('chain', (told) => networks.push(told));
  const [ids, ended] = [told(notifications, 'payments'), told(notifications, 'deliveries')];
  await sql`select ${notification('payments', 'a', 'b')}, ${notification('chain', 'litecoin')},
    pg_notify('cointill', 'chain dogecoin'), pg_notify('cointill', 'chain'), pg_notify('cointill', 'weather fine')`.execute(
    database.db,
  );
  await notify(database.db, 'deliveries');
  expect(await ids).toEqual(['a', 'b']);
  expect(await ended).toEqual([]);
  expect(networks).toEqual([['litecoin']]);
});

it('any number of payments fits into payloads that PostgreSQL takes', async () => {
  const database = await testDatabase();
  const ids = Array.from({ length: 1_001 }, () => randomUUID());
  const payloads = paymentPayloads(ids);
  await sql`select pg_notify('cointill', payload) from unnest(${payloads}::text[]) as payload`.execute(database.db);
  expect(payloads.flatMap((payload) => payload.split(' ').slice(1))).toEqual(ids);
  expect(paymentPayloads([])).toEqual([]);
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
  const arrived = told(notifications, 'deliveries');
  await notify(database.db, 'deliveries');
  await arrived;
});

it('a connection that falls silent counts as down within a second, and is replaced', async () => {
  const database = await testDatabase();
  const { host, port, user } = inject('postgres');
  let isSilent = false;
  let connections = 0;
  const proxy = net.createServer((near) => {
    connections += 1;
    const far = net.connect(`${host}/.s.PGSQL.${port}`);
    // Only the first connection falls silent; nobody closes it.
    const isFirst = connections === 1;
    near.on('data', (chunk) => (isFirst && isSilent ? undefined : far.write(chunk)));
    far.on('data', (chunk) => (isFirst && isSilent ? undefined : near.write(chunk)));
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      socket.on('error', () => {});
      socket.on('close', () => other.destroy());
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = proxy.address();
  if (address === null || typeof address === 'string') throw new Error('not a TCP server');
  const name = new URL(database.url.replace(/@[^/]*/, '@localhost')).pathname.slice(1);
  const handle = openDatabase(
    { host: '127.0.0.1', port: address.port, user, database: name },
    { maxConnections: 1, onError: () => {} },
  );
  onTestFinished(async () => {
    await handle.close();
    proxy.close();
  });
  const notifications = listener(handle);
  await untilHealthy(notifications);
  isSilent = true;
  const startedMs = performance.now();
  await vi.waitFor(() => expect(notifications.healthy()).toBe(false), { interval: 5, timeout: DEADLINE_MS });
  expect(performance.now() - startedMs).toBeLessThan(PROMPT_MS);
  await untilHealthy(notifications);
  expect(connections).toBe(2);
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
  const handle: DatabaseHandle = {
    ...database,
    connect: async () => {
      const client = await database.connect();
      connected.resolve();
      await goOn.promise;
      return client;
    },
  };
  const late = listen(handle);
  const usual = listen(database);
  await Promise.all([connected.promise, untilHealthy(usual)]);
  await Promise.all([late.stop(), usual.stop()]);
  goOn.resolve();
  await vi.waitFor(
    async () => {
      const { rows } = await sql<{ count: bigint }>`select count(*) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`.execute(database.db);
      expect(rows).toEqual([{ count: 0n }]);
    },
    { interval: 10, timeout: DEADLINE_MS },
  );
});
