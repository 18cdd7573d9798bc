import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OWED_UNITS } from './payment.fixture.ts';
import { REFUND_LIFETIME_MS, refundTransition, type Refund, type RefundObservation } from './refund.ts';

const NOW = Date.UTC(2026, 0, 16);

function refundWith(facts: Partial<Refund> = {}): Refund {
  return {
    id: '019bbf3a-0000-7000-8000-000000000003',
    projectId: '019bbf3a-0000-7000-8000-000000000002',
    mode: 'live',
    paymentId: '019bbf3a-0000-7000-8000-000000000001',
    paymentApi: 'order',
    status: 'pending',
    amountMinor: 10_000n,
    currency: 'USD',
    asset: 'ETH',
    network: 'ethereum',
    decimals: 18,
    units: OWED_UNITS,
    address: null,
    reason: null,
    failureReason: null,
    transactionHash: null,
    createdAt: NOW,
    completedAt: null,
    dueAt: NOW + 1_000,
    ...facts,
  };
}

describe('a refund’s status', () => {
  const paid: RefundObservation = { kind: 'paid', transactionHash: '0x0f' };

  it('completes when it is seen paid, with hash and time, and is not due again', () => {
    expect(refundTransition(refundWith(), paid, NOW)).toEqual({
      kind: 'changed',
      refund: refundWith({ status: 'completed', transactionHash: '0x0f', completedAt: NOW, dueAt: null }),
    });
  });

  it.each(['cancelled', 'unpaid', 'test_failure'] as const)('fails as %s, and is due no more', (reason) => {
    expect(refundTransition(refundWith(), { kind: 'failed', reason }, NOW)).toEqual({
      kind: 'changed',
      refund: refundWith({ status: 'failed', failureReason: reason, dueAt: null }),
    });
  });

  it('waits again, with its whole time, when a reorganisation takes back what completed it', () => {
    const done = refundWith({ status: 'completed', transactionHash: '0x0f', completedAt: NOW, dueAt: null });
    expect(refundTransition(done, { kind: 'taken_back' }, NOW + 5)).toEqual({
      kind: 'changed',
      refund: refundWith({ dueAt: NOW + 5 + REFUND_LIFETIME_MS }),
    });
  });

  it('changes by no other way, and its facts are those of its status, whatever is observed', () => {
    const observation: fc.Arbitrary<RefundObservation> = fc.oneof(
      fc.constant(paid),
      fc.constant({ kind: 'taken_back' as const }),
      fc.constantFrom('cancelled', 'unpaid', 'test_failure').map((reason) => ({ kind: 'failed' as const, reason })),
    );
    const next = { paid: 'completed', taken_back: 'pending', failed: 'failed' } as const;
    const from = { paid: 'pending', taken_back: 'completed', failed: 'pending' } as const;
    fc.assert(
      fc.property(fc.array(observation), (observations) => {
        let refund = refundWith();
        for (const each of observations) {
          const result = refundTransition(refund, each, NOW);
          expect(result.kind).toBe(refund.status === from[each.kind] ? 'changed' : 'refused');
          if (result.kind === 'refused') continue;
          refund = result.refund;
          const { status } = refund;
          expect(status).toBe(next[each.kind]);
          expect(refund.completedAt !== null).toBe(status === 'completed');
          expect(refund.transactionHash !== null).toBe(status === 'completed');
          expect(refund.failureReason !== null).toBe(status === 'failed');
          expect(refund.dueAt !== null).toBe(status === 'pending');
        }
      }),
    );
  });
});
