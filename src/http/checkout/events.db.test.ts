import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { TestDatabase } from '../../../test/database.ts';
import { testApp, type TestApp } from '../../../test/harness.ts';
import { cancelPayment, completeSandboxPayment } from '../../app/payments/payment-actions.ts';
import { createPaymentWatch, type PaymentWatch, type PaymentWatchOptions } from '../../app/live/payment-watch.ts';
import { createPaymentReader, type PaymentReader } from '../../app/payments/read-payment.ts';
import { decodeId, encodeId, parseUuid } from '../../domain/id.ts';
import type { Payment } from '../../domain/payment.ts';
import { moveCursor, readCursor, startCursor } from '../../store/chains/chain.ts';
import { openDatabase, type DatabaseHandle } from '../../store/database.ts';
import { listen, type Notifications } from '../../store/notifications.ts';
import { wake } from '../../store/wake.ts';
import { tryServer } from '../frame.fixture.ts';
import { checkoutEvents, type CheckoutEvents, type CheckoutEventsOptions } from './events.ts';
import { DEADLINE_MS, PROMPT_MS } from '../../../test/deadline.ts';
import { NO_REPORTS } from '../../domain/problems.ts';

const ROOMY = { test: 1_000_000, live: 1_000_000, page: 1_000_000 };
const versionOf = (payment: Payment): string => `${payment.status}.${payment.lastSequence}`;

interface Node {
  readonly server: FastifyInstance;
  readonly events: CheckoutEvents;
  readonly watch: PaymentWatch;
  readonly notifications: Notifications;
  open(id: string, options?: { readonly v?: string; readonly headers?: http.OutgoingHttpHeaders }): Promise<Stream>;
}

/** One process's server on a database; `options` replace what the streams work with. */
async function node(
  app: TestApp,
  options: Partial<CheckoutEventsOptions> = {},
  from: { readonly handle?: DatabaseHandle; readonly watch?: PaymentWatchOptions; readonly proxied?: boolean } = {},
): Promise<Node> {
  const notifications = listen(from.handle ?? app.database);
  const watch = createPaymentWatch(notifications, { everyMs: 600_000, ...from.watch });
  const events = checkoutEvents({
    reader: createPaymentReader(app),
    watch,
    versionOf,
    problems: NO_REPORTS,
    selectorOf: (text) => {
      const order = decodeId('order', text);
      const id = order ?? parseUuid(text);
      return id === null ? null : { id, api: order === null ? 'transaction' : 'order' };
    },
    ...options,
  });
  const trustProxy = from.proxied === true ? ['127.0.0.1'] : null;
  const server = tryServer({ plugins: [events.routes], trustProxy }, ROOMY);
  await server.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(async () => {
    await server.close();
    watch.stop();
    await notifications.stop();
    expect([events.openStreams(), watch.watchers()]).toEqual([0, 0]);
  });
  return {
    server,
    events,
    watch,
    notifications,
    open: (id, { v, headers } = {}) =>
      openStream(server, `/pay/${id}/events${v === undefined ? '' : `?v=${encodeURIComponent(v)}`}`, headers),
  };
}

const untilHealthy = ({ notifications }: Node): Promise<void> =>
  vi.waitFor(() => expect(notifications.healthy()).toBe(true), { interval: 5, timeout: DEADLINE_MS });

const until = (check: () => void): Promise<void> => vi.waitFor(check, { interval: 5, timeout: DEADLINE_MS });

interface Stream {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  text(): string;
  /** The versions told so far. */
  versions(): readonly string[];
  /** Resolves when this many versions were told. */
  told(count: number): Promise<readonly string[]>;
  /** Whether the answer was ended properly; resolves when the connection is gone. */
  readonly ended: Promise<boolean>;
  leave(): void;
}

