import { Agent, errors, request, type buildConnector } from 'undici';

/** The longest answer is about 100 kB; a longer one is not from the source that was asked. */
const LIMIT_BYTES = 1_000_000;

/**
 * The body of an HTTPS answer with status 200, as UTF-8. Throws with a message fit for logs; `signal` can abort it at
 * any moment.
 */
export type FetchText = (url: string, signal: AbortSignal) => Promise<string>;

/**
 * Called with the time that a server stated, in epoch milliseconds, and how much later it may have been when the answer
 * came.
 */
export type OnDate = (host: string, at: number, uncertainMs: number) => void;

export interface HttpClient {
  readonly fetchText: FetchText;
  close(): Promise<void>;
}

/**
 * Fetches public documents: https only, with verified certificates, without following redirects, at most 1 MB. The
 * caller's signal limits the time.
 */
export function createHttpClient({
  onDate,
  ...options
}: { readonly connect?: buildConnector.connector; readonly onDate?: OnDate } = {}): HttpClient {
  const agent = new Agent({
    // Without undici's own timeouts: the caller's signal limits everything, including a body that stalls.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 60_000,
    maxResponseSize: LIMIT_BYTES,
    ...options,
  });

  async function fetchText(url: string, signal: AbortSignal): Promise<string> {
    const parsed = URL.parse(url);
    if (parsed?.protocol !== 'https:') throw new RangeError('prices are fetched over https only');
    try {
      const headers = { 'user-agent': 'cointill', accept: 'application/json, application/xml' };
      const askedAt = performance.now();
      const { statusCode, headers: answered, body } = await request(url, { dispatcher: agent, headers, signal });
      const date = Date.parse(String(answered['date']));
      // A cache on the way tells the answer's age in `Age`. The header has whole seconds.
      const ageMs = 1_000 * (1 + (Number(answered['age']) || 0));
      if (Number.isFinite(date)) onDate?.(parsed.host, date, performance.now() - askedAt + ageMs);
      // Always read: a body destroyed unread emits an error event that nobody listens to.
      const text = await body.text();
      if (statusCode !== 200) throw new HttpError(`HTTP status ${statusCode}`);
      return text;
    } catch (fault) {
      if (fault instanceof HttpError) throw fault;
      if (fault instanceof errors.ResponseExceededMaxSizeError) {
        throw new HttpError(`the answer is larger than ${LIMIT_BYTES} bytes`);
      }
      throw new HttpError(signal.aborted ? 'no complete answer in time' : reasonOf(fault));
    }
  }

  return { fetchText, close: () => agent.destroy() };
}

class HttpError extends Error {
  override readonly name = 'HttpError';
}

/** The innermost cause, such as "getaddrinfo ENOTFOUND api.kraken.com". */
function reasonOf(fault: unknown): string {
  let innermost = fault;
  while (innermost instanceof Error && innermost.cause !== undefined) innermost = innermost.cause;
  if (!(innermost instanceof Error)) return 'the request failed';
  const code = 'code' in innermost && typeof innermost.code === 'string' ? innermost.code : innermost.name;
  return innermost.message || code;
}
