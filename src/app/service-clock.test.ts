import { describe, expect, it } from 'vitest';
import type { ClockReading } from '../domain/clock-reading.ts';
import { createServiceClock } from './service-clock.ts';

const START = Date.UTC(2026, 5, 15, 12);
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A machine whose time passes, whose clock is set, and which sleeps; `truth` is the time of everybody else. */
function machine() {
  let [shown, elapsed, awake, truth] = [START, 0, 0, START];
  const clock = createServiceClock({ machine: () => shown, elapsed: () => elapsed, awake: () => awake });
  const pass = (ms: number): void => {
    shown += ms;
    elapsed += ms;
    awake += ms;
    truth += ms;
  };
  return {
    clock,
    truth: () => truth,
    pass,
    /** Lets time pass with a look every ten seconds. */
    watch: (ms: number, say: () => void = () => {}): void => {
      for (let left = ms; left > 0; left -= 10 * SECOND) {
        pass(Math.min(left, 10 * SECOND));
        say();
        clock.look();
      }
    },
    set: (ms: number): void => void (shown += ms),
    sleep: (ms: number): void => {
      shown += ms;
      awake += ms;
      truth += ms;
    },
    say: (source: string, at: number, weight = 1): void => clock.note({ source, earliest: at, latest: at, weight }),
  };
}

it('a clock that ticks between two readings was not set', () => {
  let at = START;
  const read = (): number => (at += 1);
  const clock = createServiceClock({ machine: read, elapsed: () => read() - START, awake: () => read() - START });
  expect(clock.look()).toEqual({ aheadMs: 0, problem: null, refusal: null, isWrong: false });
});

describe('a step of the machine’s clock', () => {
  it.each([DAY - SECOND, -(DAY - SECOND), 31 * SECOND, -31 * SECOND])(
    'by %s ms that is set right within the hour is never followed, and nobody makes payments by it beyond ten minutes',
    (ms) => {
      const { clock, watch, set, pass, truth } = machine();
      watch(MINUTE);
      set(ms);
      expect(clock.now()).toBe(truth());
      watch(59 * MINUTE);
      expect(clock.now()).toBe(truth());
      const isFar = Math.abs(ms) > 10 * MINUTE;
      expect(clock.state()).toMatchObject({ aheadMs: ms, isWrong: false });
      expect(clock.state().problem).toMatch(/was set (forward|back) by .* while the service was running/);
      expect(clock.state().refusal === null).toBe(!isFar);
      set(-ms);
      pass(SECOND);
      expect(clock.look()).toEqual({ aheadMs: 0, problem: null, refusal: null, isWrong: false });
      expect(clock.now()).toBe(truth());
    },
  );

  it('that nobody contradicts is followed after an hour', () => {
    const { clock, watch, set, truth } = machine();
    watch(MINUTE);
    set(DAY);
    watch(HOUR + 10 * SECOND);
    expect(clock.now()).toBe(truth() + DAY);
    expect(clock.state().problem).toBeNull();
  });

  it('that is set once more begins its hour anew', () => {
    const { clock, watch, set, truth } = machine();
    set(DAY);
    watch(59 * MINUTE);
    set(-HOUR);
    watch(59 * MINUTE);
    expect(clock.now()).toBe(truth());
  });

  it('that two sources confirm is followed at once, and one that a single source confirms is not', () => {
    const { clock, set, say, truth } = machine();
    set(DAY);
    say('a', truth() + DAY);
    clock.look();
    expect(clock.now()).toBe(truth());
    say('b', truth() + DAY);
    clock.look();
    expect(clock.now()).toBe(truth() + DAY);
  });

  it('that a source contradicts is not followed, and payments go on by the service’s own time', () => {
    const { clock, watch, set, say, truth } = machine();
    set(DAY);
    watch(3 * HOUR, () => say('a', truth()));
    expect(clock.now()).toBe(truth());
    expect(clock.state()).toMatchObject({ aheadMs: DAY, refusal: null, isWrong: false });
    expect(clock.state().problem).toContain('which other sources confirm');
  });

  it('of half a minute and less is followed at once, and so is a machine that wakes up', () => {
    const { clock, watch, set, sleep, truth } = machine();
    set(30 * SECOND);
    expect(clock.now()).toBe(truth() + 30 * SECOND);
    clock.look();
    set(-60 * SECOND);
    clock.look();
    set(30 * SECOND);
    watch(10 * SECOND);
    sleep(8 * HOUR);
    expect(clock.now()).toBe(truth());
    expect(clock.look().problem).toBeNull();
  });
});

describe('a clock', () => {
  const judged = (...readings: readonly (readonly [string, number, number?])[]) => {
    const { clock, say, truth } = machine();
    for (const [source, off, weight] of readings) say(source, truth() - off, weight);
    return clock.look();
  };
  const RIGHT = { aheadMs: 0, problem: null, refusal: null, isWrong: false };

  it('is called wrong from half a minute on, and makes no payments from ten minutes on', () => {
    expect(judged(['a', 30 * SECOND])).toEqual(RIGHT);
    expect(judged(['a', 31 * SECOND])).toMatchObject({ aheadMs: 31 * SECOND, refusal: null, isWrong: false });
    expect(judged(['a', -10 * MINUTE, 2])).toMatchObject({ aheadMs: -10 * MINUTE, refusal: null, isWrong: false });
    expect(judged(['the database', -2 * HOUR, 2])).toEqual({
      aheadMs: -2 * HOUR,
      problem: expect.stringMatching(/^the clock is 2 h behind, compared with the database\. Set the clock to the/),
      refusal: expect.stringMatching(/^The clock of this service is 2 h behind\. New payments cannot be created/),
      isWrong: true,
    });
  });

  it('is never stopped by one crooked source, nor called wrong where as many say that it is right', () => {
    expect(judged(['a', DAY])).toMatchObject({ aheadMs: DAY, refusal: null, isWrong: false });
    expect(judged(['a', DAY], ['b', 0])).toEqual(RIGHT);
    expect(judged(['a', DAY], ['b', -DAY])).toEqual(RIGHT);
    expect(judged(['the database', DAY, 2], ['b', 0], ['c', 0])).toEqual(RIGHT);
    expect(judged(['a', DAY], ['b', HOUR], ['c', 0])).toMatchObject({ aheadMs: HOUR, isWrong: true });
  });

  it('is judged by what was said in the last five minutes', () => {
    const { clock, say, watch, truth } = machine();
    say('the database', truth() - HOUR, 2);
    watch(5 * MINUTE);
    expect(clock.state().isWrong).toBe(true);
    watch(10 * SECOND);
    expect(clock.state()).toEqual(RIGHT);
    say('the database', truth() - HOUR, 2);
    clock.forget('the database');
    expect(clock.look()).toEqual(RIGHT);
  });

  it('is proven to be behind, and not to be ahead, by a source that only knows what is over', () => {
    const { clock, truth } = machine();
    const since = (earliest: number): ClockReading => ({ source: 'a', earliest, latest: Infinity, weight: 2 });
    clock.note(since(truth() - DAY));
    expect(clock.look()).toEqual(RIGHT);
    clock.note(since(truth() + HOUR));
    expect(clock.look()).toMatchObject({ aheadMs: -HOUR, isWrong: true });
    clock.note({ source: 'b', earliest: truth() - DAY, latest: Infinity, weight: 2 });
    expect(clock.look()).toMatchObject({ aheadMs: -HOUR, isWrong: true });
  });
});
