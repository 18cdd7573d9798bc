import type { TroubleDetails, Troubles } from '../domain/trouble.ts';

/** One line on a trouble. Durations in milliseconds. */
export type TroubleLine = {
  readonly subject: string;
  readonly details: TroubleDetails;
} & (
  | { readonly kind: 'began'; readonly problem: unknown }
  /** `times`: failures that were not told yet; `problem`: the newest. */
  | { readonly kind: 'goes_on'; readonly problem: unknown; readonly times: number; readonly withinMs: number }
  /** `times`: all its failures. */
  | { readonly kind: 'over'; readonly times: number; readonly lastedMs: number }
);

export interface TroubleBook extends Troubles {
  /** Tells what has become due to be told; to be called every second or so. */
  look(): void;
}

/** A trouble is told when it begins; what comes after that is counted, and told once in this time. */
const TELL_EVERY_MS = 60_000;
/** Its end is told once nothing failed for so long after it worked: what fails every other time is one trouble. */
const CALM_MS = 10_000;
/** What neither failed nor worked for so long is nothing that anybody waits for: an endpoint that was deleted. */
const FORGET_MS = 3 * 24 * 60 * 60_000;
/** Beyond, the one that failed longest ago is forgotten. */
const MAX_TROUBLES = 10_000;

interface Trouble {
  /** Whether it can work again, or is a kind of thing that happens. */
  readonly lasts: boolean;
  beganMs: number;
  failedMs: number;
  /** When it was told of last. */
  toldMs: number;
  /** Whether its present spell was told of. */
  isTold: boolean;
  workedMs: number | null;
  isOver: boolean;
  untold: number;
  times: number;
  problem: unknown;
  details: TroubleDetails;
}

/**
 * Makes few lines of many failures: of each subject one when its trouble begins, one a minute while it goes on, with how often
 * it failed since, and one when it is over. No subject is told of oftener, however it comes and goes. `clock` counts
 * milliseconds and is set by nobody.
 */
export function keepTroubles(clock: () => number, tell: (line: TroubleLine) => void): TroubleBook {
  /** In the order of their last failures. */
  const troubles = new Map<string, Trouble>();

  const note = (subject: string, problem: unknown, details: TroubleDetails, lasts: boolean): void => {
    const now = clock();
    const known = troubles.get(subject);
    if (known === undefined) {
      makeRoom(troubles);
      troubles.set(subject, beginning(now, problem, details, lasts));
      tell({ kind: 'began', subject, problem, details });
      return;
    }
    if (known.isOver) Object.assign(known, { isOver: false, isTold: false, beganMs: now, times: 0, untold: 0 });
    Object.assign(known, { failedMs: now, workedMs: null, problem, details });
    known.untold += 1;
    known.times += 1;
    troubles.delete(subject);
    troubles.set(subject, known);
  };

  const tellOf = (subject: string, trouble: Trouble, now: number): void => {
    const { details, problem, workedMs } = trouble;
    if (!trouble.isOver && workedMs !== null && now - workedMs >= CALM_MS) {
      trouble.isOver = true;
      // A spell so short that nobody heard of it ends unheard too.
      if (!trouble.isTold) return;
      trouble.toldMs = now;
      tell({ kind: 'over', subject, details, times: trouble.times, lastedMs: workedMs - trouble.beganMs });
    } else if (!trouble.isOver && trouble.untold > 0 && now - trouble.toldMs >= TELL_EVERY_MS) {
      tell({ kind: 'goes_on', subject, details, problem, times: trouble.untold, withinMs: now - trouble.toldMs });
      Object.assign(trouble, { untold: 0, toldMs: now, isTold: true });
    }
  };

  const isForgotten = ({ isOver, lasts, toldMs, failedMs }: Trouble, now: number): boolean =>
    isOver || !lasts ? now - toldMs >= TELL_EVERY_MS : now - failedMs >= FORGET_MS;

  return {
    failed: (subject, problem, details = {}) => note(subject, problem, details, true),
    happened: (subject, problem, details = {}) => note(subject, problem, details, false),
    works: (subject) => {
      const trouble = troubles.get(subject);
      if (trouble !== undefined) trouble.workedMs ??= clock();
    },
    look: () => {
      const now = clock();
      for (const [subject, trouble] of troubles) {
        tellOf(subject, trouble, now);
        if (isForgotten(trouble, now)) troubles.delete(subject);
      }
    },
  };
}

function beginning(now: number, problem: unknown, details: TroubleDetails, lasts: boolean): Trouble {
  return {
    lasts,
    beganMs: now,
    failedMs: now,
    toldMs: now,
    isTold: true,
    workedMs: null,
    isOver: false,
    untold: 0,
    times: 1,
    problem,
    details,
  };
}

function makeRoom(troubles: Map<string, Trouble>): void {
  if (troubles.size < MAX_TROUBLES) return;
  const [oldest] = troubles.keys();
  if (oldest !== undefined) troubles.delete(oldest);
}
