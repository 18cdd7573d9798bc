import { describe, expect, it } from 'vitest';
import { isFinal, isOpen, PAYMENT_STATUSES } from './status.ts';
import type { Transfer } from './payment.ts';
import {
  AFTER,
  BTC_QUOTE,
  CREATED_AT,
  ETH_QUOTE,
  EXPIRES_AT,
  MINUTE_MS,
  NOW,
  OWED_UNITS,
  accept,
  byHand,
  cancel,
  choice,
  confirmed,
  deadline,
  dropped,
  late,
  receivedOf,
  mined,
  money,
  observed,
  otherChoice,
  part,
  paymentWith,
  payments,
  seen,
  settled,
  transferWith,
  walked,
} from './payment.fixture.ts';
import { transition, type Observation } from './transition.ts';
import { creationTransitions, withFirstToken } from './creation.ts';

const { created, prepared, pending, underpaid, processing, confirming, failed, expired, cancelled } = payments;

describe('the table of transitions', () => {
  it.each([
    ['choosing a token', created, choice, NOW, 'created > prepared > pending'],
    ['choosing another token', prepared, otherChoice, NOW, 'prepared > prepared > pending'],
    ['choosing another token', pending, otherChoice, NOW, 'pending > prepared > pending'],
    ['the full amount in the mempool', pending, money(pending, seen), NOW, 'pending > processing'],
    ['the full amount on a prepared payment', prepared, money(prepared, seen), NOW, 'prepared > pending > processing'],
    ['a block', processing, money(processing, mined), NOW, 'processing > confirming'],
    ['enough confirmations', confirming, money(confirming, confirmed), NOW, 'confirming > completed'],
    [
      'money that was confirmed before it was seen',
      pending,
      money(pending, confirmed),
      NOW,
      'pending > processing > confirming > completed',
    ],
    ['a dropped transaction', processing, money(processing, dropped), NOW, 'processing > pending'],
    ['a reorganised and dropped transaction', confirming, money(confirming, dropped), NOW, 'confirming > pending'],
    ['a transaction reorganised into the mempool', confirming, money(confirming, seen), NOW, 'confirming > processing'],
    ['expiry', created, deadline(EXPIRES_AT), EXPIRES_AT, 'created > expired'],
    ['expiry', prepared, deadline(EXPIRES_AT), EXPIRES_AT, 'prepared > expired'],
    ['expiry', pending, deadline(EXPIRES_AT), EXPIRES_AT, 'pending > expired'],
    ['cancelling', created, cancel, NOW, 'created > cancelled'],
    ['cancelling', prepared, cancel, NOW, 'prepared > cancelled'],
    ['cancelling', pending, cancel, NOW, 'pending > cancelled'],
    ['expiry after a part', underpaid, deadline(EXPIRES_AT), EXPIRES_AT, 'pending > failed'],
    ['the end of the monitoring window', processing, byHand, NOW, 'processing > failed'],
    ['accepting', observed(expired, AFTER, late).payment, accept, AFTER, 'expired > completed'],
    ['accepting', observed(cancelled, AFTER, late).payment, accept, AFTER, 'cancelled > completed'],
    ['accepting', failed, accept, AFTER, 'failed > completed'],
    ['accepting', underpaid, accept, NOW, 'pending > completed'],
    ['the sandbox', created, settled, NOW, 'created > completed'],
    ['the sandbox', prepared, settled, NOW, 'prepared > completed'],
    ['the sandbox', pending, settled, NOW, 'pending > completed'],
  ] as const)('%s walks on as drawn', (_name, payment, observation, now, path) => {
    const result = walked(payment, observation, now);
    expect(result.path).toBe(path);
    expect(result.payment.status).toBe(path.split(' > ').at(-1));
  });

  it.each(
    PAYMENT_STATUSES.flatMap((status) => {
      return [
        ...(isOpen(status) ? [] : [{ status, name: 'choosing a token', observation: otherChoice }]),
        ...(isOpen(status) ? [] : [{ status, name: 'cancelling', observation: cancel }]),
        ...(isOpen(status) ? [] : [{ status, name: 'the sandbox', observation: settled }]),
        ...(isFinal(status) || status === 'confirming' ? [{ status, name: 'a deadline', observation: byHand }] : []),
        ...(status === 'failed' ? [] : [{ status, name: 'accepting', observation: accept }]),
      ];
    }),
  )('from $status nothing is drawn for $name: it is refused', ({ status, observation }) => {
    expect(transition(paymentWith({ status }), observation, AFTER)).toMatchObject({ kind: 'refused' });
  });

  it('keeps every transition that one observation walks, with its cause and time', () => {
    expect(walked(pending, money(pending, confirmed), NOW).transitions).toEqual([
      { from: 'pending', to: 'processing', cause: 'money', at: NOW },
      { from: 'processing', to: 'confirming', cause: 'money', at: NOW },
      { from: 'confirming', to: 'completed', cause: 'money', at: NOW },
    ]);
  });
});

