import type { TroubleDetails, Troubles } from '../domain/trouble.ts';

/** One line about a trouble. Durations in milliseconds. */
export type TroubleLine = {
  readonly subject: string;
  readonly details: TroubleDetails;
} & (
  | { readonly kind: 'began'; readonly problem: unknown }
  /** `times`: failures not reported yet; `problem`: the latest. */
  | { readonly kind: 'goes_on'; readonly problem: unknown; readonly times: number; readonly withinMs: number }
  /** `times`: all its failures. */
  | { readonly kind: 'over'; readonly times: number; readonly lastedMs: number }
);

export interface TroubleReporter extends Troubles {
  /** Reports what is due; must be called about every second. */
  flush(): void;
}

/** A trouble is reported when it begins; further failures are counted and reported once per this interval. */
const REPORT_EVERY_MS = 60_000;
/**
 * A trouble is over if nothing failed for this long after a success: what fails every other time is a single trouble.
 */
const CALM_MS = 10_000;
/** How many different reasons of one subject are reported at once, including the first, until a minute is over. */
const MAX_REASONS = 12;
/** A subject that neither failed nor worked for this long is gone, such as a deleted endpoint. */
const FORGET_MS = 3 * 24 * 60 * 60_000;
/** Beyond this, the trouble that failed longest ago is dropped. */
const MAX_TROUBLES = 10_000;

interface Trouble {
  /** Whether it can work again, or is a one-off failure. */
  readonly lasts: boolean;
  beganMs: number;
  failedMs: number;
  /** When it was last reported. */
  reportedMs: number;
  /** Whether it was reported since it began. */
  isReported: boolean;
  workedMs: number | null;
  isOver: boolean;
  unreported: number;
  times: number;
  problem: unknown;
  details: TroubleDetails;
  /** The reasons reported since the minute began. */
  readonly reasons: Set<string>;
}

/**
 * Turns many failures into few lines. Per subject: one when its trouble begins, one per minute while it continues, with
 * the number of failures since, and one when it is over. A reason that was not reported within the minute is reported
 * at once. No subject is reported more often, however it comes and goes. `clock` is monotonic, in milliseconds.
 * `reasonOf` gives a problem in one line.
 */
export function createTroubleReporter(
  clock: () => number,
  report: (line: TroubleLine) => void,
  reasonOf: (problem: unknown) => string = String,
): TroubleReporter {
  /** In the order of their last failures. */
  const troubles = new Map<string, Trouble>();

  const note = (subject: string, problem: unknown, details: TroubleDetails, lasts: boolean): void => {
    const now = clock();
    const reason = kindOf(reasonOf(problem));
    const known = troubles.get(subject);
    if (known === undefined) {
      dropOldest(troubles);
      troubles.set(subject, { ...beginning(now, problem, details), lasts, reasons: new Set([reason]) });
      report({ kind: 'began', subject, problem, details });
      return;
    }
    failAgain(known, now, problem, details);
    troubles.delete(subject);
    troubles.set(subject, known);
    if (known.reasons.has(reason) || known.reasons.size >= MAX_REASONS) return;
    known.reasons.add(reason);
    report(goesOn(subject, known, now));
  };

  const reportIfDue = (subject: string, trouble: Trouble, now: number): void => {
    if (trouble.isOver) return;
    if (trouble.workedMs !== null && now - trouble.workedMs >= CALM_MS) {
      trouble.isOver = true;
      // A trouble so short that it was never reported ends without a report too.
      if (trouble.isReported) report(end(subject, trouble, trouble.workedMs, now));
    } else if (trouble.unreported > 0 && now - trouble.reportedMs >= REPORT_EVERY_MS) {
      trouble.reasons.clear();
      trouble.reasons.add(kindOf(reasonOf(trouble.problem)));
      report(goesOn(subject, trouble, now));
    }
  };

  return {
    failed: (subject, problem, details = {}) => note(subject, problem, details, true),
    happened: (subject, problem, details = {}) => note(subject, problem, details, false),
    works: (subject) => {
      const trouble = troubles.get(subject);
      if (trouble !== undefined) trouble.workedMs ??= clock();
    },
    flush: () => {
      const now = clock();
      for (const [subject, trouble] of troubles) {
        reportIfDue(subject, trouble, now);
        if (isForgotten(trouble, now)) troubles.delete(subject);
      }
    },
  };
}

function failAgain(trouble: Trouble, now: number, problem: unknown, details: TroubleDetails): void {
  if (trouble.isOver)
    Object.assign(trouble, { isOver: false, isReported: false, beganMs: now, times: 0, unreported: 0 });
  Object.assign(trouble, { failedMs: now, workedMs: null, problem, details });
  trouble.unreported += 1;
  trouble.times += 1;
}

function goesOn(subject: string, trouble: Trouble, now: number): TroubleLine {
  const { details, problem, unreported: times, reportedMs } = trouble;
  Object.assign(trouble, { unreported: 0, reportedMs: now, isReported: true });
  return { kind: 'goes_on', subject, details, problem, times, withinMs: now - reportedMs };
}

function end(subject: string, trouble: Trouble, workedMs: number, now: number): TroubleLine {
  const { details, times, beganMs } = trouble;
  trouble.reportedMs = now;
  return { kind: 'over', subject, details, times, lastedMs: workedMs - beganMs };
}

function isForgotten({ isOver, lasts, reportedMs, failedMs }: Trouble, now: number): boolean {
  return isOver || !lasts ? now - reportedMs >= REPORT_EVERY_MS : now - failedMs >= FORGET_MS;
}

function beginning(now: number, problem: unknown, details: TroubleDetails): Omit<Trouble, 'lasts' | 'reasons'> {
  return {
    beganMs: now,
    failedMs: now,
    reportedMs: now,
    isReported: true,
    workedMs: null,
    isOver: false,
    unreported: 0,
    times: 1,
    problem,
    details,
  };
}

/** Replaces numbers and hashes, which differ between failures of the same kind. */
function kindOf(reason: string): string {
  return reason.replaceAll(/(?:0x)?[0-9a-f]{8,}|\d+/gi, '#');
}

function dropOldest(troubles: Map<string, Trouble>): void {
  if (troubles.size < MAX_TROUBLES) return;
  const [oldest] = troubles.keys();
  if (oldest !== undefined) troubles.delete(oldest);
}
