import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { Client } from 'pg';
import { uuidV7 } from '../src/domain/id.ts';
import type { Payment } from '../src/domain/payment.ts';
import { openDatabase, type DatabaseHandle, type Trx } from '../src/store/database.ts';
import { findPayments } from '../src/store/payments/payments.ts';
import { saveChanges, saveStatement, type PaymentChange } from '../src/store/payments/save-changes.ts';
import { median, percentile } from './load.ts';
import { addWebhook, makeMerchant, ORDER } from './merchant.ts';
import type { Figure } from './report.ts';
import { startBenchService, startScript } from './service.ts';

const CONNECTIONS = 8;
const ROUND_MS = 4_000;
const ROUNDS = 5;
const LOOKS = 1_000;
const LOST = 100;
const LOST_PAGES = 20;

type Save = (trx: Trx, change: PaymentChange) => Promise<unknown>;

/** The same save with and without wake-ups, and as it would be with a notification in each commit. */
const WAYS = {
  woken: (trx, change) => saveChanges(trx, [change], 0),
  silent: (trx, change) => trx.executeQuery(saveStatement([change], 0)),
  notified: async (trx, change) => {
    await trx.executeQuery(saveStatement([change], 0));
    await sql`select pg_notify('cointill', 'deliveries')`.execute(trx);
  },
} as const satisfies Readonly<Record<string, Save>>;

/**
 * Commits a second of connections that save payments whose project has an endpoint: with wake-ups after the commit
 * against none at all. Meanwhile another connection looks for commits that wait for the lock of notifications.
 */
export async function wakeups(): Promise<readonly Figure[]> {
  return [...(await commitsWithWakeups()), ...(await lostWakeups())];
}

async function commitsWithWakeups(): Promise<readonly Figure[]> {
  // Without a worker: sending what is due costs the same, whenever it is told of it.
  const service = await startBenchService({ env: { ROLE: 'api' } });
  const handle = openDatabase(service.database, { maxConnections: CONNECTIONS, onError: () => {} });
  const watcher = new Client(service.database);
  try {
    const { projectId, headers } = await makeMerchant(service);
    await addWebhook(service, projectId, 'http://127.0.0.1:9/');
    await watcher.connect();
    const ids: string[] = [];
    for (let at = 0; at < CONNECTIONS; at += 1) {
      await fetch(`${service.test}/v1/orders`, { method: 'POST', headers, body: ORDER });
    }
    for (const { id } of await handle.db.selectFrom('payments').select('id').execute()) ids.push(id);
    const payments = await findPayments(handle.db, ids);
    const rates: Record<keyof typeof WAYS, number[]> = { woken: [], silent: [], notified: [] };
    const waits: Record<keyof typeof WAYS, number> = { woken: 0, silent: 0, notified: 0 };
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const way of ['woken', 'silent', 'notified'] as const) {
        await handle.db.executeQuery(sql`vacuum analyze payments, events, deliveries`.compile(handle.db));
        // In all of them, because the looks take their part of the processor.
        const looking = looksFor(watcher, LOOKS / ROUNDS);
        rates[way].push(await commitsPerSecond(handle, payments, WAYS[way]));
        waits[way] += await looking;
      }
    }
    const [woken, silent, notified] = [median(rates.woken), median(rates.silent), median(rates.notified)];
    return [
      {
        name: `${CONNECTIONS} connections that save payments: commits with wake-ups against without`,
        measured: `${(woken / silent).toFixed(2)} (${Math.round(woken)} of ${Math.round(silent)}/s; with NOTIFY in each commit ${(notified / silent).toFixed(2)})`,
        target: '0.95',
        holds: woken / silent >= 0.95,
      },
      {
        name: `the same: waits for the lock of notifications, in ${LOOKS} looks`,
        measured: `${waits.woken} (with NOTIFY in each commit ${waits.notified})`,
        target: '0',
        holds: waits.woken === 0,
      },
    ];
  } finally {
    await watcher.end();
    await handle.close();
    await service.stop();
  }
}

/**
 * The time from a commit whose process was killed before it told anybody, to the delivery and to the open page: the
 * same statement, and no wake-up.
 */
