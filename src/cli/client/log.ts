import { at, ask, textAt, Unreachable, type Service } from './service.ts';

/** An event of the log, or positions of which nobody knows the events. */
export type LogEntry =
  | { readonly position: number; readonly event: LoggedEvent }
  | { readonly position: number; readonly gap: { readonly from: number; readonly reason: string } };

export interface LoggedEvent {
  readonly id: string;
  readonly type: string;
  readonly createdAt: string;
  /** The id of its payment, or of its refund. */
  readonly object: string;
  /** The bytes that webhooks carry. */
  readonly body: string;
}

export interface LogPage {
  readonly entries: readonly LogEntry[];
  /** The cursor to read on from. */
  readonly next: string;
  readonly head: number;
  readonly oldest: number;
  /** The project of the key. */
  readonly project: string;
  /** The whole answer. */
  readonly text: string;
}

export interface LogQuery {
  readonly after: string;
  readonly limit?: number;
  readonly types?: string | undefined;
  readonly payment?: string | undefined;
  readonly waitSeconds?: number;
  readonly signal?: AbortSignal;
}

/** Time for an answer to travel after the service has waited. */
const TRAVEL_MS = 15_000;

/** Reads one page of the log. */
export async function readLog(service: Service, query: LogQuery): Promise<LogPage> {
  const { after, limit, types, payment, waitSeconds = 0, signal } = query;
  const parameters = new URLSearchParams({ after });
  if (limit !== undefined) parameters.set('limit', String(limit));
  if (types !== undefined) parameters.set('types', types);
  if (payment !== undefined) parameters.set('payment', payment);
  if (waitSeconds > 0) parameters.set('wait', String(waitSeconds));
  const timeoutMs = waitSeconds * 1_000 + TRAVEL_MS;
  const { text, headers } = await ask(service, 'GET', `/v1/events?${parameters.toString()}`, {
    timeoutMs,
    ...(signal === undefined ? {} : { signal }),
  });
  const page = parsed(service, text);
  const exact = listAt(parseExact(text), 'data');
  const entries = listAt(page, 'data').map((entry, index) => entryOf(entry, exact[index]));
  return {
    entries,
    next: textAt(page, 'next'),
    head: Number(at(page, 'head')),
    oldest: Number(at(page, 'oldest')),
    project: headers.get('x-project-id') ?? '',
    text,
  };
}

/** A service behind a proxy may be answered for, with a page. */
function parsed({ url }: Service, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Unreachable(`${url} does not answer as Cointill does. Check COINTILL_URL.`, { cause: error });
  }
}

function entryOf(entry: unknown, exact: unknown): LogEntry {
  const position = Number(at(entry, 'position'));
  const gap = at(entry, 'gap');
  if (gap !== undefined) {
    return { position, gap: { from: Number(at(gap, 'from')), reason: textAt(gap, 'reason') } };
  }
  return { position, event: loggedEvent(at(entry, 'event'), at(exact, 'event')) };
}

/** The event of a body, of which `exact` keeps every number as it is written. */
function loggedEvent(event: unknown, exact: unknown): LoggedEvent {
  return {
    id: textAt(event, 'id'),
    type: textAt(event, 'type'),
    createdAt: textAt(event, 'created_at'),
    object: textAt(at(event, 'data'), 'id'),
    body: JSON.stringify(exact),
  };
}

/** One event by its id. */
export async function readEvent(
  service: Service,
  id: string,
): Promise<{ readonly event: LoggedEvent; readonly text: string; readonly details: unknown }> {
  const { text } = await ask(service, 'GET', `/v1/events/${encodeURIComponent(id)}`);
  const details = parsed(service, text);
  return { event: loggedEvent(at(details, 'event'), at(parseExact(text), 'event')), text, details };
}

export function listAt(value: unknown, name: string): readonly unknown[] {
  const list = at(value, name);
  return Array.isArray(list) ? list : [];
}

declare global {
  interface JSON {
    /** A number that `JSON.stringify` writes as this text (ECMAScript proposal, in Node.js 22 and later). */
    rawJSON(text: string): unknown;
  }
}

/** Parses JSON so that `JSON.stringify` writes each number as it was written: signatures cover these bytes. */
export function parseExact(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && context?.source !== undefined ? JSON.rawJSON(context.source) : value,
  );
}