describe('choosing a token', () => {
  it('locks its quote and watches its address', () => {
    expect(walked(created, choice, NOW).payment).toMatchObject({ status: 'pending', quote: ETH_QUOTE });
  });

  it('replaces the quote while nothing was seen, at any time before expiry', () => {
    expect(walked(pending, otherChoice, EXPIRES_AT - 1).payment.quote).toEqual(BTC_QUOTE);
    expect(transition(pending, otherChoice, EXPIRES_AT)).toEqual({ kind: 'refused', reason: 'expired' });
  });

  it('sends no event and leaves the sandbox’s timer running', () => {
    const timed = { ...created, completesAt: CREATED_AT + MINUTE_MS };
    const result = walked(timed, choice, NOW);
    expect(result.steps).toEqual([]);
    expect(result.payment.completesAt).toBe(CREATED_AT + MINUTE_MS);
  });
});

describe('money on a superseded quote', () => {
  const changed = walked(pending, otherChoice, NOW).payment;
  const onEarlier = (...transfers: readonly Transfer[]): Observation => ({
    kind: 'money',
    quote: ETH_QUOTE,
    received: receivedOf(...transfers),
  });

  it('restores that quote and counts for it', () => {
    const result = walked(changed, onEarlier(seen), NOW);
    expect(result.path).toBe('pending > processing');
    expect(result.payment.quote).toEqual(ETH_QUOTE);
  });

  it('restores it after expiry too, for the merchant to accept', () => {
    const gone = walked(changed, deadline(AFTER), AFTER).payment;
    const paid = walked(gone, onEarlier(late), AFTER).payment;
    expect(paid).toMatchObject({ status: 'expired', quote: ETH_QUOTE, exception: 'paid_late' });
    expect(walked(paid, accept, AFTER).payment.status).toBe('completed');
  });

  it('counts alone, without what was on the other quote and is lost: different assets never add up', () => {
    const bitcoin = transferWith({
      asset: 'BTC',
      network: 'bitcoin',
      amountUnits: BTC_QUOTE.owedUnits,
      state: 'mined',
    });
    const paid = observed(changed, NOW, bitcoin).payment;
    expect(paid.status).toBe('confirming');
    const result = walked(paid, onEarlier({ ...bitcoin, state: 'dropped' }, part), NOW);
    expect(result.path).toBe('confirming > pending');
    expect(result.payment).toMatchObject({ quote: ETH_QUOTE, exception: 'underpaid' });
    expect(result.payment.received.all.seenUnits).toBe(part.amountUnits);
  });

  it('does not make a completed payment look reorganised', () => {
    const bitcoin = transferWith({ asset: 'BTC', network: 'bitcoin', amountUnits: 166_667n, state: 'confirmed' });
    const done = observed(changed, NOW, bitcoin).payment;
    expect(done.status).toBe('completed');
    const gone = observed(done, NOW).payment;
    expect(gone).toMatchObject({ status: 'completed', exception: 'reorged' });
    expect(transition(gone, onEarlier(confirmed), NOW)).toEqual({ kind: 'refused', reason: 'already_completed' });
  });

  it('finds no quote to restore on a payment that never had one', () => {
    expect(transition(created, onEarlier(seen), NOW)).toEqual({ kind: 'refused', reason: 'not_open' });
  });
});

describe('cancelling', () => {
  it('ends the payment with its time, its event, and without its timer', () => {
    const timed = { ...pending, completesAt: CREATED_AT + 5 * MINUTE_MS };
    const result = walked(timed, cancel, NOW);
    expect(result.payment).toMatchObject({ status: 'cancelled', cancelledAt: NOW, completesAt: null });
    expect(result.steps).toEqual(['cancelled']);
  });

  it('is refused while anything is seen, even a part in the mempool', () => {
    const dust = observed(pending, NOW, { ...seen, amountUnits: 1n }).payment;
    expect(transition(dust, cancel, NOW)).toEqual({ kind: 'refused', reason: 'money_seen' });
  });

  it('leaves what arrives later recorded as late, even in a block dated before it', () => {
    for (const each of [late, transferWith({ firstSeenAt: NOW + 1, blockAt: NOW - 1, state: 'confirmed' })]) {
      const result = observed(cancelled, AFTER, each);
      expect(result.steps).toEqual(['exception']);
      expect(result.payment).toMatchObject({ status: 'cancelled', exception: 'paid_late' });
      expect(result.payment.received.all.confirmedUnits).toBe(OWED_UNITS);
    }
  });
});

describe('creation', () => {
  it('its steps, which are not stored, are the ones that the first choice of a token makes', () => {
    const blank = { ...paymentWith({ status: 'created', quote: null }), lastSequence: 0 };
    const chosen = walked(blank, choice, blank.createdAt);
    expect(creationTransitions(blank)).toEqual(chosen.transitions);
    expect(withFirstToken(blank, ETH_QUOTE)).toEqual(chosen.payment);
    expect(creationTransitions({ ...blank, api: 'transaction' })).toEqual([]);
  });
});
