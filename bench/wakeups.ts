import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { Client } from 'pg';
import { uuidV7 } from '../src/domain/id.ts';
import type { Payment } from '../src/domain/payment.ts';
import { openDatabase, type DatabaseHandle, type Trx } from '../src/store/database.ts';
import { findPayments } from '../src/store/payments/payments.ts';
import { saveChanges, saveStatement, type PaymentChange } from '../src/store/payments/save-changes.ts';
import { median } from './load.ts';
import { addWebhook, makeMerchant, ORDER } from './merchant.ts';
import type { Figure } from './report.ts';
import { startBenchService } from './service.ts';

const CONNECTIONS = 8;
const ROUND_MS = 4_000;
const ROUNDS = 5;
const LOOKS = 1_000;

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
  const service = await startBenchService();
  const handle = openDatabase(service.database, { maxConnections: CONNECTIONS, onError: () => {} });
  const watcher = new Client(service.database);
  try {
    const { projectId, headers } = await makeMerchant(service);
    await addWebhook(service, projectId, 'http://127.0.0.1:9/');
    await watcher.connect();
    // Its deliveries wait: sending them is no part of this.
    await watcher.query('update webhook_endpoints set paused_at = now()');
    const ids: string[] = [];
    for (let at = 0; at < CONNECTIONS; at += 1) {
      await fetch(`${service.test}/v1/orders`, { method: 'POST', headers, body: ORDER });
    }
    for (const { id } of await handle.db.selectFrom('payments').select('id').execute()) ids.push(id);
    const payments = await findPayments(handle.db, ids);
    const rates: Record<keyof typeof WAYS, number[]> = { woken: [], silent: [], notified: [] };
    let waits = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const way of ['woken', 'silent', 'notified'] as const) {
        await handle.db.executeQuery(sql`vacuum analyze payments, events, deliveries`.compile(handle.db));
        const looking = way === 'woken' ? looksFor(watcher, LOOKS / ROUNDS) : Promise.resolve(0);
        rates[way].push(await commitsPerSecond(handle, payments, WAYS[way]));
        waits += await looking;
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
        measured: String(waits),
        target: '0',
        holds: waits === 0,
      },
    ];
  } finally {
    await watcher.end();
    await handle.close();
    await service.stop();
  }
}

/** Each connection changes a payment of its own, again and again, with one event and so one delivery each time. */
async function commitsPerSecond(handle: DatabaseHandle, payments: readonly Payment[], save: Save): Promise<number> {
  const until = performance.now() + ROUND_MS;
  let commits = 0;
  const lane = async (payment: Payment): Promise<void> => {
    while (performance.now() < until) {
      const { projectId, mode, id: paymentId } = payment;
      const now = Date.now();
      const event = {
        id: uuidV7(now, crypto.getRandomValues(new Uint8Array(10))),
        projectId,
        mode,
        paymentId,
        type: 'order.confirming' as const,
        body: `{"id":"${randomUUID()}"}`,
        createdAt: now,
        requestId: null,
      };
      const change = { before: payment, after: payment, dueAt: null, transitions: [], events: [event] };
      await handle.db.transaction().execute((trx) => save(trx, change));
      commits += 1;
    }
  };
  const startedAt = performance.now();
  await Promise.all(payments.map(lane));
  return (commits * 1_000) / (performance.now() - startedAt);
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
