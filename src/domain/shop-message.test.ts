import { describe, expect, it } from 'vitest';
import { EVENT_TYPES } from './event-type.ts';
import type { Payment, Transfer } from './payment.ts';
import {
  BTC_QUOTE,
  CREATED_AT,
  ETH_QUOTE,
  EXPIRES_AT,
  OWED_UNITS,
  paymentWith,
  transferWith,
} from './payment.fixture.ts';
import {
  isMessageType,
  isStoredEventType,
  MESSAGE_TYPES,
  messagesOf,
  moneyId,
  STORED_EVENT_TYPES,
  typesOfFormat,
} from './shop-message.ts';
import type { PaymentStatus } from './status.ts';

const NOTHING_TOLD = { received: new Set<string>(), settled: new Set<string>() };
const MOST_OWED = OWED_UNITS + ETH_QUOTE.toleranceUnits;

/** The payment with this much in blocks. */
function withMined(minedUnits: bigint, facts: Partial<Payment> = {}): Payment {
  const sums = { seenUnits: minedUnits, minedUnits, confirmedUnits: 0n };
  return paymentWith({ received: { all: sums, inTime: sums, transactionHash: '0x01' }, ...facts });
}

/** The messages of a change from `pending`, each as its type and what it says. */
function told(
  after: Payment,
  {
    path = [],
    transfers = [],
  }: { readonly path?: readonly PaymentStatus[]; readonly transfers?: readonly Transfer[] } = {},
) {
  const statuses: readonly PaymentStatus[] = ['pending', ...path];
  const transitions = path.map((to, at) => ({ from: statuses[at] ?? to, to, cause: 'money', at: CREATED_AT }) as const);
  return messagesOf({ before: paymentWith(), after, transitions }, transfers, NOTHING_TOLD);
}

const typesIn = (messages: readonly { readonly type: string }[]): readonly string[] => messages.map(({ type }) => type);

describe('a message about money', () => {
  it('tells of what came in the coin of the quote and was not dropped, and is settled once it is confirmed', () => {
    const transfers = [
      transferWith({ transactionHash: '0xa', state: 'confirmed' }),
      transferWith({ transactionHash: '0xb', state: 'mined' }),
      transferWith({ transactionHash: '0xc', state: 'dropped' }),
      transferWith({ transactionHash: '0xd', asset: 'USDT' }),
      transferWith({ transactionHash: '0xe', network: 'base' }),
    ];
    const messages = told(paymentWith(), { transfers });
    expect(messages.map((one) => ('transfer' in one ? [one.type, moneyId(one.transfer)] : one.type))).toEqual([
      ['InvoiceReceivedPayment', '0xa-0'],
      ['InvoiceReceivedPayment', '0xb-0'],
      ['InvoicePaymentSettled', '0xa-0'],
    ]);
    expect(told(paymentWith({ quote: null }), { transfers })).toEqual([]);
    expect(told(paymentWith({ quote: BTC_QUOTE }), { transfers })).toEqual([]);
  });

  it('comes before the end that the money made, also if the chain lost it in the same change', () => {
    const transfers = [transferWith({ state: 'dropped' })];
    const path = ['processing', 'confirming', 'completed'] as const;
    expect(typesIn(told(paymentWith({ status: 'completed' }), { path, transfers }))).toEqual([
      'InvoiceReceivedPayment',
      'InvoiceProcessing',
      'InvoicePaymentSettled',
      'InvoiceSettled',
    ]);
  });

  it.each<[boolean, PaymentStatus, PaymentStatus]>([
    [false, 'completed', 'completed'],
    [false, 'pending', 'pending'],
    [true, 'expired', 'expired'],
    [true, 'failed', 'failed'],
    [true, 'cancelled', 'completed'],
    [true, 'pending', 'expired'],
  ])('comes after the end (%s) of an invoice that was %s and is %s, whatever the clock says', (isAfter, from, to) => {
    const late = transferWith({ firstSeenAt: EXPIRES_AT + 1 });
    const change = { before: paymentWith({ status: from }), after: paymentWith({ status: to }), transitions: [] };
    const messages = messagesOf(change, [late], NOTHING_TOLD);
    const isMoney = (one: (typeof messages)[number]) => 'transfer' in one;
    expect(messages.filter(isMoney)).toEqual([expect.objectContaining({ afterExpiration: isAfter })]);
  });

  it('comes once of each transfer', () => {
    const transfers = [transferWith({ state: 'confirmed' })];
    const change = { before: paymentWith(), after: paymentWith(), transitions: [] };
    const one = new Set(['0x01-0']);
    expect(typesIn(messagesOf(change, transfers, { received: one, settled: new Set() }))).toEqual([
      'InvoicePaymentSettled',
    ]);
    expect(messagesOf(change, transfers, { received: one, settled: one })).toEqual([]);
  });

  it('says whether the money came late, and then follows an end without it', () => {
    const early = transferWith({ transactionHash: '0xa', state: 'confirmed' });
    const late = transferWith({ transactionHash: '0xb', state: 'confirmed', firstSeenAt: EXPIRES_AT });
    const messages = told(paymentWith({ status: 'failed', failureReason: 'underpaid' }), {
      path: ['failed'],
      transfers: [late, early],
    });
    const said = messages.map((one) =>
      'transfer' in one ? [one.type, moneyId(one.transfer), one.afterExpiration] : one.type,
    );
    expect(said).toEqual([
      ['InvoiceReceivedPayment', '0xa-0', false],
      ['InvoicePaymentSettled', '0xa-0', false],
      'InvoiceExpired',
      ['InvoiceReceivedPayment', '0xb-0', true],
      ['InvoicePaymentSettled', '0xb-0', true],
    ]);
    expect(typesIn(told(paymentWith({ status: 'completed' }), { path: ['completed'], transfers: [late] }))).toEqual([
      'InvoiceReceivedPayment',
      'InvoicePaymentSettled',
      'InvoiceSettled',
    ]);
  });
});

