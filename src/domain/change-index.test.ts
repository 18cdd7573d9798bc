import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chooseChangeIndex, lastIndex, watchedCount } from './change-index.ts';

const GAP_LIMIT = 20;

/** A wallet that finds money as wallets do: it looks 20 addresses ahead of the last one that was paid. */
function found(paid: ReadonlySet<number>): ReadonlySet<number> {
  const known = new Set<number>();
  for (let index = 0, last = -1; index <= last + GAP_LIMIT; index += 1) {
    if (!paid.has(index)) continue;
    known.add(index);
    last = index;
  }
  return known;
}

type Step =
  | { readonly kind: 'show' }
  | { readonly kind: 'pay'; readonly which: number }
  | { readonly kind: 'end'; readonly which: number }
  | { readonly kind: 'wallet spends' }
  | { readonly kind: 'reorganisation' };

const which = fc.nat({ max: 1_000 });
const steps = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.constant<Step>({ kind: 'show' }) },
    { weight: 3, arbitrary: which.map((place): Step => ({ kind: 'pay', which: place })) },
    { weight: 2, arbitrary: which.map((place): Step => ({ kind: 'end', which: place })) },
    { weight: 1, arbitrary: fc.constant<Step>({ kind: 'wallet spends' }) },
    { weight: 1, arbitrary: fc.constant<Step>({ kind: 'reorganisation' }) },
  ),
  { maxLength: 600 },
);

describe('the number of a change address', () => {
  it('is the lowest that is neither seen nor in use', () => {
    expect(chooseChangeIndex({ seen: new Set(), open: new Map() })).toBe(0);
    expect(chooseChangeIndex({ seen: new Set([0, 1, 5]), open: new Map([[2, 1]]) })).toBe(3);
  });

  it('is never more than 19 above the highest seen, however many refunds are only shown', () => {
    const open = new Map<number, number>();
    for (let shown = 0; shown < 500; shown += 1) {
      const index = chooseChangeIndex({ seen: new Set([7]), open });
      expect(index).toBeLessThanOrEqual(26);
      open.set(index, (open.get(index) ?? 0) + 1);
    }
    expect([...open.keys()].toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 27 }, (_, index) => index).filter((index) => index !== 7),
    );
    // All of them get their share.
    expect(Math.max(...open.values()) - Math.min(...open.values())).toBeLessThanOrEqual(1);
  });

  it('is one that a wallet with a gap limit of 20 finds, whatever is shown, paid, ended, spent or reorganised', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const paid = new Set<number>();
        let open: number[] = [];
        let takenBack: number | null = null;
        const isOpen = (): ReadonlyMap<number, number> => {
          const counts = new Map<number, number>();
          for (const index of open) counts.set(index, (counts.get(index) ?? 0) + 1);
          return counts;
        };
        const end = (which: number): number | undefined => open.splice(which % Math.max(1, open.length), 1)[0];
        for (const step of all) {
          // A transaction that a reorganisation took back waits, and is mined again.
          const seen = new Set([...paid].filter((index) => index !== takenBack));
          takenBack = null;
          switch (step.kind) {
            case 'show':
              open = [...open, chooseChangeIndex({ seen, open: isOpen() })];
              break;
            case 'pay':
              paid.add(end(step.which) ?? 0);
              break;
            case 'end':
              end(step.which);
              break;
            case 'wallet spends':
              paid.add(Math.max(-1, ...paid) + 1);
              break;
            case 'reorganisation':
              takenBack = Math.max(0, ...paid);
              break;
          }
          expect(found(paid)).toEqual(paid);
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('what is watched of a change chain', () => {
  it('is the gap limit of wallets: twenty beyond the highest that was paid, and change goes to any but the last', () => {
    expect([watchedCount([]), lastIndex(new Set())]).toEqual([20, 18]);
    expect([watchedCount([5, 2]), lastIndex(new Set([5, 2]))]).toEqual([26, 24]);
  });
});
