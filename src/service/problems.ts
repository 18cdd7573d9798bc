import type { ProblemDetails, Problems } from '../domain/problems.ts';

/** One line about a problem. Durations in milliseconds. */
export type ProblemLine = {
  readonly subject: string;
  readonly details: ProblemDetails;
} & (
  | { readonly kind: 'began'; readonly problem: unknown }
  /** `times`: failures not reported yet; `problem`: the latest. */
  | { readonly kind: 'goes_on'; readonly problem: unknown; readonly times: number; readonly withinMs: number }
  /** `times`: all its failures. */
  | { readonly kind: 'over'; readonly times: number; readonly lastedMs: number }
);

export interface ProblemReporter extends Problems {
  /** Reports what is due; must be called about every second. */
  flush(): void;
}

/** A problem is reported when it begins; further failures are counted and reported once per this interval. */
const REPORT_EVERY_MS = 60_000;
/**
 * A problem is over if nothing failed for this long after a success: what fails every other time is a single problem.
 */
const CALM_MS = 10_000;
/** How many different reasons of one subject are reported at once, including the first, until a minute is over. */
const MAX_REASONS = 12;
/** A subject that neither failed nor worked for this long is gone, such as a deleted endpoint. */
const FORGET_MS = 3 * 24 * 60 * 60_000;
/** Beyond this, the problem that failed longest ago is dropped. */
const MAX_PROBLEMS = 10_000;

interface TrackedProblem {
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
  details: ProblemDetails;
  /** The reasons reported since the minute began. */
  readonly reasons: Set<string>;
}

/**
 * Turns many failures into few lines. Per subject: one when its problem begins, one per minute while it continues, with
 * the number of failures since, and one when it is over. A reason that was not reported within the minute is reported
 * at once. No subject is reported more often, however it comes and goes. `clock` is monotonic, in milliseconds.
 * `reasonOf` gives a problem in one line.
 */
export function createProblemReporter(
  clock: () => number,
  report: (line: ProblemLine) => void,
  reasonOf: (problem: unknown) => string = String,
): ProblemReporter {
  /** In the order of their last failures. */
  const problems = new Map<string, TrackedProblem>();

  const note = (subject: string, problem: unknown, details: ProblemDetails, lasts: boolean): void => {
    const now = clock();
    const reason = kindOf(reasonOf(problem));
    const ongoing = problems.get(subject);
    if (ongoing === undefined) {
      dropOldest(problems);
      problems.set(subject, { ...beginning(now, problem, details), lasts, reasons: new Set([reason]) });
      report({ kind: 'began', subject, problem, details });
      return;
    }
    failAgain(ongoing, now, problem, details);
    problems.delete(subject);
    problems.set(subject, ongoing);
    if (ongoing.reasons.has(reason) || ongoing.reasons.size >= MAX_REASONS) return;
    ongoing.reasons.add(reason);
    report(goesOn(subject, ongoing, now));
  };

  const reportIfDue = (subject: string, tracked: TrackedProblem, now: number): void => {
    if (tracked.isOver) return;
    if (tracked.workedMs !== null && now - tracked.workedMs >= CALM_MS) {
      tracked.isOver = true;
      // A problem so short that it was never reported ends without a report too.
      if (tracked.isReported) report(end(subject, tracked, tracked.workedMs, now));
    } else if (tracked.unreported > 0 && now - tracked.reportedMs >= REPORT_EVERY_MS) {
      tracked.reasons.clear();
      tracked.reasons.add(kindOf(reasonOf(tracked.problem)));
      report(goesOn(subject, tracked, now));
    }
  };

  return {
    failed: (subject, problem, details = {}) => note(subject, problem, details, true),
    happened: (subject, problem, details = {}) => note(subject, problem, details, false),
    works: (subject) => {
      const tracked = problems.get(subject);
      if (tracked !== undefined) tracked.workedMs ??= clock();
    },
    flush: () => {
      const now = clock();
      for (const [subject, tracked] of problems) {
        reportIfDue(subject, tracked, now);
        if (isForgotten(tracked, now)) problems.delete(subject);
      }
    },
  };
}

function failAgain(tracked: TrackedProblem, now: number, problem: unknown, details: ProblemDetails): void {
  if (tracked.isOver)
    Object.assign(tracked, { isOver: false, isReported: false, beganMs: now, times: 0, unreported: 0 });
  Object.assign(tracked, { failedMs: now, workedMs: null, problem, details });
  tracked.unreported += 1;
  tracked.times += 1;
}

function goesOn(subject: string, tracked: TrackedProblem, now: number): ProblemLine {
  const { details, problem, unreported: times, reportedMs } = tracked;
  Object.assign(tracked, { unreported: 0, reportedMs: now, isReported: true });
  return { kind: 'goes_on', subject, details, problem, times, withinMs: now - reportedMs };
}

function end(subject: string, tracked: TrackedProblem, workedMs: number, now: number): ProblemLine {
  const { details, times, beganMs } = tracked;
  tracked.reportedMs = now;
  return { kind: 'over', subject, details, times, lastedMs: workedMs - beganMs };
}

function isForgotten({ isOver, lasts, reportedMs, failedMs }: TrackedProblem, now: number): boolean {
  return isOver || !lasts ? now - reportedMs >= REPORT_EVERY_MS : now - failedMs >= FORGET_MS;
}

function beginning(now: number, problem: unknown, details: ProblemDetails): Omit<TrackedProblem, 'lasts' | 'reasons'> {
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

function dropOldest(problems: Map<string, TrackedProblem>): void {
  if (problems.size < MAX_PROBLEMS) return;
  const [oldest] = problems.keys();
  if (oldest !== undefined) problems.delete(oldest);
}
