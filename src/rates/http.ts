import { Agent, errors, request, type buildConnector } from 'undici';

/** The longest of the answers is some 100 kB; what is longer is not from whom we asked. */
const LIMIT_BYTES = 1_000_000;

/**
 * The body of an HTTPS answer with status 200, as UTF-8. Throws with a message fit for logs; `signal` ends it at any
 * moment.
 */
export type FetchText = (url: string, signal: AbortSignal) => Promise<string>;

export interface HttpClient {
  readonly fetchText: FetchText;
  close(): Promise<void>;
}

/**
 * Fetches public documents: over https only, with certificates verified, following no redirects, reading 1 MB at most.
 * Time is bounded by the caller's signal.
 */
export function createHttpClient(options: { readonly connect?: buildConnector.connector } = {}): HttpClient {
  const agent = new Agent({
    // No timeouts of undici's own: the caller's signal bounds the whole, a stalling body included.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 60_000,
    maxResponseSize: LIMIT_BYTES,
    ...options,
  });

  async function fetchText(url: string, signal: AbortSignal): Promise<string> {
    if (URL.parse(url)?.protocol !== 'https:') throw new RangeError('prices are fetched over https only');
    try {
      const headers = { 'user-agent': 'cointill', accept: 'application/json, application/xml' };
      const { statusCode, body } = await request(url, { dispatcher: agent, headers, signal });
      // Read in any case: a body that is destroyed unread raises an error event that nobody hears.
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
