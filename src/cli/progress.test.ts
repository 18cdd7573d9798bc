import { expect, it } from 'vitest';
import { megabytes, progressReporter } from './progress.ts';

/** A teller whose clock the test sets, and what it told. */
function start() {
  const told: string[] = [];
  let now = 0;
  const report = progressReporter(
    'Restored',
    () => now,
    (line) => told.push(line),
  );
  const at = (seconds: number, table: string, bytes: number, ofBytes: number | null = 40_000_000): void => {
    now = seconds * 1_000;
    report({ table, bytes, ofBytes });
  };
  return { told, at };
}

it('a short restore prints only its result, however long its database took to start', () => {
  const { told, at } = start();
  at(60, 'projects', 100);
  at(61, 'payments', 40_000_000);
  expect(told).toEqual([]);
});

it('a longer restore prints its progress from time to time, and at its end', () => {
  const { told, at } = start();
  at(60, 'projects', 100);
  at(65, 'payments', 9_000_000);
  at(70, 'payments', 20_000_000);
  at(71, 'payments', 30_000_000);
  at(72, 'events', 40_000_000);
  expect(told).toEqual([
    'Restored 20 MB of 40 MB (50 %), now payments',
    'Restored 40 MB of 40 MB (100 %), now its indexes',
  ]);
});

it('a backup, whose size is not known beforehand, prints its progress without a percentage', () => {
  const { told, at } = start();
  at(0, 'projects', 100, null);
  at(10, 'payments', 5_000_000, null);
  expect(told).toEqual(['Restored 5.0 MB, now payments']);
  expect([1, 24_662, 100_000, 20_000_000].map(megabytes)).toEqual(['1 kB', '25 kB', '0.1 MB', '20 MB']);
});
