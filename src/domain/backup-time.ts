/** A time of day, UTC. */
export interface DayTime {
  readonly hour: number;
  readonly minute: number;
}

const DAY_MS = 86_400_000;

/** Parses `03:10`; null for anything else. */
export function parseDayTime(text: string): DayTime | null {
  const parts = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text);
  return parts === null ? null : { hour: Number(parts[1]), minute: Number(parts[2]) };
}

/** The latest moment up to `now` with that time of day, in epoch milliseconds. */
export function lastAt({ hour, minute }: DayTime, now: number): number {
  const today = now - (((now % DAY_MS) + DAY_MS) % DAY_MS) + (hour * 60 + minute) * 60_000;
  return today <= now ? today : today - DAY_MS;
}