/** Opens a stream on a connection of its own and reads along. */
async function openStream(
  server: FastifyInstance,
  path: string,
  headers: http.OutgoingHttpHeaders = {},
  method = 'GET',
): Promise<Stream> {
  const { port } = server.server.address() as AddressInfo;
  const request = http.request({ host: '127.0.0.1', port, path, headers, method, agent: new http.Agent() });
  request.on('error', () => {});
  request.end();
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  let text = '';
  response.setEncoding('utf8').on('data', (part: string) => (text += part));
  response.on('error', () => {});
  const ended = new Promise<boolean>((resolve) => response.on('close', () => resolve(response.complete)));
  const versions = (): readonly string[] =>
    [...text.matchAll(/^event: changed\nid: (.*)\ndata: (.*)\n\n/gm)].map(([, id = '', data]) =>
      id === data ? id : `${id} is not ${data}`,
    );
  onTestFinished(() => void request.destroy());
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: () => text,
    versions,
    told: async (count) => {
      await until(() => expect(versions().length).toBeGreaterThanOrEqual(count));
      return versions();
    },
    ended,
    leave: () => void request.destroy(),
  };
}

/** Tells of a payment that did not change: what a process hears when another one did something in vain. */
async function notifyChange(app: TestApp, id: string): Promise<void> {
  await app.db.transaction().execute((trx) => wake(trx, ['payments', id]));
}

/** The application of another process: other connections to the same database. */
async function otherProcess(app: TestApp): Promise<TestApp> {
  const { url } = app.database;
  const handle = openDatabase({ connectionString: url }, { maxConnections: 2, onError: () => {} });
  onTestFinished(() => handle.close());
  const database: TestDatabase = { ...handle, url };
  return testApp({ database });
}

