import { InvalidArgumentError } from 'commander';
import { decodeId } from '../../domain/id.ts';
import { readLog } from './log.ts';
import type { Service } from './service.ts';

/** Where reading begins: a cursor of the log, or this long ago. */
export type Since = { readonly after: string } | { readonly agoMs: number };

/** More entries than gaps can follow each other without an event between. */
const GAPS = 20;
const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Parses `--since`. */
export function sinceOf(text: string): Since {
  if (/^(start|now|\d{1,18}|evt_\w+)$/.test(text)) return { after: text };
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined)
    return { agoMs: Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS] };
  throw new InvalidArgumentError('Give a position such as 41, the id of an event, a time such as 24h, start or now.');
}

/** The cursor before the first event of that time, found by halving the log: ids grow with positions. */
export async function cursorOf(service: Service, since: Since, signal: AbortSignal): Promise<string> {
  if ('after' in since) return since.after;
  const from = Date.now() - since.agoMs;
  const { oldest, head } = await readLog(service, { after: 'now', limit: 1, signal });
  let [low, high] = [oldest - 1, head];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    // A gap has no time, but the event after it has.
    const { entries } = await readLog(service, { after: String(middle), limit: GAPS, signal });
    const entry = entries.find((one) => 'event' in one);
    if (entry !== undefined && writtenAt(entry.event.id) < from) low = entry.position;
    else high = middle;
  }
  return String(low);
}

/** When an event was written, from its id; an advanced test payment's event may have been created later than now. */
function writtenAt(id: string): number {
  return Number.parseInt((decodeId('event', id) ?? '').replace('-', '').slice(0, 12), 16);
}
