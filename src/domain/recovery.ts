/** At least so many numbers are passed over: a quiet shop may have had its best hour in those that are lost. */
export const MIN_SKIP = 1_000;
/** And for each lost day at least so many more, of the first week: the later one of two restores begins beyond what the other sold. */
const MIN_SKIP_A_DAY = 500;
const MIN_SKIP_DAYS = 7;
/** Twice the busiest day of the last thirty, at once and for every day that is lost. */
const PACE_FACTOR = 2;
/** Restores of one moment, in places that know nothing of each other, begin apart by chance. */
export const MAX_SPREAD = 1_000;
const DAY_MS = 86_400_000;

/**
 * How many numbers are passed over by what may have been handed out since: the longer the time, the more, so that of two restores of
 * one backup the later one begins further on, by twice the busiest pace times the time between them.
 */
export function skipOf(busiestDay: number, lostMs: number): number {
  const days = Math.max(0, lostMs) / DAY_MS;
  const pace = PACE_FACTOR * busiestDay;
  return Math.max(MIN_SKIP, pace) + Math.ceil(MIN_SKIP_A_DAY * Math.min(days, MIN_SKIP_DAYS) + pace * days);
}
