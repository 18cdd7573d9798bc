import { startOfDay } from '../../formats.ts';

export const PERIODS = ['this_month', 'last_month', 'this_quarter', 'last_quarter', 'this_year', 'last_year'] as const;
export const REPORTS = ['payments', 'transfers', 'refunds', 'sweeps'] as const;

/** The choices of the page as they stand in the URL. */
export interface ReportsSearch {
  /** The last month if it is left out, and `from` and `to` are. */
  readonly period?: (typeof PERIODS)[number];
  /** Days of the zone, both included; both or neither. */
  readonly from?: string;
  readonly to?: string;
  /** The person's own time zone if it is left out. */
  readonly zone?: string;
  /** The transfers if it is left out. */
  readonly report?: (typeof REPORTS)[number];
  /** Both or neither; the server knows which there are. */
  readonly coin?: string;
  readonly network?: string;
}

/** A change of the choices; undefined removes one. */
export type ReportsChange = { readonly [Key in keyof ReportsSearch]?: ReportsSearch[Key] | undefined };

/** Reads the choices from a URL's query. Unknown values are dropped. */
export function reportsSearch(given: Readonly<Record<string, unknown>>): ReportsSearch {
  const { from, to, zone, coin, network } = given;
  const period = PERIODS.find((one) => one === given['period']);
  const report = REPORTS.find((one) => one === given['report']);
  const isToken = isLike(coin, /^[A-Z\d]{2,10}$/) && isLike(network, /^[a-z\d]{2,20}$/);
  return {
    ...(isDay(from) && isDay(to) && from <= to ? { from, to } : period !== undefined && { period }),
    ...(isLike(zone, /^[\w+/-]{1,64}$/) && { zone }),
    ...(report !== undefined && { report }),
    ...(isToken && { coin, network }),
  };
}

function isDay(text: unknown): text is string {
  return typeof text === 'string' && startOfDay(text) !== null;
}

function isLike(text: unknown, form: RegExp): text is string {
  return typeof text === 'string' && form.test(text);
}
