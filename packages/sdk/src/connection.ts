import type { Operations } from './api.generated.ts';
import { CointillError, ConflictError, ConnectionError, invalid, RateLimitError, ServerError } from './errors.ts';
import { readJson, writeJson } from './json.ts';
import { checkedKey, checkedUrl } from './options.ts';
import { refusal, retryAfterOf } from './refusal.ts';

/** How to reach a service. */
export interface Options {
  /** An API key: `sk_…` on servers, `pk_…` in browsers. An environment variable that is not set is refused. */
  readonly key: string | undefined;
  /** The address of the service without a path: the sandbox's for a test key, the live one for a live key. */
  readonly url: string | undefined;
  /** How long each attempt of a call may take, in milliseconds. Default: 30,000. */
  readonly timeoutMs?: number | undefined;
  /** How often a call is tried again. Default: 2. */
  readonly retries?: number | undefined;
  /** A function to use instead of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/** Options of one call. */
export interface CallOptions {
  /**
   * Ends the call, and its retries, with the signal's reason. A POST may have happened all the same: to repeat it, give
   * an `idempotencyKey` of yours.
   */
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  /** Makes it safe to repeat the call from your side. By default, each call has one of its own. */
  readonly idempotencyKey?: string | undefined;
}

type Route = keyof Operations;
type Body<R extends Route> = [Operations[R]['body']] extends [never]
  ? { body?: never }
  : { body: Operations[R]['body'] };
/** The parts of a request that a route takes: the id in its path, its query, its body. */
type Sent<R extends Route> = Body<R> &
  (R extends `${string}{${string}` ? { readonly id: string } : { readonly id?: never }) & {
    readonly query?: Operations[R]['query'] | undefined;
  };

interface AnySent {
  readonly id?: string;
  readonly query?: object | undefined;
  readonly body?: object;
}
interface HttpRequest {
  readonly url: string;
  readonly method: string;
  readonly body?: string;
  readonly idempotencyKey: string | undefined;
}

const TIMEOUT_MS = 30_000;
const RETRIES = 2;
const MAX_RETRIES = 20;
/** Timers take no more. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;
const MIN_PAUSE_MS = 500;
/** The service's windows of requests are a minute long, so it never asks for more. */
const MAX_RETRY_AFTER = 60;

/**
 * Makes calls to one service. The key is in private fields alone, which no console and no log shows.
 *
 * @example
 * const connection = new Connection({ key, url });
 * const orders = new Orders(connection);
 * const same = await connection.call('GET /v1/orders/{id}', { id: order.id });
 */
export class Connection {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #timeoutMs: number;
  readonly #retries: number;
  readonly #fetch: typeof globalThis.fetch;

  constructor(options: Options) {
    this.#headers = { authorization: `Bearer ${checkedKey(options.key)}` };
    this.#url = checkedUrl(options.url);
    this.#timeoutMs = checkedNumber('timeoutMs', options.timeoutMs ?? TIMEOUT_MS, MAX_TIMEOUT_MS);
    this.#retries = checkedNumber('retries', options.retries ?? RETRIES, MAX_RETRIES);
    // Browsers and Workers refuse to call `fetch` as a method of another object.
    const send = options.fetch ?? ((input, init) => fetch(input, init));
    this.#fetch = (input, init) => send(input, init);
  }

  /**
   * One call, with its retries: on a broken connection, 408, 429, 5xx, and 409 while the first attempt still runs. All
   * attempts of a POST carry the same Idempotency-Key, so that it happens once.
   */
  async call<R extends Route>(route: R, sent: Sent<R>, options: CallOptions = {}): Promise<Operations[R]['answer']> {
    const { signal } = options;
    const request = this.#requestOf(route, sent, options);
    for (let attempt = 0; ; attempt += 1) {
      signal?.throwIfAborted();
      try {
        // The service keeps to its own document.
        return (await this.#attempt(request, options)) as Operations[R]['answer'];
      } catch (error) {
        signal?.throwIfAborted();
        if (attempt >= this.#retries || !isPassing(error)) throw error;
        await pause(pauseMs(attempt, error), signal);
      }
    }
  }

  #requestOf(route: Route, { id, query, body }: AnySent, options: CallOptions): HttpRequest {
    const [method = '', template = ''] = route.split(' ');
    const path = template.replace(/\{\w+\}/, () => checkedId(id));
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query ?? {})) {
      if (value !== undefined) search.set(name, String(value));
    }
    const idempotencyKey = method === 'POST' ? checkedIdempotencyKey(options.idempotencyKey ?? randomKey()) : undefined;
    return {
      url: `${this.#url}${path}${search.size === 0 ? '' : `?${search}`}`,
      method,
      idempotencyKey,
      ...(body === undefined ? {} : { body: writeJson(body) }),
    };
  }

