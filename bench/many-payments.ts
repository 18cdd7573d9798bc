import { Client } from 'pg';
import { copyOrders } from './fill-project.ts';
import { load, percentile } from './load.ts';
import { makeMerchant, ORDER } from './merchant.ts';
import type { Figure } from './report.ts';
import { startBenchService, type BenchService } from './service.ts';

const DUE = 100_000;
const MANY = 1_000_000;
const READS = 300;

/** The cost of a backlog and of a large project: expiry of 100,000 payments, lists and statistics over 1,000,000. */
export function manyPayments(): Promise<readonly Figure[]> {
  return withOneOrder({}, async ({ service, client, projectId, headers }) => [
    await expire(service, client, projectId, headers),
    ...(await readMany(service, client, projectId, headers)),
  ]);
}

/** A service with a merchant who has made one order, and a connection to its database. */
export async function withOneOrder(
  env: Readonly<Record<string, string>>,
  measure: (of: {
    readonly service: BenchService;
    readonly client: Client;
    readonly projectId: string;
    readonly headers: Record<string, string>;
  }) => Promise<readonly Figure[]>,
): Promise<readonly Figure[]> {
  const service = await startBenchService({ env });
  try {
    const { projectId, headers } = await makeMerchant(service);
    await fetch(`${service.test}/v1/orders`, { method: 'POST', headers, body: ORDER });
    const client = new Client(service.database);
    await client.connect();
    try {
      return await measure({ service, client, projectId, headers });
    } finally {
      await client.end();
    }
  } finally {
    await service.stop();
  }
}

async function expire(
  service: BenchService,
  client: Client,
  projectId: string,
  headers: Record<string, string>,
): Promise<Figure> {
  await client.query('begin');
  await copyOrders(client, {
    projectId,
    count: DUE,
    api: 'order',
    status: 'pending',
    createdAt: 'now()',
    dueAt: 'now()',
  });
  await client.query('commit');
  const startedAt = performance.now();
  let done = false;
  const watching = (async () => {
    for (;;) {
      const { rows } = await client.query<{ left: string }>(
        "select count(*) as left from payments where due_at < now() - interval '1 second' or status = 'pending' and expires_at < now() - interval '1 second'",
      );
      if (rows[0]?.left === '0') break;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    done = true;
    return (performance.now() - startedAt) / 1000;
  })();
  const latencies: number[] = [];
  while (!done) {
    const sentAt = performance.now();
    const answer = await fetch(`${service.test}/v1/orders`, { method: 'POST', headers, body: ORDER });
    await answer.text();
    latencies.push(performance.now() - sentAt);
  }
  const seconds = await watching;
  const { rows } = await client.query<{ events: string }>(
    "select count(*) as events from events where type = 'order.expired'",
  );
  const p99 = percentile(latencies, 0.99);
  const complete = Number(rows[0]?.events) >= DUE;
  return {
    name: `${DUE} payments expired with their events`,
    measured: `${seconds.toFixed(1)} s, ${complete ? 'all' : 'NOT ALL'} events, API p99 ${p99.toFixed(0)} ms over ${latencies.length} requests`,
    target: '20 s, API p99 ≤ 100 ms',
    holds: seconds <= 20 && p99 <= 100 && complete,
  };
}

async function readMany(
  service: BenchService,
  client: Client,
  projectId: string,
  headers: Record<string, string>,
): Promise<readonly Figure[]> {
  console.error(`Making ${MANY} payments …`);
  const spread = "now() - (n * interval '31 seconds')";
  await copyOrders(client, {
    projectId,
    count: MANY / 2,
    api: 'transaction',
    status: 'completed',
    createdAt: spread,
    dueAt: 'null',
  });
  await copyOrders(client, {
    projectId,
    count: MANY / 2,
    api: 'order',
    status: 'expired',
    createdAt: spread,
    dueAt: 'null',
  });
  await client.query('analyze payments');
  const since = new Date(Date.now() - 90 * 86_400_000).toISOString();
  const targets = {
    'list, offset 0 to 10,000': () => `${service.test}/v1/orders?limit=50&offset=${Math.floor(Math.random() * 10_001)}`,
    'list by status, offset 0 to 10,000': () =>
      `${service.test}/v1/orders?limit=50&status=expired&offset=${Math.floor(Math.random() * 10_001)}`,
    'transactions, offset 0 to 10,000': () =>
      `${service.test}/api/transactions/project/${projectId}?limit=50&offset=${Math.floor(Math.random() * 10_001)}`,
    statistics: () => `${service.test}/api/transactions/stats`,
    'statistics from a moment on': () => `${service.test}/api/transactions/stats?start_date=${since}`,
  };
  const figures: Figure[] = [];
  for (const [name, urlOf] of Object.entries(targets)) {
    await load({ url: urlOf(), headers, seconds: 1, connections: 1 });
    const latencies: number[] = [];
    for (let index = 0; index < READS; index += 1) {
      const sentAt = performance.now();
      const answer = await fetch(urlOf(), { headers });
      await answer.text();
      if (!answer.ok) throw new Error(`${name} answered ${answer.status}.`);
      latencies.push(performance.now() - sentAt);
    }
    const p99 = percentile(latencies, 0.99);
    figures.push({
      name: `${name}, ${MANY} payments`,
      measured: `p50 ${percentile(latencies, 0.5).toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
      target: 'p99 ≤ 30 ms',
      holds: p99 <= 30,
    });
  }
  return figures;
}