describe('a message about the status', () => {
  it('says that all the money is there when an open invoice has it, on the way to the end too', () => {
    expect(typesIn(told(paymentWith({ status: 'processing' }), { path: ['processing'] }))).toEqual([
      'InvoiceProcessing',
    ]);
    const through = ['processing', 'confirming', 'completed'] as const;
    expect(typesIn(told(paymentWith({ status: 'completed' }), { path: through }))).toEqual([
      'InvoiceProcessing',
      'InvoiceSettled',
    ]);
    const further = { from: 'processing', to: 'confirming', cause: 'money', at: CREATED_AT } as const;
    const back = { from: 'processing', to: 'pending', cause: 'money', at: CREATED_AT } as const;
    for (const transition of [further, back]) {
      const after = paymentWith({ status: transition.to });
      const before = paymentWith({ status: 'processing' });
      expect(messagesOf({ before, after, transitions: [transition] }, [], NOTHING_TOLD)).toEqual([]);
    }
    for (const status of ['created', 'prepared'] as const) {
      expect(told(paymentWith({ status }), { path: [status] })).toEqual([]);
    }
  });

  it.each([
    ['completed', null, { type: 'InvoiceSettled', manuallyMarked: false, overPaid: false }],
    ['expired', null, { type: 'InvoiceExpired', partiallyPaid: false }],
    ['failed', 'underpaid', { type: 'InvoiceExpired', partiallyPaid: true }],
    ['failed', 'unconfirmed', { type: 'InvoiceInvalid', manuallyMarked: false }],
    ['cancelled', null, { type: 'InvoiceInvalid', manuallyMarked: false }],
  ] as const)('of an invoice that is %s (%s) tells its end once', (status, failureReason, message) => {
    const after = paymentWith({ status, failureReason });
    expect(told(after, { path: [status] })).toEqual([message]);
    expect(messagesOf({ before: after, after, transitions: [] }, [], NOTHING_TOLD)).toEqual([]);
  });

  it('says that a person ended it', () => {
    for (const status of ['completed', 'cancelled'] as const) {
      const [message] = told(paymentWith({ status, endedByHand: true }), { path: [status] });
      expect(message).toMatchObject({ manuallyMarked: true });
    }
  });

  it('says that too much was paid only beyond the tolerance', () => {
    const overPaid = (minedUnits: bigint, status: 'processing' | 'completed') =>
      told(withMined(minedUnits, { status }), { path: [status] })[0];
    for (const status of ['processing', 'completed'] as const) {
      expect(overPaid(MOST_OWED, status)).toMatchObject({ overPaid: false });
      expect(overPaid(MOST_OWED + 1n, status)).toMatchObject({ overPaid: true });
    }
    const [message] = told(withMined(1n, { status: 'completed', quote: null }), { path: ['completed'] });
    expect(message).toMatchObject({ overPaid: false });
  });
});

describe('the types of stored events', () => {
  it('are ours and those of messages, and an endpoint gets only those of its format', () => {
    expect(STORED_EVENT_TYPES).toEqual([...EVENT_TYPES, ...MESSAGE_TYPES]);
    expect(typesOfFormat(null)).toEqual(EVENT_TYPES);
    expect(typesOfFormat('greenfield')).toEqual(MESSAGE_TYPES);
    expect([isMessageType('InvoiceSettled'), isMessageType('invoice.created'), isMessageType('')]).toEqual([
      true,
      false,
      false,
    ]);
    expect(['InvoiceSettled', 'invoice.created', 'invoice'].map(isStoredEventType)).toEqual([true, true, false]);
  });
});
