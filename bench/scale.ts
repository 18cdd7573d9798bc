import { readdir, readFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import { copyOrders } from './fill-project.ts';
import { inTurn, load, median, percentile, type Load } from './load.ts';
import { withOneOrder } from './many-payments.ts';
import { addWebhook, makeMerchant, ORDER } from './merchant.ts';
import type { Figure } from './report.ts';
import { startBenchService, startScript, type BenchService } from './service.ts';

const LIVES = 2_000;

const ROUNDS = 5;
const SECONDS = 3;
const FEW = 10_000;
const MANY = Number(process.env['PAYMENTS'] ?? 5_000_000);
const LISTS = 300;
/** Clock ticks of `/proc` in a second. */
const TICKS = 100;

/** Bytes, commits, log and processor time of payments that complete and whose webhooks are delivered. */
export async function life(): Promise<readonly Figure[]> {
  const service = await startBenchService({ env: { SANDBOX_COMPLETE_AFTER_SECONDS: '1' } });
  const receiver = await startScript('receiver.ts');
  const client = new Client(service.database);
  try {
    await client.connect();
    const { projectId, headers } = await makeMerchant(service);
    await addWebhook(service, projectId, String(receiver.hello['url']));
    const before = await stateOf(service, client);
    await load({ url: `${service.test}/v1/orders`, method: 'POST', headers, body: ORDER, seconds: 0, amount: LIVES });
    for (;;) {
      const { rows } = await client.query<{ left: number }>(
        `select ((select count(*) from payments where status <> 'completed')
          + (select count(*) from deliveries where state <> 'delivered'))::int as left`,
      );
      if (rows[0]?.left === 0) break;
      await setTimeout(500);
    }
    const after = await stateOf(service, client);
    const each = (field: keyof typeof after): number => (after[field] - before[field]) / LIVES;
    const figure = {
      name: `a payment's life of ${LIVES}: created, completed, webhooks delivered`,
      measured: `${Math.round(each('bytes'))} bytes of tables and indexes, ${Math.round(each('log'))} of log, ${each('commits').toFixed(2)} commits, ${each('serviceMs').toFixed(2)} ms of CPU in the service and ${each('databaseMs').toFixed(2)} in PostgreSQL`,
      target: 'for docs/scale.md',
      holds: true,
    };
    return [figure];
  } finally {
    await client.end();
    await receiver.stop();
    await service.stop();
  }
}

async function stateOf(service: BenchService, client: Client) {
  const { rows } = await client.query<{ bytes: string; log: string; commits: string }>(`
    select (select sum(pg_total_relation_size(c.oid)) from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r') as bytes,
      pg_current_wal_insert_lsn() - '0/0'::pg_lsn as log,
      (select xact_commit from pg_stat_database where datname = current_database()) as commits`);
  return {
    bytes: Number(rows[0]?.bytes),
    log: Number(rows[0]?.log),
    commits: Number(rows[0]?.commits),
    serviceMs: await cpuMs(service.pid),
    databaseMs: await databaseMs(service),
  };
}

/** CPU a creation, of all API processes and PostgreSQL: four and two processes that share the load, against one. */
export async function fourProcesses(): Promise<readonly Figure[]> {
  const first = await startBenchService({ env: { ROLE: 'api' } });
  const others: BenchService[] = [];
  try {
    for (let more = 0; more < 3; more += 1)
      others.push(await startBenchService({ beside: first, env: { ROLE: 'api', DATA_DIR: first.dataDir } }));
    const all = [first, ...others];
    const { headers } = await makeMerchant(first);
    const total = async (): Promise<number> => {
      const parts = await Promise.all([databaseMs(first), ...all.map(({ pid }) => cpuMs(pid))]);
      return parts.reduce((sum, one) => sum + one, 0);
    };
    const perCreation = (services: readonly BenchService[]) => async (): Promise<number> => {
      const before = await total();
      const loads = await Promise.all(
        services.map(({ test }) =>
          load({
            url: `${test}/v1/orders`,
            method: 'POST',
            headers,
            body: ORDER,
            seconds: SECONDS,
            connections: 64 / services.length,
          }),
        ),
      );
      return ((await total()) - before) / loads.reduce((sum, one) => sum + one.requestsPerSecond * SECONDS, 0);
    };
    // Each process compiles for itself, from a fourth of the requests.
    for (let round = 0; round < 8; round += 1) await perCreation(all)();
    const against = async (services: readonly BenchService[], count: string): Promise<Figure> => {
      const { a: several, b: one } = await inTurn(ROUNDS, perCreation(services), perCreation([first]));
      const ratio = median(several.map((each, at) => each / (one[at] ?? NaN)));
      return {
        name: `CPU a creation with ${count} API processes against one, 64 connections in all, on ${os.cpus().length} processors`,
        measured: `${ratio.toFixed(2)} (${median(several).toFixed(2)} of ${median(one).toFixed(2)} ms, PostgreSQL’s included)`,
        target: '≤ 1.15',
        holds: ratio <= 1.15,
      };
    };
    return [await against(all, 'four'), await against(all.slice(0, 2), 'two')];
  } finally {
    for (const one of others) await one.stop();
    await first.stop();
  }
}

/** Creations and lists beside many payments against few, each against a no-op route, as a machine's speed drifts. */
export async function manyKept(): Promise<readonly Figure[]> {
  const noop = await startScript('noop-server.ts');
  const yardstick = String(noop.hello['url']);
  try {
    return await withOneOrder(
      { SANDBOX_COMPLETE_AFTER_SECONDS: '86400' },
      async ({ service, client, projectId, headers }) => {
        // Orders alone are copied, because transactions have numbers.
        const fill = async (count: number): Promise<void> => {
          const createdAt = "now() - n * interval '31 seconds'";
          for (const status of ['completed', 'expired'])
            await copyOrders(client, { projectId, count: count / 2, api: 'order', status, createdAt, dueAt: 'null' });
          await client.query('vacuum analyze payments');
        };
        const measure = async () => {
          const rate = async (ours: () => Promise<Load>, theirs: () => Promise<Load>): Promise<number> => {
            const { a, b } = await inTurn(ROUNDS, ours, theirs);
            return median(a.map((one, at) => one.requestsPerSecond / (b[at]?.requestsPerSecond ?? NaN)));
          };
          const get = (url: string) => () => load({ url, headers, seconds: SECONDS });
          const post = (base: string) => () =>
            load({ url: `${base}/v1/orders`, method: 'POST', headers, body: ORDER, seconds: SECONDS });
          const creations = await rate(post(service.test), post(yardstick));
          const figuresMs = await untilFiguresAreCurrent(client);
          const lists = await rate(get(`${service.test}/v1/orders`), get(`${yardstick}/v1/orders/any`));
          const latencies: number[] = [];
          for (let read = 0; read < LISTS; read += 1) {
            const sentAt = performance.now();
            const offset = Math.floor(Math.random() * 10_001);
            await (await fetch(`${service.test}/v1/orders?limit=50&offset=${offset}`, { headers })).text();
            latencies.push(performance.now() - sentAt);
          }
          return { creations, lists, figuresMs, p99: percentile(latencies, 0.99) };
        };
        await fill(FEW);
        const few = await measure();
        console.error(`Making ${MANY} payments …`);
        await fill(MANY);
        const many = await measure();
        const { rows } = await client.query<{ size: string }>(
          'select pg_size_pretty(pg_database_size(current_database())) as size',
        );
        const figure = (name: string, ratio: number): Figure => ({
          name: `${name} beside ${MANY} payments (${rows[0]?.size}) against beside ${FEW}`,
          measured: ratio.toFixed(2),
          target: '0.9',
          holds: ratio >= 0.9,
        });
        return [
          figure('creations', many.creations / few.creations),
          figure('first pages of the list', many.lists / few.lists),
          {
            name: `list, offset 0 to 10,000, of ${MANY} payments`,
            measured: `p99 ${many.p99.toFixed(1)} ms (of ${FEW}: ${few.p99.toFixed(1)} ms)`,
            target: 'p99 ≤ 30 ms',
            holds: many.p99 <= 30,
          },
          {
            name: `figures take in the last of the creations beside ${MANY} payments`,
            measured: `${Math.round(many.figuresMs / 1000)} s (beside ${FEW}: ${Math.round(few.figuresMs / 1000)} s)`,
            target: '≤ 60 s',
            holds: many.figuresMs <= 60_000,
          },
        ];
      },
    );
  } finally {
    await noop.stop();
  }
}

/** How long it takes from now on until the figures include every change that is saved now. */
async function untilFiguresAreCurrent(client: Client): Promise<number> {
  const startedAt = performance.now();
  const { rows } = await client.query<{ newest: string }>('select coalesce(max(id), 0) as newest from payment_arrows');
  for (;;) {
    const { rowCount } = await client.query('select from figures_progress where taken_in >= $1', [rows[0]?.newest]);
    if (rowCount === 1) return performance.now() - startedAt;
    await setTimeout(100);
  }
}

/** User and system time of a process and of its children that have ended, in ms. */
async function cpuMs(pid: number | string): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = text.split(') ')[1]?.split(' ') ?? [];
  return (fields.slice(11, 15).reduce((sum, one) => sum + Number(one), 0) / TICKS) * 1_000;
}

/** The same for a service's PostgreSQL with all its processes. */
async function databaseMs({ dataDir }: BenchService): Promise<number> {
  const postmaster = (await readFile(path.join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0] ?? '';
  let sum = await cpuMs(postmaster);
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    if (stat.split(') ')[1]?.split(' ')[1] === postmaster) sum += await cpuMs(pid);
  }
  return sum;
}
