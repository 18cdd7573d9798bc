import { describe, expect, it } from 'vitest';
import { NO_MONEY, type Received, type Quote } from './payment.ts';
import {
  AFTER,
  BTC_QUOTE,
  CREATED_AT,
  ETH_QUOTE,
  EXPIRES_AT,
  MINUTE_MS,
  DAY_MS,
  NOW,
  accept,
  byHand,
  cancel,
  confirmed,
  deadline,
  receivedOf,
  otherChoice,
  paymentWith,
  payments,
  seen,
  settled,
  transferWith,
  walked,
} from './payment.fixture.ts';
import { withFirstToken } from './creation.ts';
import { MAX_TOKEN_CHANGES, nextDueAt, tokenRefusal, transition, type Observation } from './transition.ts';

const money = (received: Received): Observation => ({ kind: 'money', received });

const { created, prepared, pending, underpaid, processing, confirming, completed, cancelled } = payments;

describe('money in a token that was not chosen', () => {
  const choice = (moneyIn: readonly Pick<Quote, 'asset' | 'network'>[]): Observation => ({
    kind: 'token_chosen',
    quote: BTC_QUOTE,
    changes: 0,
    moneyIn,
  });

  it('lets only a token be chosen that it is in, on the same network, so that it counts', () => {
    const tether = { asset: 'USDT', network: 'ethereum' } as const;
    expect(transition(pending, choice([tether]), NOW)).toEqual({ kind: 'refused', reason: 'money_seen' });
    for (const other of [
      { asset: 'BTC', network: 'litecoin' },
      { asset: 'LTC', network: 'bitcoin' },
    ] as const) {
      expect(transition(pending, choice([other]), NOW)).toEqual({ kind: 'refused', reason: 'money_seen' });
    }
    expect(walked(pending, choice([tether, BTC_QUOTE]), NOW).payment.quote).toEqual(BTC_QUOTE);
    expect(walked(pending, choice([]), NOW).payment.quote).toEqual(BTC_QUOTE);
  });

  it('keeps the payment from being cancelled', () => {
    expect(transition(pending, { kind: 'cancelled', moneyElsewhere: true }, NOW)).toEqual({
      kind: 'refused',
      reason: 'money_seen',
    });
    expect(walked(pending, { kind: 'cancelled', moneyElsewhere: false }, NOW).payment.status).toBe('cancelled');
  });
});

describe('whether a token can be chosen', () => {
  it('names the first reason: its end, money, time, the number of changes', () => {
    const many = MAX_TOKEN_CHANGES;
    expect(tokenRefusal(cancelled, many, EXPIRES_AT)).toBe('not_open');
    expect(tokenRefusal({ ...pending, received: receivedOf(seen) }, many, EXPIRES_AT)).toBe('money_seen');
    expect(tokenRefusal(pending, many, EXPIRES_AT)).toBe('expired');
    expect(tokenRefusal(pending, many, EXPIRES_AT - 1)).toBe('too_many_changes');
    expect(tokenRefusal(pending, many - 1, NOW)).toBeNull();
    // The first choice changes nothing.
    expect(tokenRefusal(created, many, NOW)).toBeNull();
  });

  it('is a fault where a new payment takes none', () => {
    expect(() => withFirstToken(cancelled, ETH_QUOTE)).toThrow(
      'A new payment refused its token: {"kind":"refused","reason":"not_open"}',
    );
  });
});

describe('the quote that a payment was completed on', () => {
  it.each([
    { asset: 'USDT' },
    { network: 'base' },
    { address: '0xbbbb' },
    { owedUnits: ETH_QUOTE.owedUnits + 1n },
    { toleranceUnits: ETH_QUOTE.toleranceUnits - 1n },
  ] as const)('stays its measure: money on one with other facts is refused (%o)', (facts) => {
    const received = receivedOf(confirmed, transferWith({ index: 1 }));
    const onQuote = (quote: Quote): Observation => ({ kind: 'money', received, quote });
    expect(transition(completed, onQuote({ ...ETH_QUOTE, ...facts }), NOW)).toEqual({
      kind: 'refused',
      reason: 'already_completed',
    });
    expect(transition(completed, onQuote({ ...ETH_QUOTE }), NOW)).toMatchObject({ kind: 'changed' });
  });
});

