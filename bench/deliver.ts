import { Client } from 'pg';
import { Agent, request } from 'undici';
import { median, percentile } from './load.ts';
import { addWebhook, makeMerchant, ORDER } from './merchant.ts';
import type { Figure } from './report.ts';
import { startBenchService, startScript, type BenchService } from './service.ts';

const DELIVERIES = 20_000;
const SENDERS = 64;
const ROUNDS = 3;
const IDLE_EVENTS = 100;

/** Deliveries per second against plain undici POSTs of the same bytes, in turn; and commit to delivery while idle. */
export async function deliver(): Promise<readonly Figure[]> {
  const service = await startBenchService();
  try {
    const { projectId, headers } = await makeMerchant(service);
    const body = await sampleBody(service, headers);
    const ours: number[] = [];
    const plain: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      ours.push(await deliveriesPerSecond(service, projectId, body));
      plain.push(await postsPerSecond(body));
    }
    const ratio = median(ours) / median(plain);
    const latencies = await idleLatencies(service, projectId, headers);
    const p50 = percentile(latencies, 0.5);
    return [
      {
        name: 'webhook deliveries against plain undici POSTs',
        measured: `${ratio.toFixed(2)} (${Math.round(median(ours))} of ${Math.round(median(plain))}/s)`,
        target: '0.4',
        holds: ratio >= 0.4,
      },
      {
        name: 'event committed to delivered, idle',
        measured: `p50 ${p50} ms, p99 ${percentile(latencies, 0.99)} ms`,
        target: 'p50 ≤ 25 ms',
        holds: p50 <= 25,
      },
    ];
  } finally {
    await service.stop();
  }
}

/** The bytes of a real event. */
export async function sampleBody(service: BenchService, headers: Record<string, string>): Promise<string> {
  await fetch(`${service.test}/v1/orders`, { method: 'POST', headers, body: ORDER });
  const client = new Client(service.database);
  await client.connect();
  const { rows } = await client.query<{ body: string }>('select body from events limit 1');
  await client.end();
  return rows[0]?.body ?? '';
}

/** Makes a backlog due at once and measures the time until the receiver has all of it. */
export async function deliveriesPerSecond(service: BenchService, projectId: string, body: string): Promise<number> {
  const receiver = await startScript('receiver.ts', { WANTED: String(DELIVERIES) });
  const endpoint = await addWebhook(service, projectId, String(receiver.hello['url']));
  const client = new Client(service.database);
  await client.connect();
  try {
    // Dead rows of earlier rounds would be vacuumed in the middle of this round, or of the other side's.
    await client.query('vacuum analyze events, deliveries, delivery_attempts');
    await client.query('begin');
    await client.query(
      `with made as (
         insert into events (id, project_id, mode, type, body, created_at)
         select gen_random_uuid(), $1, 'test', 'order.created', $2, now() from generate_series(1, $3)
         returning id
       )
       insert into deliveries (event_id, endpoint_id, state, next_attempt_at, created_at)
       select made.id, w.id, 'waiting', now(), now() from made, webhook_endpoints w where w.url = $4`,
      [projectId, body, DELIVERIES, receiver.hello['url']],
    );
    await client.query("select pg_notify('cointill', 'deliveries')");
    const startedAt = performance.now();
    await client.query('commit');
    await receiver.next();
    return DELIVERIES / ((performance.now() - startedAt) / 1000);
  } finally {
    await client.end();
    await receiver.stop();
    await service.cli('webhook', 'delete', endpoint);
  }
}

async function postsPerSecond(body: string): Promise<number> {
  const receiver = await startScript('receiver.ts', { WANTED: String(DELIVERIES) });
  const agent = new Agent();
  const startedAt = performance.now();
  let sent = 0;
  const send = async (): Promise<void> => {
    while (sent < DELIVERIES) {
      sent += 1;
      const answer = await request(String(receiver.hello['url']), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        dispatcher: agent,
      });
      await answer.body.text();
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
  const rate = DELIVERIES / ((performance.now() - startedAt) / 1000);
  await agent.close();
  await receiver.stop();
  return rate;
}

/**
 * Milliseconds from an order's creation to its event's arrival, one order at a time on an otherwise idle service.
 */
async function idleLatencies(
  service: BenchService,
  projectId: string,
  headers: Record<string, string>,
): Promise<readonly number[]> {
  const receiver = await startScript('receiver.ts', { WANTED: String(IDLE_EVENTS), LATENCY: '1' });
  await addWebhook(service, projectId, String(receiver.hello['url']));
  for (let index = 0; index < IDLE_EVENTS; index += 1) {
    await fetch(`${service.test}/v1/orders`, { method: 'POST', headers, body: ORDER }).then((answer) => answer.text());
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const { latencies } = await receiver.next();
  await receiver.stop();
  return (latencies as readonly number[]).slice(10);
}
