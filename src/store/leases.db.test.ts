import { expect, it } from 'vitest';
import { testDatabase } from '../../test/database.ts';
import { holdLease, releaseLease } from './leases.ts';

const NOW = Date.UTC(2026, 5, 15, 12);
const LEASE_MS = 15_000;

async function lease() {
  const { db } = await testDatabase();
  return {
    hold: (holder: string, at: number) => holdLease(db, 'chain ethereum', holder, at, at + LEASE_MS),
    release: (holder: string) => releaseLease(db, 'chain ethereum', holder),
    holdOther: (holder: string) => holdLease(db, 'chain bitcoin', holder, NOW, NOW + LEASE_MS),
  };
}

it('a lease has one holder, also when many ask at once', async () => {
  const { hold } = await lease();
  const granted = await Promise.all(Array.from({ length: 20 }, (_, number) => hold(`worker ${number}`, NOW)));
  expect(granted.filter(Boolean).length).toBe(1);
});

it('its holder renews it, and another one waits until it has run out', async () => {
  const { hold } = await lease();
  expect(await hold('a', NOW)).toBe(true);
  expect(await hold('b', NOW + LEASE_MS - 1)).toBe(false);
  expect(await hold('a', NOW + LEASE_MS - 1)).toBe(true);
  expect(await hold('b', NOW + LEASE_MS + 1)).toBe(false);
  expect(await hold('b', NOW + 2 * LEASE_MS)).toBe(true);
});

it('a dead holder loses it to one other, and does not get it back', async () => {
  const { hold } = await lease();
  await hold('dead', NOW);
  const granted = await Promise.all(['b', 'c', 'd'].map((holder) => hold(holder, NOW + LEASE_MS)));
  expect(granted.filter(Boolean).length).toBe(1);
  expect(await hold('dead', NOW + LEASE_MS)).toBe(false);
});

it('one that was taken while the clock was a day ahead binds nobody once the clock is right', async () => {
  const { hold } = await lease();
  await hold('dead', NOW + 86_400_000);
  expect(await hold('b', NOW)).toBe(true);
  expect(await hold('c', NOW)).toBe(false);
});

it('given back it is free at once, but only its holder can give it back', async () => {
  const { hold, release } = await lease();
  await hold('a', NOW);
  await release('b');
  expect(await hold('b', NOW)).toBe(false);
  await release('a');
  expect(await hold('b', NOW)).toBe(true);
});

it('leases of other names do not matter', async () => {
  const { hold, holdOther } = await lease();
  await hold('a', NOW);
  expect(await holdOther('b')).toBe(true);
});
