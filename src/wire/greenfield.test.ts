import { describe, expect, it } from 'vitest';
import { ETH_QUOTE, paymentWith } from '../domain/payment.fixture.ts';
import type { Payment, Sums } from '../domain/payment.ts';
import { parseExact } from './number.ts';
import { greenfieldInvoice, greenfieldMethod, greenfieldStatus, markableStatuses } from './greenfield.ts';

const links = { checkoutUrl: { test: 'https://sandbox.example', live: 'https://pay.example' } } as const;

const money = (units: bigint): Sums => ({ seenUnits: units, minedUnits: units, confirmedUnits: units });
const holding = (units: bigint, facts: Partial<Payment> = {}): Payment =>
  paymentWith({
    api: 'invoice',
    quote: ETH_QUOTE,
    received: { all: money(units), inTime: money(units), transactionHash: null },
    ...facts,
  });
const ALL = ETH_QUOTE.owedUnits;

describe('the status of an invoice', () => {
  it.each([
    ['New', 'None', paymentWith({ status: 'created' })],
    ['New', 'PaidPartial', holding(1n, { status: 'pending', exception: 'underpaid' })],
    ['Processing', 'PaidOver', holding(ALL * 2n, { status: 'confirming', exception: 'overpaid' })],
    ['Settled', 'None', holding(ALL, { status: 'completed' })],
    ['Settled', 'PaidOver', holding(ALL * 2n, { status: 'completed', exception: 'overpaid' })],
    ['Settled', 'PaidLate', holding(ALL, { status: 'completed', exception: 'paid_late' })],
    ['Settled', 'Marked', holding(1n, { status: 'completed', exception: 'paid_late', endedByHand: true })],
    ['Expired', 'None', paymentWith({ status: 'expired' })],
    ['Expired', 'PaidPartial', holding(1n, { status: 'failed', failureReason: 'underpaid' })],
    ['Expired', 'PaidLate', holding(ALL, { status: 'expired', exception: 'paid_late' })],
    ['Invalid', 'None', holding(ALL, { status: 'failed', failureReason: 'unconfirmed' })],
    ['Invalid', 'Marked', paymentWith({ status: 'cancelled', cancelledAt: 1, endedByHand: true })],
  ])('%s, %s', (status, additionalStatus, payment) => {
    expect(greenfieldStatus(payment)).toEqual({ status, additionalStatus });
  });

  it('is never PaidLate, which plugins take for paid, while the money is not confirmed in full', () => {
    const seen = { seenUnits: ALL, minedUnits: 0n, confirmedUnits: 0n };
    const late = holding(0n, { status: 'expired', exception: 'paid_late' });
    const payment = { ...late, received: { all: seen, inTime: money(0n), transactionHash: null } };
    expect(greenfieldStatus(payment).additionalStatus).toBe('PaidPartial');
    expect(greenfieldStatus(holding(ALL - ALL / 2n, { status: 'expired' })).additionalStatus).toBe('PaidPartial');
  });

  it('can be marked as settled in live mode only with confirmed money, and as invalid only without any', () => {
    expect(markableStatuses(paymentWith({ mode: 'live', status: 'created' }))).toEqual(['Invalid']);
    expect(markableStatuses(paymentWith({ mode: 'test', status: 'created' }))).toEqual(['Settled', 'Invalid']);
    expect(markableStatuses(holding(1n, { mode: 'live', status: 'failed' }))).toEqual(['Settled']);
    expect(markableStatuses(holding(1n, { mode: 'live', status: 'completed' }))).toEqual([]);
  });
});

it('an invoice gives back what the shop sent, to the last digit and in its order', () => {
  const sent = '{"z":1.50,"a":{"big":12345678901234567890,"tiny":0.10000000000000001},"list":[true,null]}';
  const payment = paymentWith({
    api: 'invoice',
    shopMetadata: sent,
    shopCheckout: '{"redirectURL":"https://a.example"}',
  });
  const text = JSON.stringify(greenfieldInvoice(payment, links, 0));
  expect(text).toContain(`"metadata":${sent}`);
  expect(text).toContain('"checkout":{"redirectURL":"https://a.example"}');
  expect(JSON.stringify(parseExact(sent))).toBe(sent);
});

it('an invoice that no plugin made says its own facts as metadata', () => {
  const payment = paymentWith({ api: 'invoice', merchantOrderId: 'A-1', metadata: { colour: 'red' } });
  expect(greenfieldInvoice(payment, links, 0)).toMatchObject({ metadata: { orderId: 'A-1', colour: 'red' } });
});

it('a payment method adds up its money, in decimals that are texts', () => {
  const payment = holding(0n);
  const transfer = {
    network: ETH_QUOTE.network,
    transactionHash: '0xaa',
    index: 3,
    address: ETH_QUOTE.address,
    asset: ETH_QUOTE.asset,
    amountUnits: ALL / 4n,
    firstSeenAt: 1_500,
    blockAt: null,
    blockHeight: null,
    blockPosition: null,
    state: 'seen',
  } as const;
  const dropped = { ...transfer, index: 4, state: 'dropped' } as const;
  const shown = greenfieldMethod(payment, { quote: ETH_QUOTE, transfers: [transfer, dropped], evm: null });
  expect(Number(shown.due)).toBeCloseTo((Number(shown.amount) * 3) / 4, 12);
  expect(shown.totalPaid).toBe(shown.paymentMethodPaid);
  expect(shown.payments.map(({ id, receivedDate, status }) => [id, receivedDate, status])).toEqual([
    ['0xaa-3', 1, 'Processing'],
    ['0xaa-4', 1, 'Invalid'],
  ]);
});
