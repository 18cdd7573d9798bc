const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const UNITS_MS: readonly number[] = [7 * DAY_MS, DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS];

const ISO_DURATION = /^P(?=.)(?:(\d{1,9})W)?(?:(\d{1,9})D)?(?:T(?=.)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})S)?)?$/;

/**
 * The milliseconds of an ISO 8601 duration in whole weeks, days, hours, minutes and seconds, such as `PT61M`; null for
 * anything else. Years and months are not taken, because they have no fixed length.
 */
export function parseDuration(text: string): number | null {
  const found = ISO_DURATION.exec(text);
  if (found === null) return null;
  return UNITS_MS.reduce((sum, unitMs, index) => sum + Number(found[index + 1] ?? 0) * unitMs, 0);
}
