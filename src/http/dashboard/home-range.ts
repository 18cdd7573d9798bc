import { daysOf, lastDays, MAX_RANGE_DAYS, type DayRange } from '../../app/dashboard/home-figures.ts';
import type { App } from '../../app/context.ts';
import { dayProblem } from '../../domain/report.ts';
import { isTimeZone } from '../../domain/time-zone.ts';
import { invalid } from '../errors.ts';
import type { QueryOf } from './contract/index.ts';

/**
 * The days that Home is asked for.
 *
 * @throws RequestError if they are no days, too many, or of no time zone
 */
export function readRange(app: App, query: QueryOf<'GET /dashboard/api/projects/:project/:mode/home'>): DayRange {
  const { period, from, to, zone = 'UTC' } = query;
  if (!isTimeZone(zone)) {
    throw invalid('zone', 'zone must be the name of a time zone, such as Europe/Berlin.');
  }
  if (from === undefined && to === undefined) return lastDays(app, zone, Number.parseInt(period ?? '30d', 10));
  if (period !== undefined)
    throw invalid('period', 'period cannot be given beside from and to: leave one of them out.');
  if (from === undefined || to === undefined) {
    const missing = from === undefined ? 'from' : 'to';
    throw invalid(missing, `from and to are given together: add ${missing}, or leave the other one out.`);
  }
  const range = { from: readDay('from', from), to: readDay('to', to), zone };
  const days = daysOf(range);
  if (days < 1) throw invalid('to', `to must not be before from, which is ${range.from}.`);
  if (days > MAX_RANGE_DAYS) {
    throw invalid('from', `from and to may span ${MAX_RANGE_DAYS} days at most, and these span ${days}.`);
  }
  return range;
}

/** @throws RequestError if it is no day, or one that no time zone has midnight for */
export function readDay(name: 'from' | 'to', text: string): string {
  const problem = dayProblem(text);
  if (problem !== null) throw invalid(name, `${name} ${problem}`);
  return text;
}