describe('an open page', () => {
  it('gets a change that another process committed, once, on every node', async () => {
    const app = await testApp();
    const other = await otherProcess(app);
    const nodes = await Promise.all([node(app), node(app)]);
    await Promise.all(nodes.map(untilHealthy));
    const payment = await app.pay();
    const id = encodeId('order', payment.id);
    const streams = await Promise.all(nodes.map((one) => one.open(id, { v: versionOf(payment) })));
    await cancelPayment(other, { id: payment.id });
    const expected = [versionOf(await app.read(payment.id))];
    expect(await Promise.all(streams.map((stream) => stream.told(1)))).toEqual([expected, expected]);
    await notifyChange(app, payment.id);
    const fence = await app.pay();
    const last = await Promise.all(nodes.map((one) => one.open(encodeId('order', fence.id), { v: versionOf(fence) })));
    await cancelPayment(other, { id: fence.id });
    await Promise.all(last.map((stream) => stream.told(1)));
    expect(streams.map((stream) => stream.versions())).toEqual([expected, expected]);
  });

  it('gets the headers of the frame and of a stream, and how soon to come back', async () => {
    const app = await testApp();
    const one = await node(app);
    const payment = await app.pay();
    const stream = await one.open(encodeId('order', payment.id), { v: versionOf(payment) });
    expect(stream.status).toBe(200);
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
      'x-ratelimit-limit': String(ROOMY.page),
      'x-ratelimit-remaining': String(ROOMY.page - 1),
    });
    await until(() => expect(stream.text()).toBe('retry: 2000\n\n'));
  });

  it('gets at once what changed since it was rendered, or since its last event', async () => {
    const app = await testApp();
    const one = await node(app);
    const payment = await app.pay({ api: 'transaction' });
    const now = versionOf(payment);
    const stale = await one.open(payment.id, { v: 'older' });
    expect(await stale.told(1)).toEqual([now]);
    const unknown = await one.open(payment.id);
    expect(await unknown.told(1)).toEqual([now]);
    const again = await one.open(payment.id, { v: 'older', headers: { 'last-event-id': now } });
    const behind = await one.open(payment.id, { v: now, headers: { 'last-event-id': 'older' } });
    expect(await behind.told(1)).toEqual([now]);
    expect(again.versions()).toEqual([]);
  });

  it('misses nothing that is committed while it connects', async () => {
    const app = await testApp();
    const reader = createPaymentReader(app);
    let isFirst = true;
    const late: PaymentReader = {
      read: async (selector) => {
        const payment = await reader.read(selector);
        if (isFirst) {
          isFirst = false;
          await cancelPayment(app, { id: selector.id });
        }
        return payment;
      },
    };
    const one = await node(app, { reader: late });
    await untilHealthy(one);
    const payment = await app.pay();
    const stream = await one.open(encodeId('order', payment.id), { v: versionOf(payment) });
    expect(await stream.told(1)).toEqual([versionOf(await app.read(payment.id))]);
  });

  it('gets what was committed while notifications were down', async () => {
    const app = await testApp();
    let isAway = false;
    const handle: DatabaseHandle = {
      ...app.database,
      connect: () => (isAway ? Promise.reject(new Error('connection refused')) : app.database.connect()),
    };
    const one = await node(app, {}, { handle });
    await untilHealthy(one);
    const payment = await app.pay();
    const stream = await one.open(encodeId('order', payment.id), { v: versionOf(payment) });
    const down = new Promise<void>((resolve) => one.notifications.onDown(resolve));
    isAway = true;
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`.execute(app.db);
    await down;
    await cancelPayment(app, { id: payment.id });
    expect(stream.versions()).toEqual([]);
    isAway = false;
    expect(await stream.told(1)).toEqual([versionOf(await app.read(payment.id))]);
  });

  it('gets changes within the interval while notifications stay down', async () => {
    const app = await testApp();
    const connect = () => Promise.reject(new Error('connection refused'));
    const one = await node(app, {}, { handle: { ...app.database, connect }, watch: { everyMs: 20 } });
    const payment = await app.pay();
    const stream = await one.open(encodeId('order', payment.id), { v: versionOf(payment) });
    await cancelPayment(app, { id: payment.id });
    expect(await stream.told(1)).toEqual([versionOf(await app.read(payment.id))]);
  });

  it('gets confirmations while its payment is being confirmed, and follows the chain from the start of that', async () => {
    const app = await testApp();
    const block = (height: number) => ({ height, hash: `0x${height}`, blockAt: height });
    const move = (height: number) =>
      app.db.transaction().execute((trx) => moveCursor(trx, 'ethereum', [block(height)], 1));
    await app.db.transaction().execute((trx) => startCursor(trx, 'ethereum', block(1), 1));
    let looks = 0;
    const withHeight = async (payment: Payment): Promise<string> => {
      looks += 1;
      return `${payment.status} at ${(await readCursor(app.db, 'ethereum'))?.height}`;
    };
    const one = await node(app, { versionOf: withHeight });
    await untilHealthy(one);
    const payment = await app.pay({ mode: 'live', token: { asset: 'ETH', network: 'ethereum' } });
    const stream = await one.open(encodeId('order', payment.id), { v: 'pending at 1' });
    await move(2);
    await notifyChange(app, payment.id);
    // Not followed yet: the block told nothing, the payment's own notification did.
    expect(await stream.told(1)).toEqual(['pending at 2']);
    expect(looks).toBe(2);
    await app.db.updateTable('payments').set({ status: 'confirming' }).where('id', '=', payment.id).execute();
    await notifyChange(app, payment.id);
    expect(await stream.told(2)).toEqual(['pending at 2', 'confirming at 2']);
    await move(3);
    expect((await stream.told(3)).at(-1)).toBe('confirming at 3');
  });

  it('is read once for changes that arrive together, and again for those that arrive meanwhile', async () => {
    const app = await testApp();
    const reader = createPaymentReader(app);
    let reads = 0;
    let held: Promise<void> | null = null;
    const slow: PaymentReader = {
      read: async (selector) => {
        reads += 1;
        await held;
        return reader.read(selector);
      },
    };
    const one = await node(app, { reader: slow });
    await untilHealthy(one);
    const payment = await app.pay();
    const stream = await one.open(encodeId('order', payment.id), { v: versionOf(payment) });
    expect(reads).toBe(1);
    const goOn = Promise.withResolvers<void>();
    held = goOn.promise;
    let heard = 0;
    one.notifications.on('payments', () => (heard += 1));
    for (let round = 0; round < 20; round += 1) await notifyChange(app, payment.id);
    await cancelPayment(app, { id: payment.id });
    await until(() => expect(heard).toBe(21));
    expect(reads).toBe(2);
    held = null;
    goOn.resolve();
    expect(await stream.told(1)).toEqual([versionOf(await app.read(payment.id))]);
    await until(() => expect(reads).toBe(3));
  });

  it('is read again after the database failed', async () => {
    const app = await testApp();
    let failures = 1;
    const flaky = (payment: Payment): string => {
      if (payment.status === 'cancelled' && failures > 0) {
        failures -= 1;
        throw new Error('the connection broke');
      }
      return versionOf(payment);
    };
    const one = await node(app, { versionOf: flaky });
    await untilHealthy(one);
    const payment = await app.pay();
    const stream = await one.open(encodeId('order', payment.id), { v: versionOf(payment) });
    await cancelPayment(app, { id: payment.id });
    expect(await stream.told(1)).toEqual([versionOf(await app.read(payment.id))]);
    expect(failures).toBe(0);
  });

  it('is kept alive, also when its payment is final', async () => {
    const app = await testApp();
    const one = await node(app, { heartbeatMs: 10 });
    const payment = await app.pay();
    await completeSandboxPayment(app, { id: payment.id });
    const stream = await one.open(encodeId('order', payment.id), { v: versionOf(await app.read(payment.id)) });
    await until(() => expect(stream.text()).toMatch(/^retry: 2000\n\n(?:: ok\n\n){3}/));
  });
});

describe('200 open pages', () => {
  it('all get their event when 200 payments change at once', async () => {
    const app = await testApp();
    const one = await node(app, { limits: { perClient: 1_000 } });
    await untilHealthy(one);
    const payments = await Promise.all(Array.from({ length: 200 }, () => app.pay()));
    const streams = await Promise.all(
      payments.map((payment) => one.open(encodeId('order', payment.id), { v: versionOf(payment) })),
    );
    await Promise.all(payments.map(({ id }) => cancelPayment(app, { id })));
    const told = await Promise.all(streams.map((stream) => stream.told(1)));
    const now = await Promise.all(payments.map(async ({ id }) => [versionOf(await app.read(id))]));
    expect(told).toEqual(now);
  });
});

describe('a stream', () => {
  it.each(['ord_00000000000000000000000000', 'ord_x', '00000000-0000-7000-8000-000000000000', 'x'])(
    'of %s, which is no payment, is not found and leaves nothing behind',
    async (id) => {
      const one = await node(await testApp());
      const answer = await one.open(id);
      expect([answer.status, answer.headers['content-type']]).toEqual([404, 'text/plain; charset=utf-8']);
      expect([one.events.openStreams(), one.watch.watchers()]).toEqual([0, 0]);
    },
  );

  it('of an order is not found by its bare id, nor with HEAD', async () => {
    const app = await testApp();
    const one = await node(app);
    const payment = await app.pay();
    expect((await one.open(payment.id)).status).toBe(404);
    const head = await openStream(one.server, `/pay/${encodeId('order', payment.id)}/events`, {}, 'HEAD');
    expect(head.status).toBe(404);
  });

  it('that its client leaves takes everything with it, also while its payment is read', async () => {
    const app = await testApp();
    const reader = createPaymentReader(app);
    const started = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    let isHeld = false;
    const slow: PaymentReader = {
      read: async (selector) => {
        if (isHeld) {
          started.resolve();
          await goOn.promise;
        }
        return reader.read(selector);
      },
    };
    const one = await node(app, { reader: slow });
    const { id: uuid } = await app.pay();
    const id = encodeId('order', uuid);
    const streams = await Promise.all([one.open(id), one.open(id), one.open(id)]);
    expect([one.events.openStreams(), one.watch.watchers()]).toEqual([3, 3]);
    for (const stream of streams) stream.leave();
    await until(() => expect([one.events.openStreams(), one.watch.watchers()]).toEqual([0, 0]));
    isHeld = true;
    const { port } = one.server.server.address() as AddressInfo;
    const early = net.connect(port, '127.0.0.1');
    early.write(`GET /pay/${id}/events HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await started.promise;
    early.destroy();
    await until(() => expect([one.events.openStreams(), one.watch.watchers()]).toEqual([0, 0]));
    goOn.resolve();
  });

  it('whose first read fails is answered with an error and leaves nothing behind', async () => {
    const app = await testApp();
    const one = await node(app, { reader: { read: () => Promise.reject(new Error('the database is away')) } });
    const payment = await app.pay();
    expect((await one.open(encodeId('order', payment.id))).status).toBe(500);
    expect([one.events.openStreams(), one.watch.watchers()]).toEqual([0, 0]);
  });

  it('is dropped when its client does not read', async () => {
    const app = await testApp();
    let looks = 0;
    const long = '.'.repeat(200_000);
    const one = await node(app, { versionOf: () => `${(looks += 1)}${long}`, limits: { unreadBytes: 1_000_000 } });
    await untilHealthy(one);
    const payment = await app.pay();
    const { port } = one.server.server.address() as AddressInfo;
    const client = net.connect(port, '127.0.0.1');
    client.pause();
    client.on('error', () => {});
    onTestFinished(() => void client.destroy());
    client.write(`GET /pay/${encodeId('order', payment.id)}/events HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await until(() => expect(one.events.openStreams()).toBe(1));
    while (one.events.openStreams() > 0 && looks < 200) {
      const before = looks;
      await notifyChange(app, payment.id);
      await until(() => expect(looks > before || one.events.openStreams() === 0).toBe(true));
    }
    expect([one.events.openStreams(), one.watch.watchers()]).toEqual([0, 0]);
  });

  it('beyond the limits is refused until another one ends, by client and in all', async () => {
    const app = await testApp();
    const one = await node(app, { limits: { streams: 3, perClient: 2 } }, { proxied: true });
    const id = encodeId('order', (await app.pay()).id);
    const from = (address: string) =>
      one.open(id, { headers: { 'x-forwarded-for': address, 'x-forwarded-proto': 'https' } });
    const first = await from('192.0.2.1');
    expect((await from('192.0.2.1')).status).toBe(200);
    const refused = await from('192.0.2.1');
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '30']);
    expect((await from('2001:db8::1')).status).toBe(200);
    expect((await from('192.0.2.2')).status).toBe(503);
    first.leave();
    await until(() => expect(one.events.openStreams()).toBe(2));
    expect((await from('192.0.2.1')).status).toBe(200);
  });

  it('counts IPv6 clients by their network', async () => {
    const app = await testApp();
    const one = await node(app, { limits: { perClient: 1 } }, { proxied: true });
    const id = encodeId('order', (await app.pay()).id);
    const from = (address: string) =>
      one.open(id, { headers: { 'x-forwarded-for': address, 'x-forwarded-proto': 'https' } });
    expect((await from('2001:db8::1')).status).toBe(200);
    expect((await from('2001:db8::2')).status).toBe(503);
    expect((await from('2001:db8:0:1::1')).status).toBe(200);
  });
});

describe('a server that closes', () => {
  it('ends its streams properly and at once, and does not wait for those that nobody reads', async () => {
    const app = await testApp();
    const one = await node(app);
    const id = encodeId('order', (await app.pay()).id);
    const streams = await Promise.all(Array.from({ length: 20 }, () => one.open(id)));
    const { port } = one.server.server.address() as AddressInfo;
    const silent = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    silent.pause();
    silent.on('error', () => {});
    onTestFinished(() => void silent.destroy());
    silent.write(`GET /pay/${id}/events HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await until(() => expect(one.events.openStreams()).toBe(21));
    const startedMs = performance.now();
    await one.server.close();
    expect(performance.now() - startedMs).toBeLessThan(PROMPT_MS);
    expect(await Promise.all(streams.map((stream) => stream.ended))).toEqual(streams.map(() => true));
    expect([one.events.openStreams(), one.watch.watchers()]).toEqual([0, 0]);
  });

  it('leaves the streams of the other address open', async () => {
    const app = await testApp();
    const one = await node(app);
    const other = tryServer({ plugins: [one.events.routes] }, ROOMY);
    await other.listen({ host: '127.0.0.1', port: 0 });
    const payment = await app.pay();
    const path = `/pay/${encodeId('order', payment.id)}/events`;
    const [ours, theirs] = await Promise.all([openStream(one.server, path), openStream(other, path)]);
    await other.close();
    expect(await theirs.ended).toBe(true);
    await untilHealthy(one);
    await cancelPayment(app, { id: payment.id });
    expect(await ours.told(2)).toHaveLength(2);
  });

  it('refuses a stream that was being opened', async () => {
    const app = await testApp();
    const reader = createPaymentReader(app);
    const started = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const slow: PaymentReader = {
      read: async (selector) => {
        started.resolve();
        await goOn.promise;
        return reader.read(selector);
      },
    };
    const one = await node(app, { reader: slow });
    // A client that keeps its connection, as browsers do, would otherwise keep the server.
    const { port } = one.server.server.address() as AddressInfo;
    const client = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    onTestFinished(() => void client.destroy());
    client.write(`GET /pay/${encodeId('order', (await app.pay()).id)}/events HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await started.promise;
    const closed = one.server.close();
    setImmediate(goOn.resolve);
    const answer = (await client.setEncoding('utf8').toArray()).join('');
    expect(answer).toMatch(/^HTTP\/1\.1 503 /);
    await closed;
  });
});
