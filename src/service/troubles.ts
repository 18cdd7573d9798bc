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

export interface TroubleReporter extends Troubles {
  /** Tells what has become due to be told; to be called every second or so. */
  flush(): void;
}

/** A trouble is told when it begins; what comes after that is counted, and told once in this time. */
const REPORT_EVERY_MS = 60_000;
/** Its end is told once nothing failed for so long after it worked: what fails every other time is one trouble. */
const CALM_MS = 10_000;
/** Reasons of one subject that are told at once, with the first, until a minute is over. */
const MAX_REASONS = 12;
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
  reportedMs: number;
  /** Whether its present spell was told of. */
  isReported: boolean;
  workedMs: number | null;
  isOver: boolean;
  unreported: number;
  times: number;
  problem: unknown;
  details: TroubleDetails;
  /** What was told as its reason since the minute began. */
  readonly reasons: Set<string>;
}

/**
 * Makes few lines of many failures: of each subject one when its trouble begins, one a minute while it goes on, with
 * how often it failed since, and one when it is over; a reason that was not told within the minute is told at once. No
 * subject is told of oftener, however it comes and goes. `clock` counts milliseconds and is set by nobody. `reasonOf`:
 * a problem in one line.
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
      // A spell so short that nobody heard of it ends unheard too.
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

/** Numbers and hashes change from one failure to the next of a kind. */
function kindOf(reason: string): string {
  return reason.replaceAll(/(?:0x)?[0-9a-f]{8,}|\d+/gi, '#');
}

function dropOldest(troubles: Map<string, Trouble>): void {
  if (troubles.size < MAX_TROUBLES) return;
  const [oldest] = troubles.keys();
  if (oldest !== undefined) troubles.delete(oldest);
}
