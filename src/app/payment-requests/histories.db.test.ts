import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { isNight } from '../../../test/extent.ts';
import { testApp, type TestApp } from '../../../test/harness.ts';
import type { Payment, Transfer } from '../../domain/payment.ts';
import { divHalfUp } from '../../domain/money.ts';
import { isInParts, leftMinor, type PaymentRequest } from '../../domain/payment-request.ts';
import { isOpen } from '../../domain/status.ts';
import { findPayments } from '../../store/payments/payments.ts';
import { findRequest, requestSums } from '../../store/payments/payment-requests.ts';
import { findTransfers } from '../../store/payments/transfers.ts';
import { makeStatement } from '../dashboard/export-report.ts';
import { acceptPayment } from '../payments/payment-actions.ts';
import { runDue } from '../payments/run-due.ts';
import { createRefund } from '../refunds/create-refund.ts';
import { runDueRefunds } from '../refunds/end-refunds.ts';
import { simulateOutcome } from '../sandbox/simulate-outcome.ts';
import { closeRequest } from './close-request.ts';
import { createRequest, type NewRequest } from './create-request.ts';
import { payRequest } from './pay-request.ts';
import { settleDueRequests } from './settle-requests.ts';

const MINUTE_MS = 60_000;
const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7';

const asked = fc.record({
  amountMinor: fc.constantFrom(500n, 9_999n, 100_000n, 123_457n, null),
  currency: fc.constantFrom('EUR', 'USD', 'GBP'),
  maxPayments: fc.constantFrom(1, 1, 2, null),
  coins: fc.constantFrom(null, ['BTC'], ['USDC/polygon'], ['ETH/ethereum']),
  livesMs: fc.constantFrom(null, 50 * MINUTE_MS),
});
type Asked = typeof asked extends fc.Arbitrary<infer One> ? One : never;

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('pay' as const),
      outcome: fc.constantFrom('paid', 'part', 'part', 'over', 'late', 'failed', 'expired', 'reorged', 'confirming'),
      typedMinor: fc.constantFrom(700n, 33_333n),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('accept' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('refund' as const), minor: fc.constantFrom(1n, 250n, null) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(11_000, 31 * MINUTE_MS) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('close' as const) }) },
);
/** A step, and whether the workers come before the next one. */
const timed = fc.tuple(step, fc.boolean());
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

async function begin(app: TestApp, { livesMs, ...fields }: Asked): Promise<string> {
  const wanted: NewRequest = {
    projectId: app.projectId,
    mode: 'test',
    title: 'Cake',
    description: null,
    reference: null,
    minAmountMinor: null,
    maxAmountMinor: null,
    successUrl: null,
    askEmail: false,
    askName: false,
    askNote: false,
    metadata: null,
    expiresAt: livesMs === null ? null : app.clock() + livesMs,
    ...fields,
  };
  const made = await createRequest(app, wanted, null);
  if (made.kind !== 'done') throw new Error(JSON.stringify(made));
  return made.request.id;
}

async function invoicesOf(app: TestApp, requestId: string): Promise<readonly Payment[]> {
  const rows = await app.db.selectFrom('payments').select('id').where('payment_request_id', '=', requestId).execute();
  return findPayments(
    app.db,
    rows.map(({ id }) => id),
  );
}

async function take(app: TestApp, id: string, taken: Step): Promise<void> {
  const newest = async () => (await invoicesOf(app, id)).toSorted((a, b) => (a.id < b.id ? 1 : -1))[0];
  app.clock.advance(1);
  switch (taken.kind) {
    case 'pay': {
      const payer = { amountMinor: taken.typedMinor, email: null, name: null, note: null, invoiceId: null };
      const outcome = await payRequest(app, id, payer);
      if (outcome.kind === 'invoice') await simulateOutcome(app, { id: outcome.payment.id }, taken.outcome);
      return;
    }
    case 'accept': {
      const payment = await newest();
      if (payment !== undefined) await acceptPayment(app, { id: payment.id });
      return;
    }
    case 'refund': {
      const payment = await newest();
      if (payment === undefined) return;
      const wanted = taken.minor === null ? null : { amountMinor: taken.minor };
      const { projectId, mode } = payment;
      const facts = { projectId, mode, api: 'invoice', paymentId: payment.id, address: null, reason: null } as const;
      await createRefund(
        app,
        { ...facts, wanted, address: payment.quote?.network === 'polygon' ? ADDRESS : null },
        null,
      );
      return;
    }
    case 'wait':
      app.clock.advance(taken.ms);
      return;
    case 'close':
      await closeRequest(app, { id, projectId: app.projectId, mode: 'test' }, null);
  }
}

