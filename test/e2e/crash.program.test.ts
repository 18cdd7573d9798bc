import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sql } from 'kysely';
import { textAt } from '../../src/cli/program.fixture.ts';
import type { Database } from '../../src/store/database.ts';
import { receive, type LocalReceiver } from '../../src/webhooks/local-receivers.fixture.ts';
import { client, eventOf, eventually, killProcess, testService, type Answer, type TestService } from '../program.ts';
import { DEADLINE_MS } from '../deadline.ts';
import { isMain } from '../extent.ts';

const CLIENTS = 16;
/** A request that takes longer counts as hanging. */
const PATIENCE_MS = DEADLINE_MS;
/** How many payments are acknowledged before the blow falls. */
const BEFORE = 300;

/** One creation as its client sees it; the same `key` and `body` are sent until it is answered with 200. */
interface Creation {
  readonly key: string;
  readonly path: string;
  readonly body: object;
  answer: Answer | null;
  /** Answers other than 200, on the way to it. */
  readonly refusals: Answer[];
  /** Attempts without any answer. */
  faults: number;
}

type Call = ReturnType<typeof client>;

interface Load {
  readonly creations: readonly Creation[];
  acknowledged(): number;
  /** No client begins anything new; resolves when all have come to an end. */
  end(): Promise<void>;
}

/**
 * Clients that create transactions and orders one after another, each with an idempotency key, and try again as they
 * are told to.
 */
function startLoad(api: Call, retries: boolean): Load {
  const creations: Creation[] = [];
  let isEnding = false;
  const work = async (): Promise<void> => {
    while (!isEnding) {
      const creation = newCreation(creations.length);
      creations.push(creation);
      await attempt(api, creation);
      if (creation.answer === null && !retries) return;
      await finish(api, creation);
    }
  };
  const clients = Promise.all(Array.from({ length: CLIENTS }, work));
  return {
    creations,
    acknowledged: () => creations.filter(({ answer }) => answer !== null).length,
    end: async () => {
      isEnding = true;
      await clients;
    },
  };
}

function newCreation(number: number): Creation {
  const isOrder = number % 2 === 0;
  const amount = (100 + (number % 977)) / 100;
  const body = isOrder
    ? { amount, currency: 'USD', crypto_currency: 'ETH', order_id: `SHOP-${number}` }
    : { amount, order_id: `SHOP-${number}` };
  const path = isOrder ? '/v1/orders' : '/api/transactions/create';
  return { key: randomUUID(), path, body, answer: null, refusals: [], faults: 0 };
}

async function attempt(api: Call, creation: Creation): Promise<void> {
  try {
    const answer = await api(creation.path, creation.body, { 'idempotency-key': creation.key });
    if (answer.status === 200) creation.answer = answer;
    else creation.refusals.push(answer);
  } catch {
    creation.faults += 1;
  }
}

/** Sends a creation, the same each time, until it is acknowledged. */
async function finish(api: Call, creation: Creation): Promise<void> {
  if (creation.answer !== null) return;
  await eventually(
    `${creation.key} is acknowledged`,
    async () => {
      await attempt(api, creation);
      return creation.answer;
    },
    PATIENCE_MS,
  );
}

/** The payment of an answer of either API. */
function paymentOf({ body }: Answer): Readonly<Record<string, unknown>> {
  return (body['transaction'] as Record<string, unknown> | undefined) ?? body;
}

interface Shop {
  readonly service: TestService;
  readonly receiver: LocalReceiver;
  readonly api: Call;
}

/** A running service with one webhook endpoint. No payment completes by itself meanwhile. */
async function openShop(): Promise<Shop & Awaited<ReturnType<TestService['start']>>> {
  const service = await testService({ SANDBOX_COMPLETE_AFTER_SECONDS: '3600', LOG_LEVEL: 'warn' });
  const started = await service.start();
  const receiver = await receive((response) => void response.end());
  onTestFinished(() => receiver.close());
  await service.command(
    `webhook create --project ${started.first?.projectId} --mode test --events all --url http://127.0.0.1:${receiver.port}/`,
  );
  return { service, receiver, api: client(service.sandbox, String(started.first?.key), PATIENCE_MS), ...started };
}

async function untilLoaded(load: Load, count: number): Promise<void> {
  await eventually(`${count} payments are acknowledged`, () => (load.acknowledged() >= count ? true : null));
}

/** Nothing that was acknowledged is lost or there twice, in no table and not at the receiver. */
async function expectNothingLost({ service, receiver, api }: Shop, load: Load): Promise<void> {
  const { db } = await service.openDatabase();
  const acknowledged = load.creations.flatMap(({ answer }) => (answer === null ? [] : [paymentOf(answer)]));
  expect(acknowledged.length).toBe(load.creations.length);
  expect(new Set(acknowledged.map((payment) => payment['id'])).size).toBe(load.creations.length);
  const read = async (payment: Readonly<Record<string, unknown>>): Promise<void> => {
    const id = textAt(payment, 'id');
    const path = id.startsWith('ord_') ? `/v1/orders/${id}` : `/api/transactions/${id}`;
    const answer = await api(path);
    expect(answer.status).toBe(200);
    expect(paymentOf(answer)).toMatchObject(payment);
  };
  // In batches, so that no more sockets are open than before.
  for (let at = 0; at < acknowledged.length; at += CLIENTS) {
    await Promise.all(acknowledged.slice(at, at + CLIENTS).map(read));
  }

  const payments = await db.selectFrom('payments').select(['id', 'transaction_number', 'amount_usd_cents']).execute();
  // One payment for each key: a repeated request created no second one, and nothing is half-saved.
  expect(payments.length).toBe(load.creations.length);
  expect(await db.selectFrom('idempotency_keys').select('key').execute()).toHaveLength(load.creations.length);
  const numbers = payments.flatMap(({ transaction_number: number }) => (number === null ? [] : [number])).toSorted();
  const year = new Date().getUTCFullYear();
  expect(numbers).toEqual(numbers.map((_, index) => `TXN-${year}-${String(index + 1).padStart(6, '0')}`));
  const counted = await db.selectFrom('payment_day_counts').select(['payments', 'usd_cents']).execute();
  const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n);
  expect(sum(counted.map((row) => row.payments))).toBe(BigInt(payments.length));
  expect(sum(counted.map((row) => row.usd_cents))).toBe(sum(payments.map((row) => row.amount_usd_cents)));

  await expectAllTold(db, receiver, new Set(acknowledged.map((payment) => textAt(payment, 'id'))));
}

