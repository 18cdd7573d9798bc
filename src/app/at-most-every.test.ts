import { expect, it } from 'vitest';
import { atMostEvery } from './at-most-every.ts';

it('tells of the first, and then at most once in its time how many there were', () => {
  let now = 0;
  const told: unknown[] = [];
  const tell = atMostEvery(
    60_000,
    (fault: string, times) => told.push([now, fault, times]),
    () => now,
  );
  for (now = 0; now <= 120_000; now += 1_000) tell('away');
  expect(told).toEqual([
    [0, 'away', 1],
    [60_000, 'away', 60],
    [120_000, 'away', 60],
  ]);
  now = 600_000;
  tell('away again');
  expect(told.at(-1)).toEqual([600_000, 'away again', 1]);
});
