import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coveredRefunds, type RefundClaim } from './refund-cover.ts';

const claims: fc.Arbitrary<readonly RefundClaim[]> = fc
  .array(fc.record({ units: fc.bigInt(1n, 9n), kind: fc.constantFrom('paid', 'open') }), { maxLength: 7 })
  .map((list) => list.map((claim, at) => ({ id: `${at}`, ...claim })));
const confirmed = fc.bigInt(0n, 30n);

function sumOf(list: readonly RefundClaim[]): bigint {
  return list.reduce((sum, { units }) => sum + units, 0n);
}

describe('whatever a payment received and its refunds are', () => {
  it('what was paid and what may be paid never exceed what is confirmed', () => {
    fc.assert(
      fc.property(confirmed, claims, (units, all) => {
        const covered = coveredRefunds(units, all);
        const paid = all.filter(({ kind }) => kind === 'paid');
        const open = all.filter(({ id }) => covered.has(id));
        for (const { kind } of open) expect(kind).toBe('open');
        expect(open.length === 0 || sumOf(paid) + sumOf(open) <= units).toBe(true);
      }),
    );
  });

  it('a refund is covered that fits beside what was paid and all that are older', () => {
    fc.assert(
      fc.property(confirmed, claims, (units, all) => {
        const covered = coveredRefunds(units, all);
        const fitting = all.filter((claim, at) => {
          const before = all.filter(({ kind }, other) => kind === 'paid' || other < at);
          return claim.kind === 'open' && sumOf(before) + claim.units <= units;
        });
        expect(fitting.filter(({ id }) => !covered.has(id))).toEqual([]);
      }),
    );
  });

  it('paying one that is covered leaves the other ones covered', () => {
    fc.assert(
      fc.property(confirmed, claims, (units, all) => {
        const covered = [...coveredRefunds(units, all)];
        const [first, ...others] = covered;
        const after = all.map((claim) => (claim.id === first ? { ...claim, kind: 'paid' as const } : claim));
        expect([...coveredRefunds(units, after)]).toEqual(others);
      }),
    );
  });
});
