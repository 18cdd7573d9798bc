import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { textAt } from '../../src/cli/program.fixture.ts';
import { receive } from '../../src/webhooks/local-receivers.fixture.ts';
import { createClock, createService, type Clock, type Service } from '../e2e/live-utxo-service.fixture.ts';
import { freePort } from '../ports.ts';
import { client, eventOf, eventually } from '../program.ts';

/** An order that a client was told of. */
interface Acknowledged {
  readonly id: string;
  readonly key: string;
  /** When the answer came, by the clock that only goes forward. */
  readonly at: number;
}

/** The real program in two processes on a cluster, its merchant's clients, and the receiver of its webhooks. */
export interface Shop {
  readonly api: Service;
  readonly worker: Service;
  readonly workerClock: Clock;
  readonly projectId: string;
  readonly acknowledged: readonly Acknowledged[];
  /** How often each status was answered; 0: no answer. */
  readonly answers: ReadonlyMap<number, number>;
  /** The longest time without a new order since `from`. */
  longestGapMs(from: number): number;
  /** Resolves once both processes are ready, which needs notifications that are proven. */
  untilReady(withinMs: number): Promise<void>;
  /** Reads a metric of the whole database from the API; null: it has none of that name. */
  metric(name: string): Promise<number | null>;
  /** Stops new orders; those under way end. */
  stopClients(): Promise<void>;
  /** A file of all orders by the command line, as it was written. */
  exportPayments(): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>;
  /** How many acknowledged orders the shop does not show any more. */
  lost(): Promise<number>;
  /** Makes so many more orders; returns how many failed, or are not shown afterwards. */
  orderMore(count: number): Promise<number>;
  /** Finds what is wrong with the orders that the shop shows now, in plain words. */
  audit(): Promise<readonly string[]>;
  close(): Promise<void>;
}

const CHECKOUT = path.join(import.meta.dirname, '../..');
const LANES = 4;
const DAY_MS = 86_400_000;
const PAUSE_MS = 40;
const AGAIN_MS = 100;
/** Beyond the thirty seconds that a statement may wait for an answer. */
const ANSWER_WITHIN_MS = 40_000;
const DELIVERED_WITHIN_MS = 180_000;

/** Settings of the service on a cluster, with ports of its own. */
export async function settingsFor(
  databaseUrl: string,
  folder: string,
): Promise<Readonly<Record<string, string>> & { readonly SANDBOX_PORT: string; readonly MONITOR_PORT: string }> {
  return {
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder,
    SECRET_KEY: 'of the test of high availability alone',
    PORT: String(await freePort()),
    SANDBOX_PORT: String(await freePort()),
    MONITOR_PORT: String(await freePort()),
    RATE_LIMIT_TEST: '1000000000',
    SANDBOX_COMPLETE_AFTER_SECONDS: '1',
    RATE_SOURCES: 'none',
    LOG_LEVEL: 'warn',
  };
}

