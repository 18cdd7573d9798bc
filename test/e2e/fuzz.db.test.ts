import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { completeSandboxPayment } from '../../src/app/payments/payment-actions.ts';
import { parsePaymentId } from '../../src/domain/payment-kind.ts';
import { KEY_KINDS, MODES, PERMISSIONS } from '../../src/domain/permission.ts';
import { httpTest, type Answer, type Call, type HttpTest } from '../http.ts';
import { chooser, fuzzRequest, targetsOf, type Known } from './fuzz-requests.ts';

const REQUESTS = Number(process.env['FUZZ_REQUESTS'] ?? 3_000);
/** Requests under way at once; each lot is chosen before it is sent, so that a seed repeats itself. */
const LOT = 50;
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_260_615);

it(
  `${REQUESTS} bad, odd and good requests cause no internal error, get only documented answers and leave nothing half done`,
  { timeout: 300_000 },
  async () => {
    const http = await httpTest();
    try {
      const { body: document } = await http.call({ path: '/openapi.json' });
      const targets = targetsOf(document);
      expect(targets).toHaveLength(34);
      const known = await prepare(http);
      const choose = chooser(SEED);
      const tally = new Tally();
      for (let sent = 0; sent < REQUESTS; sent += LOT) {
        const calls = Array.from({ length: LOT }, () => fuzzRequest(choose, targets, known));
        const answers = await Promise.all(calls.map(async (call) => ({ call, answer: await http.call(call) })));
        for (const { call, answer } of answers) {
          const fault = faultOf(call, answer);
          if (fault !== null) throw new Error(`FUZZ_SEED=${SEED}: ${fault}\n${JSON.stringify(call)}\n${answer.text}`);
          tally.add(call, answer);
          const id = /"id":"([^"]+)"/.exec(answer.text)?.[1];
          if (answer.status === 200 && id !== undefined && known.ids.length < 400) known.ids.push(id);
        }
        for (let index = 0; index < 8 && known.ids.length > 0; index += 1) await pay(http, choose.pick(known.ids));
      }
      expect(http.logged).toEqual([]);
      await expectWhole(http, tally);
      // A fuzzer whose requests all fail the first check would prove little.
      expect(tally.statuses.get(200) ?? 0).toBeGreaterThan(REQUESTS / 6);
      for (const status of [400, 401, 403, 404]) {
        expect(tally.statuses.get(status) ?? 0).toBeGreaterThan(REQUESTS / 200);
      }
      const { orders, transactions, invoices, refunds, kept } = tally;
      expect(Math.min(orders, transactions, invoices, refunds, kept)).toBeGreaterThan(REQUESTS / 1_000);
    } finally {
      await http.close();
    }
  },
);

async function prepare(http: HttpTest): Promise<Known & { readonly ids: string[] }> {
  const [shop, other] = [await http.shop(), await http.shop()];
  const specs = MODES.flatMap((mode) =>
    KEY_KINDS.flatMap((kind) => PERMISSIONS.map((permission) => ({ mode, kind, permission }))),
  );
  const all = await Promise.all(specs.map(async (spec) => ({ side: spec.mode, key: await shop.key(spec) })));
  const keys = [
    { side: 'test' as const, key: await shop.key() },
    ...all,
    { side: 'test' as const, key: await other.key() },
    { side: 'test' as const, key: undefined },
  ];
  return { keys, projects: [shop.projectId, other.projectId], ids: [] };
}

/** Completes a payment, so that it can be refunded. */
async function pay(http: HttpTest, publicId: string): Promise<void> {
  const named = parsePaymentId(publicId);
  if (named !== null) await completeSandboxPayment(http.app, { id: named.id });
}

const PAGE = /^\/(?:pay|refund)\//;
const STATUSES = [200, 204, 303, 400, 401, 403, 404, 409];
const LEAKS = /\.ts:\d+|node_modules|\bselect\b.+\bfrom\b|syntax error|violates|ECONN|duplicate key/i;

