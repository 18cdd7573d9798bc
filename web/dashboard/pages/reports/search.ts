import { aDay, present, readSearch, type Given, type SearchOf } from '../../search.ts';

export const PERIODS = ['this_month', 'last_month', 'this_quarter', 'last_quarter', 'this_year', 'last_year'] as const;
export const REPORTS = ['payments', 'transfers', 'refunds', 'sweeps'] as const;

/** The choices of the page as they stand in the URL. */
const RULES = {
  /** The last month if it is left out, and `from` and `to` are. */
  period: PERIODS,
  /** Days of the zone, both included; both or neither. */
  from: aDay,
  to: aDay,
  /** The person's own time zone if it is left out. */
  zone: /^[\w+/-]{1,64}$/,
  /** The transfers if it is left out. */
  report: REPORTS,
  /** Both or neither; the server knows which there are. */
  coin: /^[A-Z\d]{2,10}$/,
  network: /^[a-z\d]{2,20}$/,
} as const;
export type ReportsSearch = SearchOf<typeof RULES>;

export function reportsSearch(given: Given): ReportsSearch {
  const { period, from, to, zone, report, coin, network } = readSearch(RULES, given);
  const days = from !== undefined && to !== undefined && from <= to ? { from, to } : { period };
  return present({ ...days, zone, report, ...(coin !== undefined && network !== undefined && { coin, network }) });
}
