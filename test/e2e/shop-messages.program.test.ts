import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { simulatePayment } from '../../src/app/payments/simulate-payment.ts';
import { shop, webhookApp } from '../../src/app/webhooks/webhooks.fixture.ts';
import { encodeId } from '../../src/domain/id.ts';
import { loadSealingKey } from '../../src/webhooks/sealing-keys.ts';
import { DEADLINE_MS } from '../deadline.ts';
import { isNight } from '../extent.ts';
import { testApp, type TestApp } from '../harness.ts';
import { testService } from '../program.ts';

const INVOICES = isNight ? 1_000 : 60;
const KILLS = isNight ? 20 : 4;
const MAX_ANSWER_MS = isNight ? 2_000 : 60;
const SECRET_KEY = 'the key with which this shop began';
const FAILING = 0.3;
/** The attempts of a message that may fail: so none is given up, and each must arrive. */
const MAX_FAILED = 2;
const PAYERS = 8;
const TIMEOUT_MS = (isNight ? 30 : 3) * DEADLINE_MS;
const POLL_MS = 25;
/** After so many polls without anything to send, all that is left waits for its time. */
const IDLE_POLLS = 40;

const TYPES = [
  'InvoiceCreated',
  'InvoiceReceivedPayment',
  'InvoiceProcessing',
  'InvoicePaymentSettled',
  'InvoiceSettled',
];

/** A shop that fails often and answers late, and notes what it acknowledged of each invoice. */
async function unreliableShop() {
  const failures = new Map<string, number>();
  const acknowledged = new Map<string, number[]>();
  const wrong: string[] = [];
  let open = 0;
  let arrived = 0;
  const receiver = await shop((response, { body }) => void answer(response, body));
  const answer = async (response: ServerResponse, body: string): Promise<void> => {
    const { type, invoiceId } = JSON.parse(body) as { readonly type: string; readonly invoiceId: string };
    const nth = TYPES.indexOf(type);
    const known = acknowledged.get(invoiceId) ?? [];
    acknowledged.set(invoiceId, known);
    const newest = Math.max(-1, ...known);
    if (nth < newest) wrong.push(`${invoiceId}: ${type} came after ${TYPES[newest]} was acknowledged`);
    if (nth > newest + 1) wrong.push(`${invoiceId}: ${type} came before ${TYPES[newest + 1]} was acknowledged`);
    open += 1;
    arrived += 1;
    await sleep(Math.random() * MAX_ANSWER_MS);
    open -= 1;
    const name = `${invoiceId} ${type}`;
    const failed = failures.get(name) ?? 0;
    if (failed < MAX_FAILED && Math.random() < FAILING) {
      failures.set(name, failed + 1);
      response.writeHead(500).end();
      return;
    }
    known.push(nth);
    response.end();
  };
  return { url: receiver.url, acknowledged, wrong, open: () => open, arrived: () => arrived };
}

/** Pays invoices, each seen, confirmed and settled at once. */
async function payAll(app: TestApp): Promise<readonly string[]> {
  const ids: string[] = [];
  const payer = async (): Promise<void> => {
    while (ids.length < INVOICES) {
      const at = ids.push('') - 1;
      app.clock.set(Date.now());
      const { id } = await app.pay({ api: 'invoice', token: null });
      ids[at] = encodeId('invoice', id);
      app.clock.set(Date.now());
      const paid = await simulatePayment(app, { id }, 'paid');
      if (paid.kind !== 'changed') throw new Error(paid.kind);
    }
  };
  await Promise.all(Array.from({ length: PAYERS }, payer));
  return ids;
}

it(
  `brings the messages about ${INVOICES} invoices in order to a shop that fails often, although workers are killed`,
  async () => {
    const app = await testApp();
    app.clock.set(Date.now());
    const key = loadSealingKey({ secretKey: SECRET_KEY, dataDir: '' });
    const { register } = await webhookApp({ app, sealingKeys: [key] });
    const receiver = await unreliableShop();
    await register(receiver.url, { format: 'greenfield' });
    const env = { DATABASE_URL: app.database.url, ROLE: 'worker', SECRET_KEY, LOG_LEVEL: 'warn' };
    const worker = await testService(env);

    const left = async (): Promise<{ readonly due: number; readonly queued: number }> => {
      const { rows } = await sql<{ due: number; queued: number }>`
      select (select count(*)::integer from deliveries where next_attempt_at <= now()) as due,
        (select count(*)::integer from message_queue) as queued`.execute(app.db);
      return rows[0] ?? { due: 0, queued: 0 };
    };
    /** Resolves when so many requests arrived, or when nothing is due any more. */
    const progress = async (arrived: number): Promise<void> => {
      const until = performance.now() + 10 * DEADLINE_MS;
      for (let idle = 0; idle < IDLE_POLLS && receiver.arrived() < arrived;) {
        if (performance.now() > until) throw new Error('The worker sends no more messages.');
        await sleep(POLL_MS);
        idle = receiver.open() > 0 || (await left()).due > 0 ? 0 : idle + 1;
      }
    };
    const paying = payAll(app);
    const step = Math.ceil((INVOICES * TYPES.length) / (KILLS + 1));
    let kills = 0;
    for (let isDone = false; !isDone;) {
      const running = await worker.start();
      await progress(kills < KILLS ? receiver.arrived() + step : Infinity);
      await running.kill();
      kills += 1;
      // The dead worker's requests end, and then its leases and all waits: as if a minute had passed.
      while (receiver.open() > 0) await sleep(POLL_MS);
      await sql`update deliveries set next_attempt_at = now() where next_attempt_at > now()`.execute(app.db);
      isDone = kills >= KILLS && (await left()).queued === 0;
    }
    const invoices = await paying;

    expect(receiver.wrong).toEqual([]);
    expect(invoices).toHaveLength(INVOICES);
    const lost = invoices.filter((id) => !TYPES.every((_, nth) => receiver.acknowledged.get(id)?.includes(nth)));
    expect(lost).toEqual([]);
    const { rows: states } = await sql<{ state: string; count: number }>`
    select state, count(*)::integer as count from deliveries group by state`.execute(app.db);
    expect(states).toEqual([{ state: 'delivered', count: INVOICES * TYPES.length }]);
    process.stdout.write(
      `${INVOICES} invoices, ${receiver.arrived()} requests, ${kills} kills: none lost or out of order\n`,
    );
  },
  TIMEOUT_MS,
);
