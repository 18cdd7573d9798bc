/** The least number of addresses to skip: the lost hours may have been the best ever of a quiet shop. */
export const MIN_SKIP = 1_000;
/**
 * Added for each lost day, up to a week, so that the later of two restores starts beyond the addresses that the other
 * one handed out.
 */
const MIN_SKIP_A_DAY = 500;
const MIN_SKIP_DAYS = 7;
/** A factor on the busiest of the last thirty days: once plus once per lost day. */
const PACE_FACTOR = 2;
/** Two simultaneous restores that do not know of each other start at random distances. */
export const MAX_SPREAD = 1_000;
const DAY_MS = 86_400_000;

/**
 * How many numbers to skip, because they may have been handed out since the backup. Grows with the lost time: of two
 * restores of one backup, the later one starts further on, by twice the busiest pace times the time between them.
 */
export function skipOf(busiestDay: number, lostMs: number): number {
  const days = Math.max(0, lostMs) / DAY_MS;
  const pace = PACE_FACTOR * busiestDay;
  return Math.max(MIN_SKIP, pace) + Math.ceil(MIN_SKIP_A_DAY * Math.min(days, MIN_SKIP_DAYS) + pace * days);
}

/** More events than a service makes in a millisecond, so that a skip of positions is beyond what was lost. */
const EVENTS_A_MS = 10;
const MIN_POSITIONS = 1_000_000;

/**
 * How many positions of each log of events to skip, because they may have been given since the backup. `spread` keeps
 * two restores apart.
 */
export function skippedPositions(lostMs: number, spread: number): number {
  return MIN_POSITIONS * (1 + spread) + EVENTS_A_MS * Math.max(0, Math.ceil(lostMs));
}
