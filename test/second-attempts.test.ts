import { expect, it } from 'vitest';
import { secondAttempts } from './second-attempts.ts';

const tried = (fullName: string, passed: boolean, retryCount: number | null) => ({
  fullName,
  module: { relativeModuleId: 'test/a.test.ts' },
  ok: () => passed,
  diagnostic: () =>
    retryCount === null
      ? undefined
      : { slow: false, heap: undefined, duration: 1, startTime: 0, retryCount, repeatCount: 0, flaky: retryCount > 0 },
});

it('names and counts the tests that passed at a second attempt, not those that failed twice or were skipped', () => {
  const tests = [tried('b', true, 1), tried('once', true, 0), tried('a', true, 1), tried('twice', false, 1)];
  expect(secondAttempts([...tests, tried('skipped', true, null)])).toEqual([
    '2 passed at a second attempt alone (docs/decisions/0171):',
    'test/a.test.ts > a',
    'test/a.test.ts > b',
  ]);
  expect(secondAttempts([tried('once', true, 0)])).toEqual([]);
});
