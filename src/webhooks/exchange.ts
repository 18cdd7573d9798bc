import type { Dispatcher } from 'undici';
import type { Sentence } from '../domain/sentence.ts';
import { ConnectError } from './connect.ts';
import type { ConnectStage } from './connect.ts';

/** The result of one attempt. Any complete answer is a response, whatever its status. */
export type AttemptResult =
  | {
      readonly kind: 'response';
      readonly status: number;
      /** Names in lower case; repeated headers joined by a comma. */
      readonly responseHeaders: Readonly<Record<string, string>>;
      /** UTF-8, with U+FFFD for invalid bytes and for NUL, which PostgreSQL's text cannot store. */
      readonly responseBody: string;
      /** The answer was longer than the limit: the rest was neither read nor stored. */
      readonly truncated: boolean;
      readonly durationMs: number;
    }
  | {
      readonly kind: 'error';
      readonly stage: ConnectStage | 'response';
      /** Names hosts and addresses, never headers, bodies or secrets. */
      readonly message: string | Sentence;
      readonly durationMs: number;
    };

export type ExchangeLimits = {
  /** Milliseconds for durations; monotonic. */
  readonly now: () => number;
  /** The timeout for the whole answer, from the name lookup to the last byte. */
  readonly timeoutMs: number;
  /** How much of an answer's body is read and stored. */
  readonly responseLimitBytes: number;
};

export type ExchangePool = {
  /** Keeps connections for later deliveries. */
  readonly reusing: Dispatcher;
  /** Opens a new connection for each delivery. */
  readonly single: Dispatcher;
  /** Whether undici is just receiving a new connection: the request it then starts is the first on it. */
  readonly isHandingOver: () => boolean;
};

export type ExchangeRequest = Dispatcher.DispatchOptions & { readonly origin: string };

/** Makes one request; returns its complete answer or the error, and never rejects. */
export function exchange(request: ExchangeRequest, pool: ExchangePool, limits: ExchangeLimits): Promise<AttemptResult> {
  return new Promise((resolve) => {
    pool.reusing.dispatch(request, new Exchange(request, pool, limits, resolve));
  });
}

type Phase = 'connecting' | 'waiting for the response' | 'reading the response';
type Failure = Pick<Extract<AttemptResult, { kind: 'error' }>, 'stage' | 'message'>;

/** Destroys the connection; the result is known by then, so nobody sees this error. */
const GIVEN_UP = new Error('the rest of the answer is not wanted');

/**
 * undici's handler of one request; a class, because undici calls it through an interface and it is created per
 * delivery.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: ExchangeRequest;
  readonly #pool: ExchangePool;
  readonly #limits: ExchangeLimits;
  readonly #resolve: (result: AttemptResult) => void;
  readonly #startedMs: number;
  readonly #timer: NodeJS.Timeout;
  #phase: Phase = 'connecting';
  #finished = false;
  #isFirstOnConnection = true;
  #controller: Dispatcher.DispatchController | undefined;
  #status: number | undefined;
  #headers: Readonly<Record<string, string>> = {};
  readonly #chunks: Buffer[] = [];
  #keptBytes = 0;

  constructor(
    request: ExchangeRequest,
    pool: ExchangePool,
    limits: ExchangeLimits,
    resolve: (result: AttemptResult) => void,
  ) {
    this.#request = request;
    this.#pool = pool;
    this.#limits = limits;
    this.#resolve = resolve;
    this.#startedMs = limits.now();
    this.#timer = setTimeout(() => this.#onTimeout(), limits.timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#isFirstOnConnection = this.#pool.isHandingOver();
    this.#phase = 'waiting for the response';
    // Timed out while waiting for its connection: nothing has been written yet.
    if (this.#finished) controller.abort(GIVEN_UP);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    // Informational responses (1xx) arrive here too; later ones overwrite them.
    this.#status = status;
    this.#headers = joinHeaders(headers);
    this.#phase = 'reading the response';
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#finished) return;
    const kept = chunk.subarray(0, this.#limits.responseLimitBytes - this.#keptBytes);
    this.#chunks.push(kept);
    this.#keptBytes += kept.length;
    if (kept.length === chunk.length) return;
    this.#respond(true);
    controller.abort(GIVEN_UP);
  }

  onResponseEnd(): void {
    if (!this.#finished) this.#respond(false);
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.#finished) return;
    if (this.#mayRetry(error)) {
      this.#phase = 'connecting';
      this.#pool.single.dispatch(this.#request, this);
      return;
    }
    this.#fail(describe(error, new URL(this.#request.origin).host));
  }

  /**
   * The usual keep-alive race: the receiver closed an idle connection while the request was on its way. If it read the
   * request after all, it gets the delivery twice, which receivers must allow for anyway. The retry is the first on its
   * connection, so there is never a second retry.
   */
  #mayRetry(error: Error): boolean {
    return isLostConnection(error) && this.#status === undefined && !this.#isFirstOnConnection;
  }

  #onTimeout(): void {
    const host = new URL(this.#request.origin).host;
    this.#fail({
      stage: 'timeout',
      message: `No complete response from ${host} within ${this.#limits.timeoutMs} ms (while ${this.#phase}).`,
    });
    this.#controller?.abort(GIVEN_UP);
  }

  #fail(failure: Failure): void {
    this.#finish({ kind: 'error', ...failure, durationMs: this.#durationMs() });
  }

  #respond(truncated: boolean): void {
    if (this.#status === undefined) return;
    this.#finish({
      kind: 'response',
      status: this.#status,
      responseHeaders: this.#headers,
      responseBody: decodeBody(this.#chunks, this.#keptBytes, truncated),
      truncated,
      durationMs: this.#durationMs(),
    });
  }

  #finish(result: AttemptResult): void {
    this.#finished = true;
    clearTimeout(this.#timer);
    this.#resolve(result);
  }

  #durationMs(): number {
    return Math.round(this.#limits.now() - this.#startedMs);
  }
}

function joinHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const joined: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) joined[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return joined;
}

function decodeBody(chunks: readonly Buffer[], length: number, truncated: boolean): string {
  const bytes = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, length);
  // `stream` leaves out a character cut by the limit, which would otherwise become U+FFFD.
  const text = truncated
    ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true })
    : bytes.toString('utf8');
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text;
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

function isLostConnection(error: Error): boolean {
  const code = codeOf(error);
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE';
}

function describe(error: Error, host: string): Failure {
  if (error instanceof ConnectError) return { stage: error.stage, message: error.reason };
  if (isLostConnection(error)) {
    return { stage: 'response', message: `${host} closed the connection before its response was complete.` };
  }
  switch (codeOf(error)) {
    case 'UND_ERR_INVALID_ARG':
      return { stage: 'guard', message: `The request to ${host} is not valid HTTP: ${error.message}.` };
    case 'UND_ERR_DESTROYED':
    case 'UND_ERR_CLOSED':
      return { stage: 'response', message: `The delivery to ${host} was cut short because this service is stopping.` };
    case 'UND_ERR_HEADERS_OVERFLOW':
      return { stage: 'response', message: `The headers of the response from ${host} are too large.` };
    default:
      return { stage: 'response', message: `The response from ${host} is not valid HTTP: ${error.message}` };
  }
}
