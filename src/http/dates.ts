import { dayProblem } from '../domain/report.ts';
import { invalid } from './errors.ts';

const DAY_MS = 24 * 60 * 60_000;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/**
 * PostgreSQL has no year 0 and we write no year 10000. No payment was made outside this range, so times outside are
 * clamped.
 */
const FIRST_AT = 0;
const LAST_AT = Date.UTC(9999, 11, 31);

/** A time and its duration: a bare date is a whole UTC day, a time one millisecond. */
export interface Span {
  readonly startAt: number;
  readonly endAt: number;
}

/** Parses an ISO 8601 date (`2026-01-31`) or time with a zone (`2026-01-31T12:00:00Z`); null for anything else. */
function parseIsoDate(text: string): Span | null {
  const day = startOfDay(text.slice(0, 10));
  if (day === null) return null;
  if (text.length === 10) return span(day, DAY_MS);
  const at = TIME.test(text) ? Date.parse(text) : NaN;
  return Number.isFinite(at) ? span(at, 1) : null;
}

/** The begin of a UTC day. JavaScript reads February 30th as March 2nd, but such a date does not exist. */
function startOfDay(date: string): number | null {
  const at = DATE.test(date) ? Date.parse(`${date}T00:00:00.000Z`) : NaN;
  return Number.isFinite(at) && new Date(at).toISOString().slice(0, 10) === date ? at : null;
}

function span(startAt: number, lengthMs: number): Span {
  const within = (at: number): number => Math.min(Math.max(at, FIRST_AT), LAST_AT);
  return { startAt: within(startAt), endAt: within(startAt + lengthMs) };
}

/** A query parameter with a date or time; null if it is missing. */
export function readIsoDate(name: string, text: string | undefined): Span | null {
  if (text === undefined) return null;
  const span = parseIsoDate(text);
  if (span !== null) return span;
  const rule = 'an ISO 8601 date such as 2026-01-31, or a time with a time zone such as 2026-01-31T12:00:00Z';
  throw invalid(name, `${name} must be ${rule}.`);
}

/** The range of creation times of the parameters `created_after` and `created_before`, both exclusive. */
export function readCreated(query: {
  readonly created_after?: string | undefined;
  readonly created_before?: string | undefined;
}) {
  const after = readIsoDate('created_after', query.created_after);
  const before = readIsoDate('created_before', query.created_before);
  if (after !== null && before !== null && after.startAt > before.startAt && after.startAt >= before.endAt) {
    throw reversed('created_after', 'created_before');
  }
  return { createdFrom: after?.endAt ?? null, createdBefore: before?.startAt ?? null };
}

/** The period of the parameters `start_date` and `end_date`, both inclusive. */
export function readPeriod(query: { readonly start_date?: string; readonly end_date?: string }) {
  const start = readIsoDate('start_date', query.start_date);
  const end = readIsoDate('end_date', query.end_date);
  if (start !== null && end !== null && start.startAt > end.startAt && start.startAt >= end.endAt) {
    throw reversed('start_date', 'end_date');
  }
  return { start, end };
}

/** A day. @throws RequestError if it is no day, or one that has no midnight in some time zone */
export function readDay(name: 'from' | 'to', text: string): string {
  const problem = dayProblem(text);
  if (problem !== null) throw invalid(name, `${name} ${problem}`);
  return text;
}

function reversed(from: string, to: string) {
  return invalid(from, `${from} must not be later than ${to}. Swap the two, or leave one out.`);
}
