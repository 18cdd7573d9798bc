const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * The wait after each failed attempt, counted from its end. The specification lists the waits up to 24 hours and ten
 * attempts in total; the second 24 hours make the tenth: 68 h 36 min, within its "3 days".
 */
const WAITS_MS: readonly number[] = [
  0,
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
  24 * HOUR_MS,
  24 * HOUR_MS,
];

/** How often a delivery is attempted automatically; manual attempts are extra. */
export const MAX_DELIVERY_ATTEMPTS = WAITS_MS.length + 1;

/**
 * The wait from the end of the latest failed attempt to the next one, in milliseconds; null if none is left.
 *
 * @param failedAttempts automatic attempts that have failed so far, at least 1
 * @throws RangeError for anything but a positive integer
 */
export function nextAttemptDelayMs(failedAttempts: number): number | null {
  if (!Number.isInteger(failedAttempts) || failedAttempts < 1) {
    throw new RangeError(`failedAttempts must be a positive integer, not ${failedAttempts}`);
  }
  return WAITS_MS[failedAttempts - 1] ?? null;
}
