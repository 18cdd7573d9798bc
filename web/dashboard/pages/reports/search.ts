import { aDay, present, readSearch, type Given, type SearchOf } from '../../search.ts';

export const PERIODS = ['this_month', 'last_month', 'this_quarter', 'last_quarter', 'this_year', 'last_year'] as const;
export const REPORTS = ['payments', 'transfers', 'refunds', 'sweeps', 'bookings'] as const;

/** The choices of the page in the URL. */
const RULES = {
  /** Defaults to the last month if `from` and `to` are absent too. */
  period: PERIODS,
  /** Days of the zone, both inclusive; both or neither. */
  from: aDay,
  to: aDay,
  /** Defaults to the person's own time zone. */
  zone: /^[\w+/-]{1,64}$/,
  /** Defaults to the transfers. */
  report: REPORTS,
  /** Both or neither; the server knows the tokens. */
  coin: /^[A-Z\d]{2,10}$/,
  network: /^[a-z\d]{2,20}$/,
} as const;
export type ReportsSearch = SearchOf<typeof RULES>;

export function reportsSearch(given: Given): ReportsSearch {
  const { period, from, to, zone, report, coin, network } = readSearch(RULES, given);
  const days = from !== undefined && to !== undefined && from <= to ? { from, to } : { period };
  return present({ ...days, zone, report, ...(coin !== undefined && network !== undefined && { coin, network }) });
}
