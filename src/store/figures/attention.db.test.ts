import { expect, it } from 'vitest';
import { newId } from '../../app/context.ts';
import { testApp, type TestApp } from '../../../test/harness.ts';
import type { AttentionKind } from '../../domain/attention.ts';
import type { Payment } from '../../domain/payment.ts';
import type { Refund } from '../../domain/refund.ts';
import { savePayouts } from '../refunds/refund-payouts.ts';
import { insertRefund } from '../refunds/refunds.ts';
import { toRow } from '../rows.ts';
import { askingRefunds } from './asking-refunds.ts';
import { saveAttentionMark, slowPayments, unusualPayments } from './attention.ts';

const ADDRESS = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
const HOUR_MS = 3_600_000;

async function saveRefund(app: TestApp, payment: Payment, facts: Partial<Refund> = {}): Promise<Refund> {
  app.clock.advance(1);
  const now = app.clock();
  const refund: Refund = {
    id: newId(app, now),
    projectId: payment.projectId,
    mode: 'live',
    paymentId: payment.id,
    paymentApi: payment.api,
    status: 'pending',
    amountMinor: 1_000n,
    currency: 'USD',
    asset: 'BTC',
    network: 'bitcoin',
    decimals: 8,
    units: 500n,
    address: ADDRESS,
    reason: null,
    failureReason: null,
    transactionHash: null,
    createdAt: now,
    completedAt: null,
    dueAt: now + HOUR_MS,
    ...facts,
  };
  await app.db.transaction().execute((trx) => insertRefund(trx, refund, ADDRESS));
  return refund;
}

async function markDone(app: TestApp, kind: AttentionKind, subject: string, occurrence: string): Promise<void> {
  const { projectId } = app;
  const mark = {
    kind,
    subject,
    occurrence,
    assignedTo: null,
    note: null,
    doneAt: app.clock(),
    doneBy: null,
    version: 1,
  };
  const scope = { projectId, mode: kind === 'refund_to_sign' ? 'live' : 'test' } as const;
  await app.db.transaction().execute((trx) => saveAttentionMark(trx, scope, mark, app.clock()));
}

const idsOf = (items: readonly { readonly id: string }[]) => items.map(({ id }) => id);

it('of refunds to sign the newest are named, and none that is done takes the place of another', async () => {
  const app = await testApp();
  const payment = await app.pay();
  const refunds: Refund[] = [];
  for (let count = 0; count < 4; count += 1) refunds.push(await saveRefund(app, payment));
  const [first, second, third, last] = idsOf(refunds);
  expect(idsOf(await askingRefunds(app.db, app.projectId, 'refund_to_sign', { limit: 2, since: 0 }))).toEqual([
    last,
    third,
  ]);
  const [done] = await askingRefunds(app.db, app.projectId, 'refund_to_sign', { limit: 1, since: 0 });
  expect(done?.occurrence).toBe(String(refunds[3]?.createdAt));
  await markDone(app, 'refund_to_sign', last ?? '', done?.occurrence ?? '');
  expect(idsOf(await askingRefunds(app.db, app.projectId, 'refund_to_sign', { limit: 3, since: 0 }))).toEqual([
    third,
    second,
    first,
  ]);
});

it('a payment is slow after three times what its blocks usually take, at least an hour; others take no place of it', async () => {
  const app = await testApp();
  const confirming = async (minutes: number, confirmations: number, asset: 'BTC' | 'ETH' = 'BTC'): Promise<string> => {
    app.clock.advance(1);
    const { id, quote } = await app.pay({ token: { asset, network: null } });
    if (quote === null) throw new Error('An order has a quote.');
    await app.db.updateTable('payments').set({ status: 'confirming' }).where('id', '=', id).execute();
    const at = new Date(app.clock() - minutes * 60_000);
    const step = { from_status: 'pending', to_status: 'processing', cause: 'transfer', payment_id: id, at } as const;
    await app.db.insertInto('payment_arrows').values(step).execute();
    const issued = { issuedAt: app.clock(), watchUntil: app.clock(), index: null, walletId: null };
    const others = { paymentId: id, afterBlock: null, spentUnits: null, confirmations };
    const row = toRow('payment_addresses', { ...quote, ...issued, ...others, watchedAddress: quote.address });
    await app.db.insertInto('payment_addresses').values(row).execute();
    return id;
  };
  const slow = [await confirming(91, 2), await confirming(62, 1), await confirming(61, 12, 'ETH')];
  await confirming(89, 2);
  await confirming(59, 1);
  await confirming(59, 12, 'ETH');
  const find = (limit: number) => slowPayments(app.db, { projectId: app.projectId, mode: 'test' }, app.clock(), limit);
  expect(idsOf(await find(9))).toEqual(slow.toReversed());
  expect(idsOf(await find(2))).toEqual(slow.toReversed().slice(0, 2));
});

it('a payment whose late money was paid back by a refund that had failed needs no attention', async () => {
  const app = await testApp();
  const payment = await app.pay();
  const late = { exception: 'paid_late', status: 'expired', seen_units: 500n } as const;
  await app.db.updateTable('payments').set(late).where('id', '=', payment.id).execute();
  const find = () => unusualPayments(app.db, { projectId: app.projectId, mode: 'test' }, 9);
  const network = payment.quote?.network ?? 'bitcoin';
  const facts = { mode: 'test', status: 'failed', failureReason: 'unpaid', dueAt: null, network } as const;
  const { id: refundId } = await saveRefund(app, payment, facts);
  expect(await find()).toMatchObject([{ kind: 'paid_late', leftUnits: 500n }]);
  const payout = {
    refundId,
    network,
    transactionHash: 'aa',
    asset: 'BTC',
    index: 0,
    spends: [],
    blockHeight: 7,
  } as const;
  await app.db.transaction().execute((trx) => savePayouts(trx, [{ ...payout, isGuess: true }], app.clock()));
  expect(await find()).toHaveLength(1);
  const certain = { ...payout, transactionHash: 'bb', isGuess: false };
  await app.db.transaction().execute((trx) => savePayouts(trx, [certain], app.clock()));
  expect(await find()).toEqual([]);
});
