import type { Forwarded } from './forward.ts';
import type { LogEntry } from './log.ts';

/** One line about an entry of the log, and what became of its request. */
export function entryLines(entry: LogEntry, forwarded: Forwarded | null = null, attempt = 1): readonly string[] {
  if ('gap' in entry) return [gapLine(entry)];
  const { event, position } = entry;
  const time = new Date(event.createdAt).toLocaleTimeString('en-GB');
  const head = `${time}  ${event.type.padEnd(19)}  ${event.object}  #${position}`;
  if (forwarded === null) return [`${head}  ${event.id}`];
  const again = attempt > 1 ? ` (attempt ${attempt})` : '';
  const line = `${head}  ${forwarded.answer}, ${forwarded.durationMs} ms${again}`;
  if (forwarded.isAccepted) return [line];
  return [line, `          ${[event.id, forwarded.detail].filter((part) => part !== null).join(': ')}`];
}

/** The same as one JSON document. */
export function entryRecord(entry: LogEntry, forwarded: Forwarded | null = null, attempt = 1): object {
  if ('gap' in entry) {
    return { position: entry.position, gap: { from: entry.gap.from, to: entry.position, reason: entry.gap.reason } };
  }
  const { event, position } = entry;
  const base = { position, id: event.id, type: event.type, object_id: event.object, created_at: event.createdAt };
  if (forwarded === null) return base;
  const { isAccepted, status, answer, durationMs } = forwarded;
  return { ...base, attempt, accepted: isAccepted, status, answer, duration_ms: durationMs };
}

function gapLine({
  position,
  gap,
}: LogEntry & { readonly gap: { readonly from: number; readonly reason: string } }): string {
  const what = gap.from === position ? `Position ${position} is` : `Positions ${gap.from} to ${position} are`;
  return `${what} unknown, because the service was ${gap.reason === 'restored' ? 'restored from a backup' : 'recovered'}. Read the payments that matter to you again.`;
}
