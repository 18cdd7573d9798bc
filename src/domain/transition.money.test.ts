import { describe, expect, it } from 'vitest';
import type { Transfer } from './payment.ts';
import {
  AFTER,
  CREATED_AT,
  ETH_QUOTE,
  EXPIRES_AT,
  MINUTE_MS,
  NOW,
  OWED_UNITS,
  accept,
  byHand,
  cancel,
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
import { exceptionOf } from './exception.ts';
import { nextDueAt, transition } from './transition.ts';

const { pending, underpaid, processing, confirming, completed, expired } = payments;

describe('a partial payment', () => {
  it('stays pending and says underpaid, once', () => {
    const first = observed(pending, NOW, part);
    expect(first).toMatchObject({ transitions: [], steps: ['exception'] });
    expect(first.payment).toMatchObject({ status: 'pending', exception: 'underpaid' });
    const more = observed(first.payment, NOW, part, { ...part, index: 1, amountUnits: 1n });
    expect(more).toMatchObject({ transitions: [], steps: [] });
  });

  it('is complete with the rest, which may come in several transfers', () => {
    const rest = { ...part, transactionHash: '0x02', firstSeenAt: NOW, state: 'seen' as const };
    const result = observed(underpaid, NOW, part, rest);
    expect(result.payment).toMatchObject({ status: 'processing', exception: 'none' });
    expect(result.steps).toEqual(['confirming']);
  });

  it.each([
    ['seen', 'processing'],
    ['mined', 'confirming'],
    ['confirmed', 'completed'],
  ] as const)('is enough %s when only the tolerance is missing, and not with a unit less', (state, status) => {
    const least = OWED_UNITS - ETH_QUOTE.toleranceUnits;
    const paid = transferWith({ state, amountUnits: least });
    expect(observed(pending, NOW, paid).payment).toMatchObject({ status, exception: 'none' });
    const short = { ...paid, amountUnits: least - 1n };
    expect(observed(pending, NOW, short).payment).toMatchObject({ status: 'pending', exception: 'underpaid' });
  });

  it('fails as underpaid at expiry, once the rail has seen that far', () => {
    expect(transition(underpaid, deadline(EXPIRES_AT - 1), AFTER)).toEqual({ kind: 'unchanged' });
    const result = walked(underpaid, deadline(EXPIRES_AT), AFTER);
    expect(result.payment).toMatchObject({ status: 'failed', failureReason: 'underpaid', exception: 'underpaid' });
    expect(result.steps).toEqual(['failed']);
  });

  it('fails as well when the rest came late', () => {
    const both = observed(underpaid, AFTER, part, { ...late, amountUnits: OWED_UNITS }).payment;
    expect(both).toMatchObject({ status: 'pending', exception: 'paid_late' });
    expect(walked(both, deadline(AFTER), AFTER).payment).toMatchObject({ status: 'failed', exception: 'paid_late' });
  });

  it('keeps its token and cannot be cancelled', () => {
    expect(transition(underpaid, otherChoice, NOW)).toEqual({ kind: 'refused', reason: 'money_seen' });
    expect(transition(underpaid, cancel, NOW)).toEqual({ kind: 'refused', reason: 'money_seen' });
  });
});

describe('overpayment', () => {
  const over = (excess: bigint): Transfer => transferWith({ amountUnits: OWED_UNITS + excess, state: 'confirmed' });

  it('completes the payment and says overpaid', () => {
    const result = observed(pending, NOW, over(ETH_QUOTE.toleranceUnits + 1n));
    expect(result.payment).toMatchObject({ status: 'completed', exception: 'overpaid' });
    expect(result.steps).toEqual(['confirming', 'completed', 'exception']);
  });

  it('within the tolerance is none', () => {
    expect(observed(pending, NOW, over(ETH_QUOTE.toleranceUnits)).payment.exception).toBe('none');
  });

  it('is no overpayment yet while what is too much only waits, for it may be replaced', () => {
    const more = { ...seen, transactionHash: '0x03' };
    const waiting = observed(completed, AFTER, confirmed, more);
    expect(waiting).toMatchObject({ transitions: [], steps: [] });
    expect(waiting.payment).toMatchObject({ exception: 'none' });
    expect(
      observed(waiting.payment, AFTER, confirmed, { ...more, state: 'mined', blockAt: NOW }).payment,
    ).toMatchObject({
      exception: 'overpaid',
    });
  });

  it('is noticed after completion too, and changes no status', () => {
    const result = observed(completed, AFTER, confirmed, late);
    expect(result).toMatchObject({ transitions: [], steps: ['exception'] });
    expect(result.payment).toMatchObject({ status: 'completed', exception: 'overpaid' });
  });
});

describe('late money', () => {
  it.each(['expired', 'cancelled', 'failed'] as const)(
    'on a payment that is %s is recorded, and changes no status',
    (status) => {
      const known = status === 'failed' ? [part] : [];
      const result = observed(payments[status], AFTER, ...known, late);
      expect(result).toMatchObject({ transitions: [], steps: ['exception'] });
      expect(result.payment).toMatchObject({ status, exception: 'paid_late' });
      expect(result.payment.received.all.confirmedUnits).toBe(
        OWED_UNITS + (status === 'failed' ? part.amountUnits : 0n),
      );
    },
  );

  it('completes nothing by itself, though the deadline is not drawn yet', () => {
    const waiting = observed(pending, AFTER, late).payment;
    expect(waiting).toMatchObject({ status: 'pending', exception: 'paid_late' });
    expect(walked(waiting, deadline(AFTER), AFTER).payment).toMatchObject({
      status: 'expired',
      exception: 'paid_late',
    });
  });

  it('is money too that confirms only after the payment failed as unconfirmed', () => {
    const unconfirmed = walked(processing, byHand, AFTER).payment;
    expect(unconfirmed).toMatchObject({ failureReason: 'unconfirmed', exception: 'none' });
    const result = observed(unconfirmed, AFTER, { ...confirmed, blockAt: AFTER });
    expect(result.payment).toMatchObject({ status: 'failed', exception: 'paid_late' });
    expect(walked(result.payment, accept, AFTER).payment).toMatchObject({ status: 'completed', failureReason: null });
  });
});

describe('accepting', () => {
  const lateHalf = { ...late, amountUnits: OWED_UNITS / 2n };

  it('completes on the confirmed money that is there, with its hash, and tells of the completion', () => {
    const paid = observed(expired, AFTER, lateHalf).payment;
    const result = walked(paid, accept, AFTER);
    expect(result.steps).toEqual(['completed']);
    expect(result.payment).toMatchObject({
      status: 'completed',
      completedAt: AFTER,
      transactionHash: late.transactionHash,
      completedOnUnits: OWED_UNITS / 2n,
    });
  });

  it('needs confirmed money: what is in the mempool or a block is not enough', () => {
    expect(transition(expired, accept, AFTER)).toEqual({ kind: 'refused', reason: 'no_confirmed_money' });
    for (const state of ['seen', 'mined'] as const) {
      const paid = observed(expired, AFTER, { ...lateHalf, state }).payment;
      expect(transition(paid, accept, AFTER)).toEqual({ kind: 'refused', reason: 'no_confirmed_money' });
    }
  });

  it('needs money that was not given or promised back', () => {
    const paid = observed(expired, AFTER, lateHalf).payment;
    const after = (refundedUnits: bigint) => transition(paid, { kind: 'accepted', refundedUnits }, AFTER);
    expect(after(OWED_UNITS / 2n)).toEqual({ kind: 'refused', reason: 'refunded' });
    expect(after(OWED_UNITS)).toEqual({ kind: 'refused', reason: 'refunded' });
    expect(after(OWED_UNITS / 2n - 1n)).toMatchObject({ kind: 'changed', payment: { status: 'completed' } });
  });

  it('takes a pending payment only when it is underpaid', () => {
    expect(transition(pending, accept, NOW)).toEqual({ kind: 'refused', reason: 'not_open' });
    expect(transition(processing, accept, NOW)).toEqual({ kind: 'refused', reason: 'not_open' });
    expect(walked(underpaid, accept, NOW).payment).toMatchObject({ status: 'completed', exception: 'underpaid' });
  });

  it('happens once', () => {
    const accepted = walked(underpaid, accept, NOW).payment;
    expect(transition(accepted, accept, NOW)).toEqual({ kind: 'refused', reason: 'already_completed' });
  });

  it('notices when the money that it stood on is reorganised away, though more was asked for', () => {
    const accepted = walked(underpaid, accept, NOW).payment;
    expect(transition(accepted, money(accepted, part), NOW)).toEqual({ kind: 'unchanged' });
    expect(observed(accepted, NOW).payment).toMatchObject({ status: 'completed', exception: 'reorged' });
  });
});

describe('a reorganisation', () => {
  it('before completion steps back, and forward again without a second event of it', () => {
    const back = observed(confirming, NOW, dropped);
    expect(back).toMatchObject({ path: 'confirming > pending', steps: [] });
    const again = observed(back.payment, NOW, { ...confirmed, transactionHash: '0x02' });
    expect(again.path).toBe('pending > processing > confirming > completed');
    expect(again.steps).toEqual(['completed']);
  });

  it('after completion leaves it completed and says reorged, until the money is back', () => {
    const hit = observed(completed, NOW, dropped);
    expect(hit).toMatchObject({ transitions: [], steps: ['exception'] });
    expect(hit.payment).toMatchObject({
      status: 'completed',
      exception: 'reorged',
      transactionHash: seen.transactionHash,
    });
    expect(hit.payment.completedAt).toBe(completed.completedAt);
    expect(observed(hit.payment, NOW, mined)).toMatchObject({ steps: [], payment: { exception: 'none' } });
  });

  it('back into the mempool counts as well: completion stands on blocks', () => {
    expect(observed(completed, NOW, seen).payment).toMatchObject({ status: 'completed', exception: 'reorged' });
  });
});

describe('the exception', () => {
  const twice = OWED_UNITS * 2n;
  const least = transferWith({ amountUnits: OWED_UNITS - ETH_QUOTE.toleranceUnits });

  it.each([
    ['none', paymentWith({ quote: null }), []],
    ['none', pending, [seen]],
    ['underpaid', pending, [part]],
    ['overpaid', pending, [{ ...seen, amountUnits: twice, state: 'mined' }]],
    ['paid_late before underpaid', pending, [{ ...late, amountUnits: 1n }]],
    ['paid_late before overpaid', pending, [{ ...late, amountUnits: twice }]],
    ['none, when just enough was in time', pending, [least, { ...late, amountUnits: 1n, state: 'seen' }]],
    ['paid_late, when an expired payment turns out to be paid in blocks', expired, [{ ...least, state: 'mined' }]],
    [
      'paid_late, when a failed payment turns out to be paid in blocks',
      payments.failed,
      [{ ...least, state: 'mined' }],
    ],
    ['paid_late, when money was seen for a cancelled payment, even unmined', payments.cancelled, [seen]],
    [
      'overpaid, when the late part was not needed',
      pending,
      [seen, late].map((one) => ({ ...one, state: 'mined' as const })),
    ],
    ['reorged before underpaid', completed, [{ ...part, state: 'seen' as const }]],
    ['reorged before paid_late', completed, [{ ...late, state: 'seen' as const }]],
    ['reorged before overpaid', completed, [{ ...seen, amountUnits: twice }]],
  ] as const)('is %s', (name, payment, transfers) => {
    const received = receivedOf(...transfers);
    expect(exceptionOf({ ...payment, received })).toBe(name.split(/[ ,]/)[0]);
  });
});

describe('confirming', () => {
  it('is sent at the first of processing or confirming, and never again', () => {
    expect(observed(pending, NOW, seen).steps).toEqual(['confirming']);
    expect(observed(pending, NOW, mined).steps).toEqual(['confirming']);
    expect(observed(processing, NOW, mined).steps).toEqual([]);
    const back = observed(processing, NOW, dropped).payment;
    expect(observed(back, NOW, seen).steps).toEqual([]);
  });
});

describe('observing the same money again', () => {
  it.each(['processing', 'confirming', 'completed', 'underpaid'] as const)(
    'changes nothing on a %s payment',
    (name) => {
      const transfers = { processing: seen, confirming: mined, completed: confirmed, underpaid: part };
      expect(transition(payments[name], money(payments[name], transfers[name]), AFTER)).toEqual({ kind: 'unchanged' });
    },
  );
});

describe('a replacement that pays the same', () => {
  it('changes no status, but what was received names the transaction that pays now', () => {
    const result = observed(processing, NOW, dropped, { ...seen, transactionHash: '0x02' });
    expect(result).toMatchObject({ transitions: [], steps: [] });
    expect(result.payment.received.transactionHash).toBe('0x02');
  });
});

describe('the sandbox', () => {
  const timed = { ...pending, mode: 'test' as const, completesAt: CREATED_AT + MINUTE_MS };

  it('completes by itself with one event alone and a hash', () => {
    const result = walked(timed, settled, CREATED_AT + MINUTE_MS);
    expect(result.steps).toEqual(['completed']);
    expect(result.payment).toMatchObject({ status: 'completed', exception: 'none', completesAt: null });
    expect(result.payment.transactionHash).toBe(confirmed.transactionHash);
    expect(result.payment.completedAt).toBe(CREATED_AT + MINUTE_MS);
  });

  it('gives a payment without a token the one that it settled in', () => {
    expect(walked(payments.created, settled, NOW).payment.quote).toEqual(ETH_QUOTE);
  });

  it('completes once', () => {
    expect(transition(completed, settled, NOW)).toEqual({ kind: 'refused', reason: 'already_completed' });
  });

  it('is due at the earlier of completion and expiry', () => {
    expect(nextDueAt(timed)).toBe(CREATED_AT + MINUTE_MS);
    expect(nextDueAt({ ...timed, expiresAt: CREATED_AT + 1 })).toBe(CREATED_AT + 1);
  });

  it('does not complete by itself after its timer was stopped, but still expires', () => {
    const stopped = walked(timed, { kind: 'timer_stopped' }, NOW);
    expect(stopped).toMatchObject({ transitions: [], steps: [], payment: { completesAt: null, status: 'pending' } });
    expect(nextDueAt(stopped.payment)).toBe(EXPIRES_AT);
    expect(transition(stopped.payment, { kind: 'timer_stopped' }, NOW)).toEqual({ kind: 'unchanged' });
  });

  it.each(['processing', 'confirming'] as const)('is due again where its money was seen: %s', (status) => {
    const set = walked(payments[status], { kind: 'timer_set', at: NOW + 5_000 }, NOW);
    expect(set).toMatchObject({ transitions: [], steps: [], payment: { completesAt: NOW + 5_000, status } });
    expect(nextDueAt(set.payment)).toBe(NOW + 5_000);
  });

  it.each(['created', 'prepared', 'pending', 'completed', 'expired', 'failed', 'cancelled'] as const)(
    'gets no further stage where there is none to come: %s',
    (status) => {
      const result = transition(payments[status], { kind: 'timer_set', at: NOW }, NOW);
      expect(result).toEqual({ kind: 'refused', reason: 'not_open' });
    },
  );
});