  async #attempt(request: HttpRequest, options: CallOptions): Promise<object> {
    const { url, method, body, idempotencyKey } = request;
    const timeoutMs = checkedNumber('timeoutMs', options.timeoutMs ?? this.#timeoutMs, MAX_TIMEOUT_MS);
    const limit = limitOf(timeoutMs, options.signal);
    try {
      const response = await this.#fetch(url, {
        method,
        headers: {
          ...this.#headers,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        },
        ...(body === undefined ? {} : { body }),
        // A redirect would lose the body or the key.
        redirect: 'manual',
        signal: limit.signal,
      });
      return await answerOf(response, this.#url, request);
    } catch (error) {
      if (error instanceof CointillError) throw error;
      const why = limit.isOver() ? `no answer within ${timeoutMs / 1_000} seconds` : reasonOf(error);
      throw new ConnectionError(
        `${this.#url} did not answer ${method} ${new URL(url).pathname} (${why}). Check url and the service.${
          method === 'POST'
            ? ' It may have happened all the same: repeat it with the idempotencyKey of this error.'
            : ''
        }`,
        { isPassing: true, cause: error, idempotencyKey },
      );
    } finally {
      limit.end();
    }
  }
}

/** The parsed answer. @throws CointillError if it is a refusal, or not Cointill's */
async function answerOf(response: Response, url: string, request: HttpRequest): Promise<object> {
  const { status, headers } = response;
  const facts = { status, requestId: headers.get('x-request-id') ?? undefined, idempotencyKey: request.idempotencyKey };
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    const target = headers.get('location');
    throw new ConnectionError(
      `${url} redirects${target === null ? '' : ` to ${target}`}. Use the address that it leads to as url.`,
      { ...facts, isPassing: false },
    );
  }
  const text = await response.text();
  const isJson = (headers.get('content-type') ?? '').includes('json');
  const body = isJson ? parsed(text) : null;
  if (response.ok && body !== null && isAnswer(request.url, body)) return body;
  if (body !== null && !response.ok) throw refusal(body, response, facts);
  const type = headers.get('content-type') ?? 'no content type';
  const isCut = isJson && body === null;
  const message = isCut
    ? `The answer of ${url} was cut off after ${text.length} characters.`
    : `${url} answered ${status} with ${type}, not as Cointill does. A proxy answered, or url is wrong.`;
  if (status === 429) throw new RateLimitError(message, { ...facts, retryAfter: retryAfterOf(headers) });
  if (status >= 500) throw new ServerError(message, facts);
  throw new ConnectionError(message, { ...facts, isPassing: isCut || status === 408 });
}

/** Whether it can be an answer of Cointill: a proxy that wants a sign-in answers JSON too. */
function isAnswer(url: string, body: object): boolean {
  if (url.includes('/api/')) return 'success' in body;
  return ['id', 'data', 'event', 'deliveries', 'moments'].some((name) => name in body);
}

function parsed(text: string): object | null {
  try {
    const body = readJson(text);
    return typeof body === 'object' ? body : null;
  } catch {
    return null;
  }
}

function isPassing(error: unknown): boolean {
  if (error instanceof ConnectionError) return error.isPassing;
  if (error instanceof RateLimitError) return error.retryAfter <= MAX_RETRY_AFTER;
  // Other conflicts stay: the object's state forbids the call.
  if (error instanceof ConflictError) return error.message.includes('Idempotency-Key');
  return error instanceof ServerError || (error instanceof CointillError && error.status === 408);
}

/** Twice as long after each attempt, and random within the upper half, so that many clients do not return at once. */
function pauseMs(attempt: number, error: unknown): number {
  const backoffMs = MIN_PAUSE_MS * 2 ** attempt * (0.5 + Math.random() / 2);
  return error instanceof RateLimitError ? error.retryAfter * 1_000 + backoffMs : backoffMs;
}

/** Waits. The signal, which is not aborted yet, ends it. @throws the signal's reason */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** A signal that ends with the time or with the caller's. `AbortSignal.any` would keep each until the caller's ends. */
function limitOf(timeoutMs: number, signal: AbortSignal | undefined) {
  const controller = new AbortController();
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    controller.abort();
  }, timeoutMs);
  const stop = (): void => controller.abort(signal?.reason);
  signal?.addEventListener('abort', stop);
  return {
    signal: controller.signal,
    isOver: () => isOver,
    end: () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    },
  };
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? code : cause instanceof Error ? cause.message : 'connection lost';
}

/** 128 random bits; `crypto.randomUUID` is missing on pages without HTTPS. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function checkedIdempotencyKey(key: string): string {
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw invalid('idempotencyKey', 'idempotencyKey must have 1 to 255 visible ASCII characters.');
}

function checkedNumber(name: string, value: number, max: number): number {
  if (value >= 0 && value <= max) return value;
  throw invalid(name, `${name} must be a number from 0 to ${max}.`);
}

function checkedId(id: unknown): string {
  if (typeof id === 'string' && /^[\w-]+$/.test(id)) return id;
  throw invalid(
    'id',
    `id must be the id of an object, such as ord_…, but it is ${typeof id === 'string' ? JSON.stringify(id.slice(0, 50)) : typeof id}.`,
  );
}
