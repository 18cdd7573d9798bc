import type { AccessKey } from '../projects/access.ts';
import { insertApiRequests, type AlikeRequests } from '../../store/projects/api-requests.ts';
import { newId, type App } from '../context.ts';

/** An answered call of one of the APIs. */
export interface ApiCall {
  readonly requestId: string;
  readonly method: string;
  /** The path without the query, which may have customers' data. */
  readonly path: string;
  readonly status: number;
  readonly durationMs: number;
  readonly key: Pick<AccessKey, 'id' | 'mode' | 'kind' | 'project'>;
  readonly client: string;
  readonly userAgent: string | null;
  readonly refusal: { readonly type: string; readonly param: string | null; readonly message: string } | null;
}

export interface RequestLog {
  /** Keeps a call for the next flush, unless it is a successful read beyond the sample. */
  add(call: ApiCall): void;
  /** Resolves when every added call is saved or lost. */
  stop(): Promise<void>;
}

/** How many successful reads of a project are kept per second: a shop polls thousands. */
const MAX_READS = 5;
/** Calls beyond this many are lost until the next flush: the log must never hold up an answer. */
const MAX_WAITING = 10_000;
const MAX_BATCH = 1_000;
const FLUSH_MS = 1_000;

const MAX_PATH = 300;
const MAX_MESSAGE = 500;
const MAX_AGENT = 160;

/** Saves calls of the APIs in batches, after their requests were answered. */
export function createRequestLog(
  app: App,
  { onFault, flushMs = FLUSH_MS }: { readonly onFault: (error: unknown) => void; readonly flushMs?: number },
): RequestLog {
  let waiting = new Map<string, Group>();
  let calls = 0;
  /** The number of reads per project in this second. */
  let reads = new Map<string, number>();
  let second = 0;
  let flushing: Promise<void> | null = null;
  /** The group of the previous call: most calls of a busy shop are alike. */
  let latest: { readonly call: ApiCall; readonly group: Group } | null = null;

  const findGroup = (call: ApiCall): Group => {
    const name = nameOf(call, second);
    const group = waiting.get(name) ?? groupOf(call);
    waiting.set(name, group);
    return group;
  };
  const isSampled = ({ key, method, status }: ApiCall): boolean => {
    if ((method !== 'GET' && method !== 'HEAD') || status >= 400) return true;
    const count = (reads.get(key.project.id) ?? 0) + 1;
    reads.set(key.project.id, count);
    return count <= MAX_READS;
  };
  const flush = async (): Promise<void> => {
    const groups = [...waiting.values()];
    [waiting, calls, latest] = [new Map(), 0, null];
    for (let start = 0; start < groups.length; start += MAX_BATCH) {
      // Calls that cannot be saved are lost: the fault is reported, and the log goes on.
      await insertApiRequests(app.db, groups.slice(start, start + MAX_BATCH)).catch(onFault);
    }
  };
  const startFlush = (): Promise<void> => (flushing ??= flush().finally(() => (flushing = null)));
  const timer = setInterval(() => {
    if (calls > 0) void startFlush();
  }, flushMs);

  return {
    add: (call) => {
      const now = app.clock();
      const current = Math.floor(now / 1_000);
      if (current !== second) [second, reads, latest] = [current, new Map(), null];
      if (calls >= MAX_WAITING || !isSampled(call)) return;
      calls += 1;
      const group = latest !== null && isAlike(latest.call, call) ? latest.group : findGroup(call);
      latest = { call, group };
      group.ids.push(newId(app, now));
      group.requestIds.push(call.requestId);
      group.durationsMs.push(Math.round(call.durationMs));
    },
    stop: async () => {
      clearInterval(timer);
      await startFlush();
      await startFlush();
    },
  };
}

interface Group extends AlikeRequests {
  readonly ids: string[];
  readonly requestIds: string[];
  readonly durationsMs: number[];
}

/** Whether two calls of one second are certainly alike; refused calls are compared by their name. */
function isAlike(one: ApiCall, other: ApiCall): boolean {
  return (
    one.key === other.key &&
    one.status === other.status &&
    one.method === other.method &&
    one.path === other.path &&
    one.client === other.client &&
    one.userAgent === other.userAgent &&
    one.refusal === null &&
    other.refusal === null
  );
}

/** A name that only equal calls of one second share. */
function nameOf({ key, method, path, status, client, userAgent, refusal }: ApiCall, second: number): string {
  const why = refusal === null ? '' : `${refusal.type} ${refusal.param ?? ''} ${refusal.message}`;
  return `${second} ${key.id} ${status} ${method} ${path}\n${client}\n${userAgent ?? ''}\n${why}`;
}

function groupOf({ key, refusal, ...call }: ApiCall): Group {
  return {
    projectId: key.project.id,
    mode: key.mode,
    method: call.method,
    path: storable(call.path, MAX_PATH),
    status: call.status,
    keyId: key.id,
    // A public key is in the browsers of customers, whose IP addresses are not kept.
    ip: key.kind === 'public' ? null : storable(call.client, MAX_AGENT),
    userAgent: key.kind === 'public' || call.userAgent === null ? null : storable(call.userAgent, MAX_AGENT),
    error:
      refusal === null
        ? null
        : {
            type: refusal.type,
            param: refusal.param === null ? null : storable(refusal.param, MAX_AGENT),
            message: storable(refusal.message, MAX_MESSAGE),
          },
    ids: [],
    requestIds: [],
    durationsMs: [],
  };
}

/** The text in a form that PostgreSQL can store: without NUL and lone surrogates, and cut to a length. */
function storable(text: string, max: number): string {
  return text.slice(0, max).toWellFormed().replaceAll('\0', '\uFFFD');
}
