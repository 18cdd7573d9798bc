const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** All present zones differ from UTC by a multiple of this. */
const STEP_MS = 15 * MINUTE_MS;

const formats = new Map<string, Intl.DateTimeFormat>();
/** The number of cached formats, limited because anybody may name any zone. */
const MAX_FORMATS = 600;

/** Whether a name is a time zone of the IANA database. */
export function isTimeZone(name: string): boolean {
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

/** The day in a zone at a time in epoch milliseconds, such as `2026-01-31`. */
export function dayAt(zone: string, at: number): string {
  return formatOf(zone).format(at);
}

/** The hour of the day in a zone, from 0 to 23. */
export function hourAt(zone: string, at: number): number {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, hour: '2-digit', hourCycle: 'h23' });
  return Number(format.format(at));
}

/** The begin of a day in a zone, in epoch milliseconds: midnight, unless clocks are put forward just then. */
export function startOfDay(zone: string, day: string): number {
  const noon = Date.parse(`${day}T12:00:00Z`);
  // The search begins before the day in any zone: zones are at most 14 hours ahead of UTC, and 12 behind it.
  let before = noon - 27 * HOUR_MS;
  let within = noon;
  while (within - before > STEP_MS) {
    const middle = before + Math.floor((within - before) / 2 / STEP_MS) * STEP_MS;
    if (dayAt(zone, middle) >= day) within = middle;
    else before = middle;
  }
  return within;
}

/** The begin of the next day, given the begin of a day. */
export function nextDay(zone: string, start: number): number {
  const usual = start + DAY_MS;
  const day = dayAfter(dayAt(zone, start));
  const isUsual = dayAt(zone, usual) === day && dayAt(zone, usual - STEP_MS) < day;
  return isUsual ? usual : startOfDay(zone, day);
}

/** `2026-02-01` for `2026-01-31`; or the day `days` later. */
export function dayAfter(day: string, days = 1): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  // Swedish dates have the form of ISO 8601.
  const made = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' });
  if (formats.size < MAX_FORMATS) formats.set(zone, made);
  return made;
}
