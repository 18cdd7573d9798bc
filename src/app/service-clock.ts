import type { Clock } from '../domain/clock.ts';
import { clockOffset, weightFor, type ClockReading } from '../domain/clock-reading.ts';

/** A larger error is reported, and a larger step of the machine's clock is not followed at once. */
const REPORTED_MS = 30_000;
/** With a larger error, no payments are made and nothing is due. */
const REFUSED_MS = 10 * 60_000;
/** A step that no source contradicts is followed after this time. */
const HELD_MS = 60 * 60_000;
/** Older readings do not count. */
const READING_LIFETIME_MS = 5 * 60_000;
/** The weight that proves a time: two sources, or the database alone, which all processes share. */
const PROOF_WEIGHT = 2;

/** The state of a process's clock. */
export interface ClockState {
  /** How far the machine's clock is ahead (negative: behind); 0 while it is right. */
  readonly aheadMs: number;
  /** The problem and what to do, for the operator; null: off by at most 30 seconds. */
  readonly problem: string | null;
  /** Why no payment can be made now, for the caller; null: payments can be made. */
  readonly refusal: string | null;
  /** The clock is proven to be off by more than ten minutes: nothing may expire or be completed by it. */
  readonly isWrong: boolean;
}

/** The clock of a process. It does not follow steps of the machine's clock before they are proven. */
export interface ServiceClock {
  /** In epoch milliseconds. */
  readonly now: Clock;
  /** The machine's own clock. */
  readonly machine: Clock;
  /** Takes in the current time of a source; it replaces the source's last one. */
  readonly note: (reading: ClockReading) => void;
  /** Forgets the last reading of a source. */
  readonly forget: (source: string) => void;
  /** Decides whether to follow a step, and judges the clock anew. Called every few seconds. */
  readonly look: () => ClockState;
  /** The state as last judged. */
  readonly state: () => ClockState;
}

export interface ClockParts {
  /** The machine's clock in epoch milliseconds, which may be set. */
  readonly machine: Clock;
  /** Milliseconds of a clock that is cheap to read and never set. It may stand still while the machine sleeps. */
  readonly elapsed: () => number;
  /** The same as `elapsed`, but goes on while the machine sleeps. */
  readonly awake: () => number;
}

/** The state of a clock that is right. */
export const RIGHT_CLOCK: ClockState = { aheadMs: 0, problem: null, refusal: null, isWrong: false };

/**
 * The machine's clock, except after a step of more than 30 seconds (docs/decisions/0234): then the time goes on as if
 * the clock had not been set, until other sources prove that the machine's clock is right, or until an hour has passed
 * and no source contradicts it. A machine that has slept is not a step.
 */
export function createServiceClock({ machine, elapsed, awake }: ClockParts): ServiceClock {
  const readings = new Map<string, ClockReading & { readonly at: number }>();
  let anchor = { machine: machine(), elapsed: elapsed(), awake: awake() };
  let step: { readonly ms: number; readonly since: number } | null = null;
  let state = RIGHT_CLOCK;

  const now = (): number => {
    const shown = machine();
    if (Math.abs(shown - (anchor.machine + elapsed() - anchor.elapsed)) <= REPORTED_MS) return shown;
    const unset = anchor.machine + Math.max(elapsed() - anchor.elapsed, awake() - anchor.awake);
    return Math.abs(shown - unset) <= REPORTED_MS ? shown : unset;
  };

  /** The sources' readings, moved on to the present. */
  const current = (): readonly ClockReading[] => {
    const at = awake();
    for (const [source, reading] of readings) {
      if (at - reading.at > READING_LIFETIME_MS) readings.delete(source);
    }
    return [...readings.values()].map((reading) => ({
      ...reading,
      earliest: reading.earliest + at - reading.at,
      latest: reading.latest + at - reading.at,
    }));
  };

  const follow = (): void => {
    anchor = { machine: machine(), elapsed: elapsed(), awake: awake() };
    step = null;
  };

  /** Follows a step that is proven, or that no source has contradicted for an hour. */
  const weighStep = (said: readonly ClockReading[]): void => {
    const own = now();
    const ms = machine() - own;
    // A small difference is no step: the clock ticks between two readings.
    if (Math.abs(ms) <= REPORTED_MS) return follow();
    if (step === null || Math.abs(step.ms - ms) > REPORTED_MS) step = { ms, since: awake() };
    const forStep = weightFor(said, machine(), own, REPORTED_MS);
    const against = weightFor(said, own, machine(), REPORTED_MS);
    const isProven = forStep >= PROOF_WEIGHT && forStep > against;
    if (isProven || (against === 0 && awake() - step.since >= HELD_MS)) follow();
  };

  return {
    now,
    machine,
    note: (reading) => void readings.set(reading.source, { ...reading, at: awake() }),
    forget: (source) => void readings.delete(source),
    look: () => {
      const said = current();
      weighStep(said);
      return (state = judge(said, now(), step?.ms ?? 0, machine()));
    },
    state: () => state,
  };
}

const WAY_OUT = 'Set the clock to the right time and keep it synchronised (timedatectl set-ntp true).';
const REFUSAL_END =
  'New payments cannot be created, because their times would be wrong. The operator must correct the clock.';

function judge(said: readonly ClockReading[], own: number, stepMs: number, shown: number): ClockState {
  const wrong = clockOffset(said, own, REFUSED_MS, PROOF_WEIGHT);
  const off = wrong ?? clockOffset(said, own, REPORTED_MS, 1);
  if (stepMs !== 0 && wrong === null) {
    const isContradicted = weightFor(said, own, shown, REPORTED_MS) > 0;
    return {
      aheadMs: stepMs,
      problem:
        `the clock of this machine was set ${stepMs > 0 ? 'forward' : 'back'} by ${duration(stepMs)} while the service was running. ` +
        `The service continues with its own time, ${isContradicted ? 'which other sources confirm' : 'for an hour at most'}. ${WAY_OUT} ` +
        'If the clock is right now, restart the service.',
      refusal:
        Math.abs(stepMs) > REFUSED_MS && !isContradicted
          ? `The clock of this service was set by ${duration(stepMs)}. ${REFUSAL_END}`
          : null,
      isWrong: false,
    };
  }
  if (off === null) return RIGHT_CLOCK;
  const direction = off.ms > 0 ? 'ahead' : 'behind';
  const consequence =
    wrong === null
      ? ''
      : ' Until then, no new payments are created, and no payment expires or completes because its time has come.';
  return {
    aheadMs: off.ms,
    problem: `the clock is ${duration(off.ms)} ${direction}, compared with ${off.sources.join(', ')}. ${WAY_OUT}${consequence}`,
    refusal: wrong === null ? null : `The clock of this service is ${duration(off.ms)} ${direction}. ${REFUSAL_END}`,
    isWrong: wrong !== null,
  };
}

/** A duration such as `45 s`, `12 min`, `26 h`. */
function duration(ms: number): string {
  const seconds = Math.round(Math.abs(ms) / 1_000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
