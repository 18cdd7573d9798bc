import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createAddressesAhead } from './addresses-ahead.ts';

/** A wallet whose addresses tell their number, and how many were derived. */
function countedWallets() {
  const derived: string[] = [];
  const addresses = createAddressesAhead((network, { text }) =>
    text === 'unreadable'
      ? null
      : {
          addressAt: (index) => `${network} ${text} ${index}`,
          addressesAt: (from, count) => {
            const made = Array.from({ length: count }, (_, place) => `${network} ${text} ${from + place}`);
            if (from + count > 2 ** 31) throw new RangeError('there is no such index');
            derived.push(...made);
            return made;
          },
        },
  );
  const of = (from: number, count: number, text = 'a') => addresses.of('bitcoin', { kind: 'xpub', text }, from, count);
  return { of, derived, stop: () => addresses.stop() };
}

const numbered = (from: number, count: number, text = 'a') =>
  Array.from({ length: count }, (_, place) => `bitcoin ${text} ${from + place}`);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('a quiet moment later, the next 1,000 addresses of a wallet cost nothing', () => {
  const { of, derived } = countedWallets();
  expect(of(7, 3)).toEqual(numbered(7, 3));
  vi.advanceTimersByTime(60_000);
  const before = derived.length;
  for (let from = 10; from < 1_010; from += 50) expect(of(from, 50)).toEqual(numbered(from, 50));
  expect(derived).toHaveLength(before);
});

it('nothing is derived ahead while addresses are being asked for, or after the stop', () => {
  const { of, derived, stop } = countedWallets();
  for (let from = 0; from < 100; from += 1) {
    of(from, 1);
    vi.advanceTimersByTime(150);
  }
  expect(derived).toHaveLength(100);
  stop();
  vi.advanceTimersByTime(60_000);
  of(100, 1);
  vi.advanceTimersByTime(60_000);
  expect(derived).toHaveLength(101);
});

it('any number can be asked for at any time: what was not saved again, what others took never', () => {
  const { of, derived } = countedWallets();
  of(0, 10);
  expect(of(0, 10)).toEqual(numbered(0, 10));
  expect(derived).toHaveLength(10);
  for (const from of [500, 3, 12, 2 ** 31 - 1]) expect(of(from, 1)).toEqual(numbered(from, 1));
});

it('what is kept is bounded: 1,200 addresses of 50 wallets, those used last', () => {
  const { of, derived } = countedWallets();
  for (let wallet = 0; wallet < 60; wallet += 1) of(0, 1, String(wallet));
  vi.advanceTimersByTime(600_000);
  expect(derived).toHaveLength(60 + 50 * 1_199);
  expect(vi.getTimerCount()).toBe(0);
});

it('a wallet at its end, or one that cannot be read, is no trouble to the others', () => {
  const { of } = countedWallets();
  expect(of(0, 1, 'unreadable')).toBeNull();
  of(0, 1, 'other');
  expect(of(2 ** 31 - 2, 2, 'ending')).toHaveLength(2);
  expect(() => of(2 ** 31 - 2, 3, 'ending')).toThrow(RangeError);
  vi.advanceTimersByTime(60_000);
  expect(of(1, 1, 'other')).toEqual(numbered(1, 1, 'other'));
});
