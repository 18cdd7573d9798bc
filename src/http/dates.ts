const DAY_MS = 24 * 60 * 60_000;
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** A moment, and for how long it lasts: a bare date is a whole UTC day, a time one millisecond. */
export interface Span {
  readonly startAt: number;
  readonly endAt: number;
}

/** Reads an ISO 8601 date (`2026-01-31`) or time with its zone (`2026-01-31T12:00:00Z`); null for anything else. */
export function parseIsoDate(text: string): Span | null {
  const date = DATE.exec(text);
  if (date !== null) {
    const startAt = Date.parse(`${text}T00:00:00.000Z`);
    // JavaScript takes February 30th for March 2nd.
    const same = Number.isFinite(startAt) && new Date(startAt).toISOString().slice(0, 10) === text;
    return same ? { startAt, endAt: startAt + DAY_MS } : null;
  }
  const day = parseIsoDate(text.slice(0, 10));
  const startAt = TIME.test(text) && day !== null ? Date.parse(text) : NaN;
  return Number.isFinite(startAt) ? { startAt, endAt: startAt + 1 } : null;
}
