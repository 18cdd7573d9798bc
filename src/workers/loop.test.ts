import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startLoop, stoppedOrHanging } from './loop.ts';
import { NO_PROBLEM, noteProblems } from '../../test/problems.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Work whose rounds end when the test says so. */
function rounds() {
  const under: PromiseWithResolvers<boolean>[] = [];
  return {
    work: (): Promise<boolean> => {
      const round = Promise.withResolvers<boolean>();
      under.push(round);
      return round.promise;
    },
    count: (): number => under.length,
    end: async (more: boolean): Promise<void> => {
      under.at(-1)?.resolve(more);
      await vi.advanceTimersByTimeAsync(0);
    },
    fail: async (): Promise<void> => {
      under.at(-1)?.reject(new Error('the database is away'));
      await vi.advanceTimersByTimeAsync(0);
    },
  };
}

it('waits between rounds, and continues at once while there is more', async () => {
  const { work, count, end } = rounds();
  const loop = startLoop({ name: 'test', work, restMs: 500, problems: NO_PROBLEM });
  await end(true);
  expect(count()).toBe(2);
  await end(false);
  await vi.advanceTimersByTimeAsync(499);
  expect(count()).toBe(2);
  await vi.advanceTimersByTimeAsync(1);
  expect(count()).toBe(3);
  const stopped = loop.stop();
  await end(false);
  await stopped;
});

it('is woken out of its rest', async () => {
  const { work, count, end } = rounds();
  const loop = startLoop({ name: 'test', work, restMs: 1_000_000, problems: NO_PROBLEM });
  await end(false);
  loop.wake();
  await vi.advanceTimersByTimeAsync(0);
  expect(count()).toBe(2);
  const stopped = loop.stop();
  await end(false);
  await stopped;
});

it('runs another round if it is woken during one, because that one may have read too early', async () => {
  const { work, count, end } = rounds();
  const loop = startLoop({ name: 'test', work, restMs: 1_000_000, problems: NO_PROBLEM });
  loop.wake();
  loop.wake();
  expect(count()).toBe(1);
  await end(false);
  expect(count()).toBe(2);
  await end(false);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(count()).toBe(2);
  const stopped = loop.stop();
  await stopped;
});

it('reports a failed round and rests longer with each failure, up to five seconds, woken or not', async () => {
  const { work, count, end, fail } = rounds();
  const errors: string[] = [];
  const problems = noteProblems(({ subject, problem }) => void errors.push(`${subject}: ${String(problem)}`));
  const loop = startLoop({ name: 'test', work, restMs: 500, problems });
  for (const [index, restMs] of [1_000, 2_000, 4_000, 5_000, 5_000].entries()) {
    loop.wake();
    await fail();
    loop.wake();
    await vi.advanceTimersByTimeAsync(restMs - 1);
    expect(count()).toBe(index + 1);
    await vi.advanceTimersByTimeAsync(1);
    expect(count()).toBe(index + 2);
  }
  expect(errors).toEqual(Array.from({ length: 5 }, () => 'test: Error: the database is away'));
  await end(false);
  await vi.advanceTimersByTimeAsync(500);
  expect(count()).toBe(7);
  const stopped = loop.stop();
  await end(true);
  await stopped;
});

it('stops after the round that is under way, and out of a rest at once', async () => {
  const { work, count, end } = rounds();
  const loop = startLoop({ name: 'test', work, restMs: 500, problems: NO_PROBLEM });
  let isStopped = false;
  const stopped = loop.stop().then(() => (isStopped = true));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(isStopped).toBe(false);
  await end(true);
  await stopped;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(count()).toBe(1);

  const resting = rounds();
  const other = startLoop({ name: 'test', work: resting.work, restMs: 1_000_000, problems: NO_PROBLEM });
  await resting.end(false);
  await other.stop();
  expect(resting.count()).toBe(1);
});

it('stopping waits five seconds for a round that hangs on its node, and no longer', async () => {
  let isOver = false;
  const over = stoppedOrHanging(new Promise(() => {})).then(() => (isOver = true));
  await vi.advanceTimersByTimeAsync(4_999);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await over;
});
