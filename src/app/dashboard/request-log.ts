import type { AccessKey } from '../projects/access.ts';
import { insertApiRequests, type ApiRequest } from '../../store/api-requests.ts';
import { newId, type App } from '../context.ts';

/** A call of one of the APIs that was answered. */
export interface ApiCall {
  readonly requestId: string;
  readonly method: string;
  /** Without the query, which may have customers' data. */
  readonly path: string;
  readonly status: number;
  readonly durationMs: number;
  readonly key: Pick<AccessKey, 'id' | 'mode' | 'kind' | 'project'>;
  readonly client: string;
  readonly userAgent: string | null;
  readonly refusal: { readonly type: string; readonly param: string | null; readonly message: string } | null;
}

export interface RequestLog {
  /** Keeps a call for the next flush, unless it is a read beyond the sample. */
  add(call: ApiCall): void;
  /** Resolves when everything that was added is saved, or lost. */
  stop(): Promise<void>;
}

/** How many reads of a project that were not refused are kept a second; of the others a shop polls thousands. */
const MAX_READS = 5;
/** What is added beyond this is lost until the next flush: the log must never hold up an answer. */
const MAX_WAITING = 10_000;
const MAX_BATCH = 2_000;
const FLUSH_MS = 1_000;

const MAX_PATH = 300;
const MAX_MESSAGE = 500;
const MAX_AGENT = 160;

/** Saves the calls of the APIs in batches, beside the requests and never in them. */
export function createRequestLog(
  app: App,
  { onFault, flushMs = FLUSH_MS }: { readonly onFault: (error: unknown) => void; readonly flushMs?: number },
): RequestLog {
  let waiting: ApiRequest[] = [];
  /** Reads by project in this second. */
  let reads = new Map<string, number>();
  let second = 0;
  let flushing: Promise<void> | null = null;

  const isSampled = (projectId: string, now: number): boolean => {
    const current = Math.floor(now / 1_000);
    if (current !== second) [second, reads] = [current, new Map()];
    const count = (reads.get(projectId) ?? 0) + 1;
    reads.set(projectId, count);
    return count <= MAX_READS;
  };
  const flush = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MAX_BATCH);
      waiting = waiting.slice(MAX_BATCH);
      // What cannot be saved is lost: the log says what went wrong, and is not to go wrong itself.
      await insertApiRequests(app.db, batch).catch(onFault);
    }
  };
  const startFlush = (): Promise<void> => (flushing ??= flush().finally(() => (flushing = null)));
  const timer = setInterval(() => void startFlush(), flushMs);

  return {
    add: (call) => {
      const now = app.clock();
      const isRead = call.method === 'GET' || call.method === 'HEAD';
      if (waiting.length >= MAX_WAITING) return;
      if (isRead && call.status < 400 && !isSampled(call.key.project.id, now)) return;
      waiting.push(requestOf(app, call, now));
    },
    stop: async () => {
      clearInterval(timer);
      await startFlush();
      await startFlush();
    },
  };
}

function requestOf(app: App, call: ApiCall, now: number): ApiRequest {
  const { key, refusal } = call;
  return {
    id: newId(app, now),
    projectId: key.project.id,
    mode: key.mode,
    requestId: call.requestId,
    method: call.method,
    path: storable(call.path, MAX_PATH),
    status: call.status,
    durationMs: Math.round(call.durationMs),
    keyId: key.id,
    // A public key is in the browsers of customers, whose addresses are nobody's business here.
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
  };
}

/** What PostgreSQL can store: without NUL and half a surrogate pair, and not too long. */
function storable(text: string, max: number): string {
  return text.slice(0, max).toWellFormed().replaceAll('\0', '\uFFFD');
}
