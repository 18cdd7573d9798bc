import { describe, expect, it } from 'vitest';
import {
  AFTER,
  DAY_MS,
  EXPIRES_AT,
  MINUTE_MS,
  NOW,
  OWED_UNITS,
  confirmed,
  deadline,
  dropped,
  late,
  observed,
  otherChoice,
  payments,
  seen,
  transferWith,
  walked,
} from './payment.fixture.ts';
import { DEFAULT_POLICY, nextDueAt, transition } from './transition.ts';

const { created, pending, processing, confirming } = payments;

describe('in time', () => {
  it('is money first seen before expiry, though it confirms days later', () => {
    const inMempool = observed(pending, NOW, seen).payment;
    const later = { ...confirmed, blockAt: EXPIRES_AT + DAY_MS };
    const result = observed(inMempool, EXPIRES_AT + DAY_MS, later);
    expect(result.payment).toMatchObject({ status: 'completed', exception: 'none' });
  });

  it('is money in a block before expiry, though we saw it only after a downtime', () => {
    const found = transferWith({ firstSeenAt: AFTER, blockAt: EXPIRES_AT - 1, state: 'mined' });
    const result = observed(pending, AFTER, found);
    expect(result.payment).toMatchObject({ status: 'confirming', exception: 'none', graceUntil: null });
  });

  it('is not the moment of expiry itself: that money waits for the merchant', () => {
    const atExpiry = transferWith({ firstSeenAt: EXPIRES_AT });
    const result = observed(pending, EXPIRES_AT, atExpiry);
    expect(result.payment).toMatchObject({ status: 'pending', exception: 'paid_late' });
  });
});

describe('expiry', () => {
  it('waits until the rail has seen everything before it: downtime never expires a payment', () => {
    expect(transition(pending, deadline(EXPIRES_AT - 1), EXPIRES_AT + DAY_MS)).toEqual({ kind: 'unchanged' });
    expect(walked(pending, deadline(EXPIRES_AT), EXPIRES_AT + DAY_MS).payment.status).toBe('expired');
  });

  it('waits for no rail while no address was issued', () => {
    expect(walked(created, deadline(0), EXPIRES_AT).payment.status).toBe('expired');
  });

  it('does not come a millisecond early', () => {
    expect(transition(pending, deadline(EXPIRES_AT), EXPIRES_AT - 1)).toEqual({ kind: 'unchanged' });
  });

  it('never takes a payment while it confirms, however long that lasts', () => {
    const years = EXPIRES_AT + 1_000 * DAY_MS;
    expect(nextDueAt(confirming)).toBeNull();
    expect(transition(confirming, deadline(years), years)).toMatchObject({ kind: 'refused' });
  });

  it('leaves a seen payment its monitoring window, and fails it as unconfirmed at the end', () => {
    const end = EXPIRES_AT + DEFAULT_POLICY.monitoringMs;
    expect(nextDueAt(processing)).toBe(end);
    expect(transition(processing, deadline(end - 1), end - 1)).toEqual({ kind: 'unchanged' });
    const result = walked(processing, deadline(end), end);
    expect(result.payment).toMatchObject({ status: 'failed', failureReason: 'unconfirmed' });
    expect(result.steps).toEqual(['failed']);
  });

  it('tells of the expiry alone', () => {
    expect(walked(pending, deadline(AFTER), AFTER).steps).toEqual(['expired']);
  });
});

describe('a step back to pending', () => {
  const lost = observed(processing, AFTER, dropped).payment;
  const graceEnd = AFTER + 60 * MINUTE_MS;
  const replacement = transferWith({ transactionHash: '0x09', firstSeenAt: graceEnd - 1, state: 'confirmed' });

  it('before expiry gives no grace: the payment expires when it was to', () => {
    const back = observed(processing, NOW, dropped).payment;
    expect(back).toMatchObject({ status: 'pending', graceUntil: null });
    expect(nextDueAt(back)).toBe(EXPIRES_AT);
  });

  it('after expiry gives 60 minutes of grace', () => {
    expect(lost).toMatchObject({ status: 'pending', graceUntil: graceEnd });
    expect(nextDueAt(lost)).toBe(graceEnd);
    expect(transition(lost, deadline(graceEnd - 1), graceEnd - 1)).toEqual({ kind: 'unchanged' });
    expect(transition(lost, deadline(graceEnd - 1), graceEnd)).toEqual({ kind: 'unchanged' });
    expect(walked(lost, deadline(graceEnd), graceEnd).payment.status).toBe('expired');
  });

  it('counts a replacement within the grace as in time', () => {
    expect(observed(lost, graceEnd, replacement).payment).toMatchObject({ status: 'completed', exception: 'none' });
  });

  it('counts a replacement after the grace as late', () => {
    const tooLate = { ...replacement, firstSeenAt: graceEnd };
    expect(observed(lost, graceEnd, tooLate).payment).toMatchObject({ status: 'pending', exception: 'paid_late' });
  });

  it('takes a replacement that is seen in the same moment, with no talk of lateness', () => {
    const replaced = observed(processing, AFTER, dropped, { ...late, state: 'seen', blockAt: null });
    expect(replaced.path).toBe('processing > pending > processing');
    expect(replaced.payment).toMatchObject({ exception: 'none', graceUntil: graceEnd });
    expect(replaced.payment.received.inTime.seenUnits).toBe(OWED_UNITS);
    expect(replaced.steps).toEqual([]);
  });

  it('to processing needs no grace, since the money is still there', () => {
    const back = observed(confirming, AFTER, seen).payment;
    expect(back).toMatchObject({ status: 'processing', graceUntil: null, exception: 'none' });
  });

  it('allows no other token after expiry', () => {
    expect(transition(lost, otherChoice, AFTER)).toEqual({ kind: 'refused', reason: 'expired' });
  });
});
