import { PERIODS, type Period } from '../payments/search.ts';

export type { Period };

export function isPeriod(text: unknown): text is Period {
  return typeof text === 'string' && Object.hasOwn(PERIODS, text);
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** When a period began, by the hour, so that the same list keeps its name for a while. */
export function beginOf(period: Period, now: number): string {
  return new Date(Math.floor(now / HOUR_MS) * HOUR_MS - PERIODS[period] * DAY_MS).toISOString();
}

/** The filters of an address that are none of a log, or malformed. */
export function unreadOf(given: Readonly<Record<string, unknown>>, read: object): readonly string[] {
  return Object.keys(given).filter((name) => given[name] !== undefined && given[name] !== '' && !(name in read));
}