/** The fault of an answer, beyond the checks of every call; null if it is as documented. */
function faultOf(call: Call, answer: Answer): string | null {
  if (!STATUSES.includes(answer.status)) return `status ${answer.status}`;
  if (call.method === 'HEAD' || answer.status === 204 || answer.status === 303) return null;
  if (answer.status !== 200 && LEAKS.test(answer.text)) return 'an answer that reveals internals';
  const isHtml = (answer.headers['content-type'] ?? '').startsWith('text/html');
  if (isHtml) return PAGE.test(call.path) ? null : 'a page where JSON was asked for';
  if (answer.status === 200) return null;
  const body = answer.body as { success?: unknown; message?: unknown; error?: Record<string, unknown> };
  const isKeyError = answer.status === 401 || answer.status === 403;
  if (call.path.startsWith('/api/') && !isKeyError) {
    return body.success === false && typeof body.message === 'string' ? null : 'not the shape of the Transaction API';
  }
  const { type, message } = body.error ?? {};
  return typeof type === 'string' && typeof message === 'string' ? null : 'not the shape of the Order API';
}

class Tally {
  readonly statuses = new Map<number, number>();
  orders = 0;
  transactions = 0;
  invoices = 0;
  requests = 0;
  refunds = 0;
  kept = 0;

  add(call: Call, answer: Answer): void {
    this.statuses.set(answer.status, (this.statuses.get(answer.status) ?? 0) + 1);
    if (call.method !== 'POST' || answer.status !== 200 || PAGE.test(call.path)) return;
    if (answer.headers['idempotent-replayed'] === 'true') return;
    const [path] = call.path.split('?');
    if (path === '/v1/orders') this.orders += 1;
    if (path === '/api/transactions/create') this.transactions += 1;
    if (path === '/v1/invoices') this.invoices += 1;
    if (path === '/v1/payment_requests') this.requests += 1;
    if (path === '/v1/refunds') this.refunds += 1;
    if (call.headers?.['idempotency-key'] !== undefined) this.kept += 1;
  }
}

/** The database has everything that was answered with success, completely, and nothing else. */
async function expectWhole(http: HttpTest, tally: Tally): Promise<void> {
  const { rows } = await sql<Record<string, bigint>>`select
    (select count(*) from payments where surface = 'order') as orders,
    (select count(*) from payments where surface = 'transaction') as transactions,
    (select count(*) from payments where surface = 'invoice') as invoices,
    (select count(*) from payment_requests) as requests,
    (select count(*) from refunds) as refunds,
    (select count(*) from idempotency_keys) as kept,
    (select count(*) from events where type in ('order.created', 'invoice.created')) as announced,
    (select count(*) from events where type = 'refund.created') as refunds_announced,
    (select sum(payments)::bigint from payment_day_counts) as counted,
    (select count(*) from payments p where last_sequence <> (select count(*) from events e where e.payment_id = p.id))
      as missing_events,
    (select count(*) from payments where surface = 'transaction' and transaction_number is null) as unnumbered,
    (select sum(last)::bigint from transaction_counters) as numbered,
    (select count(*) from payments p where
      (select coalesce(sum(units), 0) from refunds r where r.payment_id = p.id and r.asset = p.asset and r.network = p.network
        and r.status <> 'failed') > confirmed_units
      -- A reorganisation may take back the money of a payment that was refunded, and what is paid anew may be less.
      and not exists (select from events e where e.payment_id = p.id and e.body like '%"exception":"reorged"%'))
      as over_refunded`.execute(http.app.db);
  expect(rows[0]).toEqual({
    orders: BigInt(tally.orders),
    transactions: BigInt(tally.transactions),
    invoices: BigInt(tally.invoices),
    requests: BigInt(tally.requests),
    refunds: BigInt(tally.refunds),
    kept: BigInt(tally.kept),
    announced: BigInt(tally.orders + tally.transactions + tally.invoices),
    refunds_announced: BigInt(tally.refunds),
    counted: BigInt(tally.orders + tally.transactions + tally.invoices),
    missing_events: 0n,
    unnumbered: 0n,
    numbered: BigInt(tally.transactions),
    over_refunded: 0n,
  });
}
