import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createAddressesAhead } from './addresses-ahead.ts';

const numbered = (from: number, count: number, text = 'a') =>
  Array.from({ length: count }, (_, place) => `bitcoin ${text} ${from + place}`);

/** Wallets whose addresses tell their number, and how many were derived. */
function countedWallets() {
  const derived: string[] = [];
  const ahead = createAddressesAhead(async (_network, { text }, from, count) => {
    if (text === 'unreadable') return null;
    if (from + count > 2 ** 31) throw new RangeError('there is no such index');
    derived.push(...numbered(from, count, text));
    return numbered(from, count, text);
  });
  const take = (from: number, count: number, text = 'a') => ahead.take('bitcoin', { kind: 'xpub', text }, from, count);
  return { take, derived, stop: () => ahead.stop() };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('a quiet moment later, the next 1,000 addresses of a wallet cost nothing', async () => {
  const { take, derived } = countedWallets();
  expect(await take(7, 3)).toEqual(numbered(7, 3));
  await vi.advanceTimersByTimeAsync(60_000);
  const before = derived.length;
  for (let from = 10; from < 1_010; from += 50) expect(await take(from, 50)).toEqual(numbered(from, 50));
  expect(derived).toHaveLength(before);
});

it('nothing is derived ahead while addresses are being asked for, or after the stop', async () => {
  const { take, derived, stop } = countedWallets();
  for (let from = 0; from < 100; from += 1) {
    await take(from, 1);
    await vi.advanceTimersByTimeAsync(150);
  }
  expect(derived).toHaveLength(100);
  stop();
  await vi.advanceTimersByTimeAsync(60_000);
  await take(100, 1);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(derived).toHaveLength(101);
});

it('any number can be asked for at any time: what was not saved again, what others took never', async () => {
  const { take, derived } = countedWallets();
  await take(0, 10);
  await vi.advanceTimersByTimeAsync(60_000);
  const before = derived.length;
  expect(await take(5, 10)).toEqual(numbered(5, 10));
  expect(await take(5, 10)).toEqual(numbered(5, 10));
  expect(derived).toHaveLength(before);
  for (const from of [5_000, 3, 12, 2 ** 31 - 1]) expect(await take(from, 1)).toEqual(numbered(from, 1));
});

it('addresses that are asked for while others are being derived are the right ones', async () => {
  const pending: (() => void)[] = [];
  const ahead = createAddressesAhead(async (_network, { text }, from, count) => {
    await new Promise<void>((resolve) => pending.push(resolve));
    return numbered(from, count, text);
  });
  const take = (from: number, count: number) => ahead.take('bitcoin', { kind: 'xpub', text: 'a' }, from, count);
  const answer = async <Value>(promise: Promise<Value>): Promise<Value> => {
    pending.shift()?.();
    return promise;
  };
  expect(await answer(take(0, 2))).toEqual(numbered(0, 2));
  // The refill from 2 on is under way when another process has taken up to 9.
  await vi.advanceTimersByTimeAsync(200);
  const refill = pending.shift();
  expect(await answer(take(10, 2))).toEqual(numbered(10, 2));
  refill?.();
  await vi.advanceTimersByTimeAsync(0);
  expect(await answer(take(10, 3))).toEqual(numbered(10, 3));
});

it('what is kept is bounded: 1,200 addresses of 50 wallets, those used last', async () => {
  const { take, derived } = countedWallets();
  for (let wallet = 0; wallet < 60; wallet += 1) await take(0, 1, String(wallet));
  await vi.advanceTimersByTimeAsync(600_000);
  expect(derived).toHaveLength(60 + 50 * 1_200);
  expect(vi.getTimerCount()).toBe(0);
});

it('a wallet at its end, or one that cannot be read, is no trouble to the others', async () => {
  const { take } = countedWallets();
  expect(await take(0, 1, 'unreadable')).toBeNull();
  await take(0, 1, 'other');
  expect(await take(2 ** 31 - 2, 2, 'ending')).toHaveLength(2);
  await expect(take(2 ** 31 - 2, 3, 'ending')).rejects.toThrow(RangeError);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await take(1, 1, 'other')).toEqual(numbered(1, 1, 'other'));
});
