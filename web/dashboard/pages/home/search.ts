import { startOfDay } from '../../formats.ts';

/** The days that Home shows, as in the URL: so many last ones, or from one to another. */
export type HomeSearch =
  | { readonly period?: HomePeriod; readonly from?: never; readonly to?: never }
  | { readonly period?: never; readonly from: string; readonly to: string };

export const HOME_PERIODS = ['1d', '7d', '30d', '90d', '365d'] as const;
export type HomePeriod = (typeof HOME_PERIODS)[number];

/** Reads the days from the URL and ignores everything else. */
export function homeSearch({ period, from, to }: Readonly<Record<string, unknown>>): HomeSearch {
  const isDay = (text: unknown): text is string => typeof text === 'string' && startOfDay(text) !== null;
  if (isDay(from) && isDay(to)) return { from, to };
  const known = HOME_PERIODS.find((one) => one === period);
  return known === undefined ? {} : { period: known };
}
