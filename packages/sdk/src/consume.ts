import type { EventGap, EventPage } from './api.generated.ts';
import { pause, type CallOptions } from './connection.ts';
import { CointillError, ConnectionError, GoneError, invalid, RateLimitError, ServerError } from './errors.ts';
import type { Event, EventType } from './event.ts';

/** An event of the log, with its position there. */
export type LoggedEvent = Event & { readonly position: number };

/** Positions of the log whose events nobody knows: the service was restored, or has deleted them by its settings. */
export interface Gap {
  readonly from: number | undefined;
  readonly to: number;
  readonly reason: EventGap['gap']['reason'] | 'deleted';
  /** The position to go on from. */
  readonly next: string;
}

/** Options of `events.consume`. */
export interface Consuming {
  /** The last saved position, `start` or `now`. Default: `start`. */
  readonly from?: string | number | null | undefined;
  /** Keeps the position from which to read on, once all events before it were handled. */
  readonly save?: ((position: string) => Promise<void> | void) | undefined;
  /** Passes over all other types. */
  readonly types?: readonly EventType[] | undefined;
  /** Passes over all other payments. */
  readonly payment?: string | undefined;
  /** Hears of each gap, after which the loop goes on. Without it, a gap ends the loop with a `GapError`. */
  readonly onGap?: ((gap: Gap) => Promise<void> | void) | undefined;
  /** Hears why the service could not be reached; the loop goes on until it can. */
  readonly onRetry?: ((error: CointillError) => void) | undefined;
  /** Ends the loop without an error, once the event at hand was handled and its position saved. */
  readonly signal?: AbortSignal | undefined;
}

/** Events may be missing. Read the payments that matter to you again, then go on from `gap.next`. */
export class GapError extends CointillError<{ readonly gap: Gap }> {
  override readonly name = 'GapError';
  declare readonly gap: Gap;
}

function gapError(gap: Gap, cause: unknown): GapError {
  const which = gap.from === undefined ? `before ${gap.to + 1}` : `from ${gap.from} to ${gap.to}`;
  const why = gap.reason === 'deleted' ? 'has deleted them' : `was ${gap.reason}`;
  return new GapError(
    `The events at the positions ${which} are unknown, because the service ${why}. Read your payments again, then consume from ${gap.next}; or give onGap, which may do so.`,
    { gap, cause },
  );
}

type Read = (
  query: { after: string; limit: number; wait: number; types?: readonly EventType[] | undefined; payment?: string },
  options: CallOptions,
) => Promise<EventPage>;

const PAGE = 100;
const WAIT_SECONDS = 25;
/** Time for an answer to travel after the service has waited. */
const TRAVEL_MS = 15_000;
/** A loop takes at most 60 of the 100 requests that a test key has in a minute. */
const PACE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;
const MAX_RETRY_AFTER_MS = 600_000;
const CURSOR = /^(?:start|now|\d{1,18}|evt_\w+)$/;

/** The loop of `events.consume`. */
export async function* consume(read: Read, consuming: Consuming): AsyncGenerator<LoggedEvent, void, undefined> {
  const { types, payment, signal } = consuming;
  let after = String(consuming.from ?? 'start');
  if (!CURSOR.test(after)) {
    throw invalid(
      'from',
      `from must be a saved position such as 41, the id of an event, start or now, but it is ${JSON.stringify(after.slice(0, 50))}.`,
    );
  }
  const query = { limit: PAGE, wait: WAIT_SECONDS, types, ...(payment === undefined ? {} : { payment }) };
  const source = patient(
    (cursor) => read({ ...query, after: cursor }, { timeoutMs: WAIT_SECONDS * 1_000 + TRAVEL_MS, signal }),
    consuming,
  );
  while (!isStopped(signal)) {
    const startedAt = Date.now();
    const page = await source(after);
    if (page === null) return;
    if ('gap' in page) {
      await tellOf(page.gap, consuming, page.error);
      after = page.gap.next;
      await save(after, consuming);
      continue;
    }
    const isRead = yield* handled(page, consuming);
    if (!isRead) return;
    if (page.next !== after) await save(page.next, consuming);
    after = page.next;
    const restMs = page.data.length < PAGE ? startedAt + PACE_MS - Date.now() : 0;
    if (restMs > 0) await pause(restMs, signal).catch(() => {});
  }
}

function isStopped(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

/**
 * The events of a page, and whether all of them were handled. What was handled before a gap, or before the signal ended
 * the loop, is saved.
 */
async function* handled({ data }: EventPage, consuming: Consuming): AsyncGenerator<LoggedEvent, boolean, undefined> {
  let last: number | null = null;
  for (const entry of data) {
    const isEnd = isStopped(consuming.signal);
    if (last !== null && (isEnd || 'gap' in entry)) await save(String(last), consuming);
    if (isEnd) return false;
    if ('event' in entry) {
      yield Object.assign(entry.event, { position: entry.position });
      last = entry.position;
    } else {
      const { from, to, reason } = entry.gap;
      await tellOf({ from, to, reason, next: String(entry.position) }, consuming);
    }
  }
  return true;
}

async function tellOf(gap: Gap, { onGap }: Consuming, cause?: unknown): Promise<void> {
  if (onGap === undefined) throw gapError(gap, cause);
  await onGap(gap);
}

async function save(position: string, consuming: Consuming): Promise<void> {
  try {
    await consuming.save?.(position);
  } catch (error) {
    throw new CointillError(
      `save failed, so position ${position} is not kept. The events since the last saved position will come again.`,
      { cause: error },
    );
  }
}

type Answer = EventPage | { readonly gap: Gap; readonly error: GoneError };

/**
 * Reads, and tries again for as long as the service cannot be reached. A first read that fails is not tried again: its
 * address or key may be wrong. Null once it is stopped.
 */
function patient(read: (after: string) => Promise<EventPage>, { signal, onRetry }: Consuming) {
  let wasReached = false;
  return async (after: string): Promise<Answer | null> => {
    for (let failures = 0; ; failures += 1) {
      try {
        const page = await read(after);
        wasReached = true;
        return page;
      } catch (error) {
        if (isStopped(signal)) return null;
        if (error instanceof GoneError) return { gap: deleted(after, error), error };
        if (!wasReached || !isPassing(error)) throw error;
        onRetry?.(error);
        const ms = Math.min(MAX_PAUSE_MS, PACE_MS * 2 ** Math.min(failures, 5)) * (0.5 + Math.random() / 2);
        const stopped = await pause(
          error instanceof RateLimitError ? Math.min(MAX_RETRY_AFTER_MS, error.retryAfter * 1_000) + ms : ms,
          signal,
        ).then(
          () => false,
          () => true,
        );
        if (stopped) return null;
      }
    }
  };
}

function isPassing(error: unknown): error is CointillError {
  if (error instanceof CointillError && error.status === 408) return true;
  return error instanceof ConnectionError || error instanceof ServerError || error instanceof RateLimitError;
}

function deleted(after: string, { oldest }: GoneError): Gap {
  const from = /^\d+$/.test(after) ? Number(after) + 1 : undefined;
  return { from, to: oldest - 1, reason: 'deleted', next: String(oldest - 1) };
}