async function expectAllTold(db: Database, receiver: LocalReceiver, ids: ReadonlySet<string>): Promise<void> {
  const events = await db.selectFrom('events').select(['payment_id', 'body']).execute();
  expect(events.length).toBe(ids.size);
  expect(new Set(events.map(eventOf).map(({ data }) => data.id))).toEqual(ids);
  expect(await db.selectFrom('deliveries').select('id').execute()).toHaveLength(ids.size);
  // Deliveries that were under way when their worker died are due again when their lease has expired, after a minute;
  // the test does not wait for that.
  await sql`update deliveries set next_attempt_at = now() where state = 'waiting' and attempts = 0`.execute(db);
  await eventually('every event is delivered', async () => {
    const waiting = await db.selectFrom('deliveries').select('id').where('state', '<>', 'delivered').execute();
    return waiting.length === 0 ? true : null;
  });
  // An event may come twice, with the same id and bytes; none may be missing or invented.
  const arrived = new Map(receiver.requests.map(({ body }) => [eventOf({ body }).id, body]));
  expect(new Set(receiver.requests.map(({ body }) => body)).size).toBe(arrived.size);
  expect(new Set(arrived.values())).toEqual(new Set(events.map(({ body }) => body)));
}

describe('after kill -9 under load, a restart has lost nothing that was acknowledged', () => {
  it.each(isMain ? ['the service and its database'] : ['the service', 'the service and its database'])(
    'of %s',
    async (victim) => {
      const shop = await openShop();
      const load = startLoad(shop.api, false);
      await untilLoaded(load, BEFORE);
      const postmaster = await shop.service.postmasterPid();
      await Promise.all([
        shop.kill(),
        ...(victim.endsWith('database') && postmaster !== null ? [killProcess(postmaster)] : []),
      ]);
      await load.end();
      const unanswered = load.creations.filter(({ answer }) => answer === null);
      expect(unanswered).toHaveLength(CLIENTS);
      expect(unanswered.flatMap(({ refusals }) => refusals)).toEqual([]);
      // A database that outlives its service keeps running and is adopted by the next one.
      const survives = victim === 'the service';
      expect(await shop.service.postmasterPid()).toBe(survives ? postmaster : null);

      const { stop } = await shop.service.start();
      expect((await shop.service.postmasterPid()) === postmaster).toBe(survives);
      // Clients cannot know whether an unanswered request was carried out: they repeat it, and it is done once.
      for (const creation of unanswered) await finish(shop.api, creation);
      await expectNothingLost(shop, load);
      expect((await stop()).code).toBe(0);
      expect(await shop.service.postmasterPid()).toBeNull();
    },
  );
});

describe('the service recovers by itself, and answers meanwhile in time and in form, from kill -9 under load', () => {
  it.each(isMain ? ['the database'] : ['the database', "one of the database's processes"])('of %s', async (victim) => {
    const shop = await openShop();
    const load = startLoad(shop.api, true);
    await untilLoaded(load, BEFORE);
    await killProcess(victim === 'the database' ? await postmasterOf(shop.service) : await backendOf(shop.service));
    const refused = () =>
      load.creations.flatMap(({ path, refusals }) => refusals.map((answer) => ({ path, ...answer })));
    await eventually('a request was refused', () => (refused().length > 0 ? true : null));
    await untilLoaded(load, load.acknowledged() + BEFORE);
    await load.end();

    const message = 'The service cannot handle the request right now. Try again shortly.';
    for (const { path, status, body, headers } of refused()) {
      const isOrder = path === '/v1/orders';
      const shape = isOrder ? { error: { type: 'service_unavailable', message } } : { success: false, message };
      expect({ status, body }).toEqual({ status: 503, body: shape });
      expect(headers.get('x-ratelimit-remaining')).toMatch(/^\d+$/);
    }
    expect(load.creations.reduce((total, { faults }) => total + faults, 0)).toBe(0);
    await eventually('it is ready again', async () =>
      (await fetch(`${shop.service.sandbox}/readyz`)).ok ? true : null,
    );
    await expectNothingLost(shop, load);
    const ended = await shop.stop();
    expect(ended.code).toBe(0);
    expect(await shop.service.postmasterPid()).toBeNull();
  });
});

async function postmasterOf(service: TestService): Promise<number> {
  const pid = await service.postmasterPid();
  if (pid === null) throw new Error('The embedded database is not running.');
  return pid;
}

/** A process of the database that serves one of the service's connections. */
async function backendOf(service: TestService): Promise<number> {
  const handle = await service.openDatabase();
  const found = await sql<{ pid: number }>`
    select pid from pg_stat_activity where application_name = 'cointill' and pid <> pg_backend_pid() limit 1`.execute(
    handle.db,
  );
  await handle.close();
  return Number(found.rows[0]?.pid);
}
