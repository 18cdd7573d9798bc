import { aDay, readSearch, type Given } from '../../search.ts';

/** The days that Home shows, as in the URL: a number of last days, or from one day to another. */
export type HomeSearch =
  | { readonly period?: HomePeriod; readonly from?: never; readonly to?: never }
  | { readonly period?: never; readonly from: string; readonly to: string };

export const HOME_PERIODS = ['1d', '7d', '30d', 'this_month', 'last_month', '90d', '365d'] as const;
type HomePeriod = (typeof HOME_PERIODS)[number];

const RULES = { period: HOME_PERIODS, from: aDay, to: aDay } as const;

/** Reads the days from the URL and ignores everything else. */
export function homeSearch(given: Given): HomeSearch {
  const { period, from, to } = readSearch(RULES, given);
  if (from !== undefined && to !== undefined) return { from, to };
  return period === undefined ? {} : { period };
}