/** The confirmed money of an invoice at its rate, from the transfers themselves. */
function worthOf({ quote, amountMinor }: Payment, transfers: readonly Transfer[], states: readonly string[]): bigint {
  if (quote === null) return 0n;
  let units = 0n;
  for (const { asset, network, state, amountUnits } of transfers) {
    if (asset === quote.asset && network === quote.network && states.includes(state)) units += amountUnits;
  }
  const off = units > quote.owedUnits ? units - quote.owedUnits : quote.owedUnits - units;
  return off <= quote.toleranceUnits ? amountMinor : divHalfUp(units * amountMinor, quote.owedUnits);
}

/** Compares a request with its invoices' transfers; returns the units that they hold, by token. */
async function compare(app: TestApp, id: string): Promise<ReadonlyMap<string, bigint>> {
  const now = app.clock();
  const request = await findRequest(app.db, { id });
  if (request === null) throw new Error('The request is gone.');
  const invoices = await invoicesOf(app, id);
  const transfers = await findTransfers(
    app.db,
    invoices.map((invoice) => invoice.id),
  );
  const sum = (some: readonly Payment[], states: readonly string[]) =>
    some.reduce((total, one) => total + worthOf(one, transfers.get(one.id) ?? [], states), 0n);
  const paid = sum(invoices, ['confirmed']);
  // Money that a failed invoice saw may never be confirmed, and holds up nobody.
  const failed = invoices.filter(({ status }) => status === 'failed');
  const stuck = sum(failed, ['seen', 'mined', 'confirmed']) - sum(failed, ['confirmed']);
  const seen = sum(invoices, ['seen', 'mined', 'confirmed']) - stuck;
  const sums = (await requestSums(app.db, [id], now))(id);
  expect([sums.paidMinor, sums.pendingMinor]).toEqual([paid, seen - paid]);
  checkPlaces(request, invoices, now);
  const asks = isInParts(request) ? request.amountMinor : null;
  const left = asks === null ? null : asks > seen ? asks - seen : 0n;
  expect(leftMinor(request, sums)).toBe(left);
  expect(asks !== null && paid >= asks && request.status !== 'paid').toBe(false);
  const held = new Map<string, bigint>();
  for (const { asset, network, state, amountUnits } of [...transfers.values()].flat()) {
    const token = `${asset} ${network}`;
    if (state === 'confirmed') held.set(token, (held.get(token) ?? 0n) + amountUnits);
  }
  return held;
}

/** No two invoices may wait for money where one was left, and none that nobody has paid once nothing is asked for. */
function checkPlaces(request: PaymentRequest, invoices: readonly Payment[], now: number): void {
  const waiting = invoices.filter(({ status, expiresAt }) => isOpen(status) && expiresAt > now);
  const completed = invoices.filter(({ status }) => status === 'completed').length;
  const most = isInParts(request) ? 1 : (request.maxPayments ?? Infinity) - completed;
  expect(waiting.length).toBeLessThanOrEqual(Math.max(0, most));
  const isOver = request.status === 'paid' || request.status === 'closed';
  if (isOver) expect(waiting.filter(({ received }) => received.all.seenUnits === 0n)).toEqual([]);
}

async function settle(app: TestApp): Promise<void> {
  await runDue(app, 1_000);
  await runDueRefunds(app, 1_000);
  while ((await settleDueRequests(app, 1_000)) > 0);
}

it(
  'a request holds what its invoices hold, at the rate of each, after any history; and the statement is their sum',
  { timeout: 3_600_000 },
  async () => {
    const app = await testApp();
    const kept = new Set<string>();
    await fc.assert(
      fc.asyncProperty(asked, fc.array(timed, { minLength: 1, maxLength: 7 }), async (fields, steps) => {
        const id = await begin(app, fields);
        kept.add(id);
        for (const [taken, isSettled] of steps) {
          await take(app, id, taken);
          if (!isSettled) continue;
          await settle(app);
          await compare(app, id);
        }
        await settle(app);
        await compare(app, id);
      }),
      { numRuns: isNight ? 10_000 : 60 },
    );
    const total = new Map<string, bigint>();
    for (const id of kept) {
      for (const [token, units] of await compare(app, id)) total.set(token, (total.get(token) ?? 0n) + units);
    }
    const client = await app.database.connect();
    const scope = { projectId: app.projectId, mode: 'test', withSweeps: false } as const;
    const days = { from: '2026-01-01', to: '2036-12-31', zone: 'UTC' } as const;
    const statement = await makeStatement(app, client, { scope, days }, () => Promise.resolve());
    await client.end();
    const stated = statement.tokens.map(
      ({ asset, network, received }) => [`${asset} ${network}`, received.received] as const,
    );
    expect(new Map(stated.filter(([, units]) => units > 0n))).toEqual(total);
    expect(statement.verdict).not.toBe('unexplained');
  },
);