describe('an observation of the money', () => {
  it('is a change when any one sum or the hash is another, and none when all are the same', () => {
    const { received } = processing;
    expect(transition(processing, money(structuredClone(received)), NOW)).toEqual({ kind: 'unchanged' });
    const more = (part: 'all' | 'inTime', sum: keyof Received['all']): Received => ({
      ...received,
      [part]: { ...received[part], [sum]: received[part][sum] + 1n },
    });
    for (const part of ['all', 'inTime'] as const) {
      for (const sum of ['seenUnits', 'minedUnits', 'confirmedUnits'] as const) {
        const result = transition(processing, money(more(part, sum)), NOW);
        expect(result).toMatchObject({ kind: 'changed', transitions: [], payment: { received: more(part, sum) } });
      }
    }
    expect(transition(processing, money({ ...received, transactionHash: '0x09' }), NOW)).toMatchObject({
      kind: 'changed',
      payment: { received: { transactionHash: '0x09' } },
    });
  });

  it('is a change when a completed payment names a transaction that is not the one that pays it', () => {
    const { received, transactionHash } = completed;
    expect(walked({ ...completed, transactionHash: '0xgone' }, money(received), NOW).payment.transactionHash).toBe(
      transactionHash,
    );
    // While nothing pays it, the last one may still come back.
    const none = receivedOf();
    expect(walked(completed, money(none), NOW).payment).toMatchObject({ exception: 'reorged', transactionHash });
  });

  it('is a change when the same money lies on an earlier quote', () => {
    const earlier = { ...ETH_QUOTE, toleranceUnits: 0n };
    const result = walked(processing, { kind: 'money', received: processing.received, quote: earlier }, NOW);
    expect(result.payment.quote).toEqual(earlier);
  });

  it('changes nothing on a payment that was prepared and still has none', () => {
    expect(transition(prepared, money(NO_MONEY), NOW)).toEqual({ kind: 'unchanged' });
  });

  it('moves a payment that stands behind the money which is known already', () => {
    const behind = { ...pending, received: receivedOf(seen) };
    expect(walked(behind, money(behind.received), NOW).payment.status).toBe('processing');
  });

  it('puts an exception right that is not true to the money', () => {
    expect(walked({ ...pending, exception: 'underpaid' }, money(NO_MONEY), NOW)).toMatchObject({
      transitions: [],
      steps: [],
      payment: { exception: 'none' },
    });
  });

  it('says nothing to a payment that was not prepared for it', () => {
    for (const unprepared of [
      { ...created, quote: ETH_QUOTE },
      { ...pending, quote: null },
    ]) {
      expect(transition(unprepared, money(receivedOf(seen)), NOW)).toEqual({ kind: 'refused', reason: 'not_open' });
    }
  });
});

describe('what a payment is due for', () => {
  it('is the sandbox’s timer where no deadline is left', () => {
    const timed = { ...confirming, completesAt: CREATED_AT + MINUTE_MS };
    expect(nextDueAt(timed)).toBe(CREATED_AT + MINUTE_MS);
  });

  it('follows the durations that the operator set', () => {
    const policy = { graceMs: 5, monitoringMs: 7 };
    expect(nextDueAt(processing, policy)).toBe(EXPIRES_AT + 7);
    const lost = transition(processing, money(receivedOf()), AFTER, policy);
    expect(lost).toMatchObject({ payment: { graceUntil: AFTER + 5 } });
    const end = EXPIRES_AT + 7;
    expect(transition(processing, { kind: 'deadline', seenUpTo: end }, end, policy)).toMatchObject({ kind: 'changed' });
  });
});

describe('each step of the status', () => {
  const end = EXPIRES_AT + 8 * DAY_MS;

  it.each([
    ['a chosen token', pending, otherChoice, NOW, 'token_chosen'],
    ['money', processing, money(receivedOf(confirmed)), NOW, 'money'],
    ['money that is lost at the very moment of expiry', processing, money(NO_MONEY), EXPIRES_AT, 'money'],
    ['expiry', pending, deadline(end), end, 'deadline'],
    ['expiry after a part', underpaid, deadline(end), end, 'deadline'],
    ['the end of the monitoring window', processing, deadline(end), end, 'deadline'],
    ['the sandbox', pending, settled, NOW, 'settled'],
    ['cancelling', pending, cancel, NOW, 'cancelled'],
    ['accepting', underpaid, accept, NOW, 'accepted'],
  ] as const)('after %s says its cause and time', (_name, payment, observation, now, cause) => {
    const { transitions } = walked(payment, observation, now);
    expect(transitions.length).toBeGreaterThan(0);
    expect(transitions.map((transition) => [transition.cause, transition.at])).toEqual(
      transitions.map(() => [cause, now]),
    );
  });

  it('that is not drawn is refused with its reason', () => {
    const refused = (reason: string) => ({ kind: 'refused', reason });
    expect(transition(confirming, byHand, NOW)).toEqual(refused('not_open'));
    expect(transition(processing, settled, NOW)).toEqual(refused('not_open'));
    expect(transition(processing, cancel, NOW)).toEqual(refused('not_open'));
    expect(transition({ ...processing, exception: 'underpaid' }, accept, NOW)).toEqual(refused('not_open'));
  });

  it('back to pending at the very moment of expiry gives the replacement its grace', () => {
    const { payment } = walked(processing, money(NO_MONEY), EXPIRES_AT);
    expect(payment).toMatchObject({ status: 'pending', graceUntil: EXPIRES_AT + 60 * MINUTE_MS });
  });
});

it('a payment whose facts contradict each other goes nowhere: what is not drawn is a fault', () => {
  const contradiction = paymentWith({ status: 'created', received: receivedOf(seen) });
  expect(() => transition(contradiction, { kind: 'deadline', seenUpTo: 'by_hand' }, NOW)).toThrow(
    'No transition leads from created to failed',
  );
});