/** Starts the program, and clients that order until they are stopped; each repeats its request until it is answered. */
export async function openShop(databaseUrl: string, standbyUrl: string, name: string): Promise<Shop> {
  const folder = await mkdtemp(path.join(tmpdir(), 'cointill-ha-'));
  const completed = new Map<string, number>();
  const receiver = await receive((response, request) => {
    const { type, data } = eventOf(request);
    if (type === 'order.completed') completed.set(data.id, (completed.get(data.id) ?? 0) + 1);
    response.end();
  });
  const workerClock = await createClock(folder);
  const settings = { ...(await settingsFor(databaseUrl, folder)), DATABASE_READ_URL: standbyUrl };
  const ofWorker = { ...settings, ...(await settingsFor(databaseUrl, folder)) };
  const api = createService({ ...settings, ROLE: 'api' });
  const worker = createService({ ...ofWorker, ROLE: 'worker', NODE_OPTIONS: workerClock.nodeOptions });
  await api.start();
  await worker.start();
  const projectId = textAt(await api.command('project create --name Shop'), 'id');
  const made = await api.command(
    `key create --project ${projectId} --mode test --kind secret --permission full --name Server`,
  );
  const events = 'order.created,order.completed';
  const hook = `http://127.0.0.1:${receiver.port}/`;
  await api.command(`webhook create --project ${projectId} --mode test --events ${events} --url ${hook}`);
  const call = client(`http://127.0.0.1:${settings.SANDBOX_PORT}`, textAt(made, 'key'), ANSWER_WITHIN_MS);
  const monitors = [settings, ofWorker].map((of) => `http://127.0.0.1:${of.MONITOR_PORT}`);

  const acknowledged: Acknowledged[] = [];
  const answers = new Map<number, number>();
  let isOpen = true;
  const orderOnce = async (key: string): Promise<boolean> => {
    const order = { amount: 25, currency: 'USD', crypto_currency: 'BTC', order_id: key };
    const answer = await call('/v1/orders', order, { 'idempotency-key': key }).catch(() => null);
    const status = answer?.status ?? 0;
    answers.set(status, (answers.get(status) ?? 0) + 1);
    if (answer === null || status !== 200) return false;
    acknowledged.push({ id: textAt(answer.body, 'id'), key, at: performance.now() });
    return true;
  };
  const lanes = Array.from({ length: LANES }, async (_, lane) => {
    for (let count = 0; isOpen; count += 1) {
      while (isOpen && !(await orderOnce(`${name}-${lane}-${count}`))) await setTimeout(AGAIN_MS);
      await setTimeout(PAUSE_MS);
    }
  });

  const readAll = async (): Promise<ReadonlyMap<string, Readonly<Record<string, unknown>>>> => {
    const all = new Map<string, Readonly<Record<string, unknown>>>();
    for (let offset = 0; ; offset += 100) {
      const { data } = (await call(`/v1/orders?limit=100&offset=${offset}`)).body;
      if (!Array.isArray(data)) throw new Error('The API lists no orders.');
      for (const one of data) all.set(textAt(one, 'id'), Object(one));
      if (data.length < 100) return all;
    }
  };
  const lostOf = async (of: readonly Acknowledged[]): Promise<readonly Acknowledged[]> => {
    const orders = await readAll();
    return of.filter(({ id }) => !orders.has(id));
  };
  return {
    api,
    worker,
    workerClock,
    projectId,
    acknowledged,
    answers,
    longestGapMs: (from) => {
      const times = [from, ...acknowledged.map(({ at }) => at).filter((at) => at > from), performance.now()];
      return Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? at)));
    },
    untilReady: async (withinMs) => {
      for (const monitor of monitors) {
        const look = async () => ((await fetch(`${monitor}/readyz`)).status === 200 ? true : null);
        await eventually(`${monitor} is ready`, look, withinMs);
      }
    },
    metric: async (metric) => {
      const scrape = await (await fetch(`${monitors[0]}/metrics`)).text();
      const found = new RegExp(`^${metric} (\\S+)$`, 'm').exec(scrape)?.[1];
      return found === undefined ? null : Number(found);
    },
    stopClients: async () => {
      isOpen = false;
      await Promise.all(lanes);
    },
    exportPayments: async () => {
      const day = (byMs: number): string => new Date(Date.now() + byMs).toISOString().slice(0, 10);
      const days = ['--mode', 'test', '--from', day(-DAY_MS), '--to', day(DAY_MS), '--report', 'payments'];
      const { PATH = '', HOME = '' } = process.env;
      const [file, words] = [
        path.join(CHECKOUT, 'bin/cointill'),
        ['report', 'export', '--project', projectId, ...days],
      ];
      const run = spawn(file, words, { env: { PATH, HOME, ...settings }, stdio: ['ignore', 'pipe', 'pipe'] });
      const closed = once(run, 'close');
      const [stdout, stderr] = await Promise.all([text(run.stdout), text(run.stderr)]);
      await closed;
      return { code: run.exitCode ?? 1, stdout, stderr };
    },
    lost: async () => (await lostOf(acknowledged)).length,
    orderMore: async (count) => {
      const before = acknowledged.length;
      for (let one = 0; one < count; one += 1) await orderOnce(`${name}-more-${one}`);
      const more = acknowledged.slice(before);
      return count - more.length + (await lostOf(more)).length;
    },
    audit: async () => {
      const faults: string[] = [];
      // Clients go on ordering meanwhile.
      const told = [...acknowledged];
      const missing = () => told.filter(({ id }) => !completed.has(id)).length;
      await eventually('every order was completed', () => (missing() === 0 ? true : null), DELIVERED_WITHIN_MS).catch(
        () => faults.push(`${missing()} acknowledged orders have no event of their completion`),
      );
      const orders = await readAll();
      const lost = told.filter(({ id }) => !orders.has(id));
      if (lost.length > 0) faults.push(`${lost.length} acknowledged orders are lost, such as ${lost[0]?.id}`);
      const byKey = Map.groupBy(orders.values(), (order) => String(order['order_id']));
      const twice = [...byKey].filter(([, ofKey]) => ofKey.length > 1);
      if (twice.length > 0) faults.push(`${twice.length} orders are there twice, such as ${twice[0]?.[0]}`);
      const open = told.map(({ id }) => orders.get(id)?.['status']).filter((status) => status !== 'completed');
      if (open.length > 0) faults.push(`${open.length} orders are not completed, but ${String(open[0])}`);
      for (const [status, count] of answers) {
        if (status !== 200 && status !== 503) faults.push(`${count} requests were answered ${status}`);
      }
      return faults;
    },
    close: async () => {
      isOpen = false;
      await Promise.all([api.kill(), worker.kill()]);
      await receiver.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