async function lostWakeups(): Promise<readonly Figure[]> {
  const service = await startBenchService();
  const handle = openDatabase(service.database, { maxConnections: 2, onError: () => {} });
  const receiver = await startScript('receiver.ts', { WANTED: String(LOST), LATENCY: '1' });
  try {
    const { projectId, headers } = await makeMerchant(service);
    const created: { readonly id: string }[] = [];
    for (let at = 0; at < LOST_PAGES; at += 1) {
      const answer = await fetch(`${service.test}/v1/orders`, { method: 'POST', headers, body: ORDER });
      created.push((await answer.json()) as { readonly id: string });
    }
    const ids = (await handle.db.selectFrom('payments').select('id').orderBy('id').execute()).map(({ id }) => id);
    const payments = await findPayments(handle.db, ids);
    await addWebhook(service, projectId, String(receiver.hello['url']));
    const pages = await Promise.all(created.map(({ id }) => openStream(`${service.test}/pay/${id}/events`)));
    const changedAt = performance.now();
    for (const before of payments) {
      const after = { ...before, status: 'processing' as const };
      await handle.db
        .transaction()
        .execute((trx) => WAYS.silent(trx, { before, after, dueAt: null, transitions: [], events: [] }));
    }
    const shownAt = await Promise.all(pages.map(({ changed }) => changed));
    const [first] = payments;
    if (first === undefined) throw new Error('There is no payment.');
    for (let event = 0; event < LOST; event += 1) {
      await new Promise((resolve) => setTimeout(resolve, 100 + Math.random() * 100));
      await handle.db.transaction().execute((trx) => WAYS.silent(trx, changeWithEvent(first)));
    }
    const { latencies } = (await receiver.next()) as { readonly latencies: readonly number[] };
    return [
      lostFigure('delivery', latencies, 600),
      lostFigure(
        'page',
        shownAt.map((at) => at - changedAt),
        16_000,
      ),
    ];
  } finally {
    await receiver.stop();
    await handle.close();
    await service.stop();
  }
}

function lostFigure(what: string, delays: readonly number[], mostMs: number): Figure {
  const most = Math.max(...delays);
  return {
    name: `a lost wake-up: commit to ${what}, of ${delays.length}`,
    measured: `p50 ${Math.round(percentile(delays, 0.5))} ms, at most ${Math.round(most)} ms`,
    target: `${mostMs} ms`,
    holds: most <= mostMs,
  };
}

/** A page's stream of events; `changed` resolves with the time of its first change. */
async function openStream(url: string): Promise<{ readonly changed: Promise<number> }> {
  const answer = await fetch(url);
  if (!answer.ok || answer.body === null) throw new Error(`${url} answered ${answer.status}.`);
  const read = async (body: ReadableStream<Uint8Array>): Promise<number> => {
    let text = '';
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      // The first one says what the page shows at the beginning.
      if (text.split('event: changed').length > 2) return performance.now();
    }
    throw new Error('The stream ended.');
  };
  return { changed: read(answer.body) };
}

/** Each connection changes a payment of its own, again and again, with one event and so one delivery each time. */
async function commitsPerSecond(handle: DatabaseHandle, payments: readonly Payment[], save: Save): Promise<number> {
  const until = performance.now() + ROUND_MS;
  let commits = 0;
  const lane = async (payment: Payment): Promise<void> => {
    while (performance.now() < until) {
      await handle.db.transaction().execute((trx) => save(trx, changeWithEvent(payment)));
      commits += 1;
    }
  };
  const startedAt = performance.now();
  await Promise.all(payments.map(lane));
  return (commits * 1_000) / (performance.now() - startedAt);
}

function changeWithEvent(payment: Payment): PaymentChange {
  const { projectId, mode, id: paymentId } = payment;
  const createdAt = Date.now();
  const body = JSON.stringify({ id: randomUUID(), created_at: new Date(createdAt).toISOString() });
  const id = uuidV7(createdAt, crypto.getRandomValues(new Uint8Array(10)));
  const type = 'order.confirming' as const;
  const event = { id, projectId, mode, paymentId, type, body, createdAt, requestId: null };
  return { before: payment, after: payment, dueAt: null, transitions: [], events: [event] };
}

/** How many of these looks saw a session that waits for the lock that NOTIFY takes until its commit is flushed. */
async function looksFor(watcher: Client, looks: number): Promise<number> {
  let waits = 0;
  for (let look = 0; look < looks; look += 1) {
    const { rows } = await watcher.query<{ waits: boolean }>(
      `select exists (select from pg_locks where not granted and locktype = 'object' and classid = 'pg_database'::regclass
         and objid = 0) as waits`,
    );
    if (rows[0]?.waits === true) waits += 1;
    await new Promise((resolve) => setTimeout(resolve, ROUND_MS / looks / 2));
  }
  return waits;
}
