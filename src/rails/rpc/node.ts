import type { Agent } from 'undici';
import { basicAuthorization, CookieError, createCookie } from './cookie.ts';
import { decodeArray, MalformedAnswerError } from './decode.ts';
import { decoded, redact, secretsOf } from './secrets.ts';

/**
 * A mainnet block with all its transactions is up to 15 MB as JSON; fast chains and receipts with logs reach tens of
 * MB.
 */
const MAX_ANSWER_BYTES = 128 * 1024 * 1024;
/** The beginning of the reason when a node took too long. */
export const TOO_SLOW = 'no complete answer within';
/** The beginning of the reason when a node was too busy. */
export const BUSY = 'it did not answer this time';
const BUSY_STATUSES: readonly number[] = [429, 502, 503, 504];
/** EIP-1474's "limit exceeded", and the codes of hosted nodes for the same. */
const BUSY_CODES: readonly unknown[] = [-32005, -32007, -32016, -32029, -32090, -32097, 429];
const BUSY_MESSAGE = /too many requests|rate.?limit|request (count|limit)|over ?capacity|overloaded|try again/i;
/** JSON-RPC 2.0's "method not found" and EIP-1474's "method not supported". */
const METHOD_MISSING_CODES: readonly unknown[] = [-32601, -32004];

/** Meanings of a status on Bitcoin Core and on hosted nodes. */
const REFUSALS: ReadonlyMap<number, string> = new Map([
  [401, ': the credentials in the URL were refused'],
  [403, ': the credentials in the URL were refused, or do not allow this call (-rpcwhitelist)'],
]);

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** The result of one call in a batch; its error does not affect the other calls. */
export type RpcResult =
  | { readonly kind: 'ok'; readonly result: unknown }
  | { readonly kind: 'error'; readonly code: unknown; readonly error: NodeError };

/** One JSON-RPC node behind one URL. */
export interface RpcNode {
  /**
   * Scheme, host and port: for logs and messages, without credentials or path (hosted nodes have their key in the
   * path).
   */
  readonly name: string;
  /** The result of one call. Throws `NodeError`. */
  call(method: string, params: readonly unknown[]): Promise<unknown>;
  /**
   * The results of several calls, sent as one batch, in their order. Throws `NodeError` if the batch as a whole failed.
   */
  callAll(calls: readonly RpcCall[]): Promise<readonly RpcResult[]>;
  close(): Promise<void>;
}

/**
 * A call that failed. The message is fit for logs. There is deliberately no cause, which could contain the whole URL.
 */
export class NodeError extends Error {
  override readonly name: string = 'NodeError';
  /** The code of the JSON-RPC error, if the node returned one. */
  readonly code: unknown;
  /** The HTTP status, if the node returned nothing else. */
  readonly status: number | null;

  constructor(message: string, code?: unknown, status: number | null = null) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/**
 * The node did not answer this time, but may when it is asked again: it refused because it is too busy, or its answer
 * was cut or belongs to another call.
 */
export class NodeBusyError extends NodeError {
  override readonly name = 'NodeBusyError';
}

/** The node works but does not support the method; another method may help. */
export class MethodMissingError extends NodeError {
  override readonly name = 'MethodMissingError';
}

/** The node works and says that it does not keep the requested data, such as an old state; another node may. */
export class NotKeptError extends NodeError {
  override readonly name = 'NotKeptError';
}

/** The node has not loaded enough of the chain to be used, but works otherwise. */
export class NodeLoadingError extends NodeError {
  override readonly name = 'NodeLoadingError';
  /** The height of the newest block that it has. */
  readonly height: number;

  constructor(message: string, height: number) {
    super(message);
    this.height = height;
  }
}

/**
 * A node behind a URL. `cookieFile` is for a node whose URL has no credentials: the file's content is sent, and read
 * again when it is refused. Throws RangeError if `url` is not an http or https URL; the message does not repeat it.
 */
export function createRpcNode(url: string, timeoutMs: number, cookieFile: string | null = null): RpcNode {
  const parsed = URL.parse(url);
  if (!parsed || !/^https?:$/.test(parsed.protocol)) {
    throw new RangeError('the address of a node must be a URL that begins with http:// or https://');
  }
  const { post, secrets, close } = createTransport(parsed, timeoutMs, cookieFile);
  /** No two calls share an id, so that an answer to another call is noticed. */
  let newestId = 0;
  return {
    name: `${parsed.protocol}//${parsed.host}`,
    call: async (method, params) => {
      const id = (newestId += 1);
      const given = await post(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
      checkId(given, new Set([id]));
      const answer = readAnswer(given, secrets());
      if (answer.kind === 'error') throw answer.error;
      return answer.result;
    },
    callAll: async (calls) => {
      if (calls.length === 0) return [];
      const batch = calls.map(({ method, params }) => ({ jsonrpc: '2.0', id: (newestId += 1), method, params }));
      const ids = new Set(batch.map(({ id }) => id));
      const answers = new Map<unknown, RpcResult>();
      const given = await post(JSON.stringify(batch));
      // A node that accepts no batches answers with a single error.
      const whole = Array.isArray(given) ? null : readAnswer(given, secrets());
      if (whole?.kind === 'error') throw whole.error;
      for (const answer of decodeArray(given, 'the batch')) {
        answers.set(checkId(answer, ids), readAnswer(answer, secrets()));
      }
      return batch.map(({ id }) => {
        const answer = answers.get(id);
        if (answer === undefined) throw new MalformedAnswerError('the batch', 'as long as the request');
        return answer;
      });
    },
    close,
  };
}

/**
 * The id that an answer names; null if the node could not tell. Throws `NodeBusyError` if the id belongs to another
 * call.
 */
function checkId(answer: unknown, asked: ReadonlySet<number>): number | null {
  const id = typeof answer === 'object' && answer !== null && 'id' in answer ? (answer.id ?? null) : null;
  if (id === null) return null;
  if (typeof id !== 'number' || !asked.has(id)) throw new NodeBusyError(`${BUSY}: its answer belongs to another call`);
  return id;
}

/** The connection to a node, with its credentials. */
interface Transport {
  /** The node's answer to a body, parsed. Throws `NodeError`, without any secret in its message. */
  readonly post: (body: string) => Promise<unknown>;
  /** Texts that must not appear in a message, longest first. */
  readonly secrets: () => readonly string[];
  readonly close: () => Promise<void>;
}

function createTransport(url: URL, timeoutMs: number, cookieFile: string | null): Transport {
  const ofUrl = secretsOf(url);
  const hasCredentials = url.username !== '' || url.password !== '';
  const own = hasCredentials ? basicAuthorization(`${decoded(url.username)}:${decoded(url.password)}`) : null;
  const cookie = cookieFile === null || hasCredentials ? null : createCookie(cookieFile);
  const target = `${url.origin}${url.pathname}${url.search}`;
  let agent: Agent | undefined;

  const secrets = (): readonly string[] => [...ofUrl, ...(cookie?.secrets() ?? [])];

  async function post(body: string): Promise<unknown> {
    if (cookie === null) return send(body, own);
    try {
      return await send(body, await cookie.header());
    } catch (fault) {
      if (!(fault instanceof NodeError && fault.status === 401)) throw asNodeError(fault);
    }
    cookie.forget();
    try {
      return await send(body, await cookie.header());
    } catch (fault) {
      if (!(fault instanceof NodeError && fault.status === 401)) throw asNodeError(fault);
      throw new NodeError(
        `HTTP status 401: the node rejects the cookie in ${cookieFile}, which belongs to another node`,
        undefined,
        401,
      );
    }
  }

  async function send(body: string, authorization: string | null): Promise<unknown> {
    const headers = { 'content-type': 'application/json', ...(authorization === null ? {} : { authorization }) };
    // Loaded with the first call: most commands ask no node, and would take a sixth longer to start.
    const { Agent, request } = await import('undici');
    // Without undici's own timeouts: they end with the headers and let a body stall forever. The caller decides about
    // retries.
    agent ??= new Agent({ headersTimeout: 0, bodyTimeout: 0, connectTimeout: timeoutMs, keepAliveTimeout: 2_000 });
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const response = await request(target, { method: 'POST', headers, body, dispatcher: agent, signal });
      const text = await readText(response.body);
      return parseAnswer(text, response.statusCode);
    } catch (fault) {
      if (fault instanceof MalformedAnswerError || fault instanceof NodeError) throw fault;
      throw new NodeError(signal.aborted ? `${TOO_SLOW} ${timeoutMs} ms` : redact(reasonOf(fault), secrets()));
    }
  }

  return { post, secrets, close: async () => agent?.destroy() };
}

function asNodeError(fault: unknown): unknown {
  return fault instanceof CookieError ? new NodeError(fault.message) : fault;
}

async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > MAX_ANSWER_BYTES) throw new NodeError(`the answer is larger than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length).toString('utf8');
}

/**
 * Bitcoin Core answers a call's own error with status 500 and a JSON-RPC body, and a wrong password with 401 and no
 * body.
 */
function parseAnswer(text: string, status: number): unknown {
  if (BUSY_STATUSES.includes(status)) throw new NodeBusyError(`${BUSY}: HTTP status ${status}`, undefined, status);
  const isSuccess = status >= 200 && status < 300;
  try {
    const answer: unknown = JSON.parse(text);
    if (isSuccess || (typeof answer === 'object' && answer !== null && 'error' in answer && 'id' in answer)) {
      return answer;
    }
  } catch {
    if (isSuccess && /^\s*[[{]/.test(text)) throw new NodeBusyError(`${BUSY}: its answer was cut`);
    if (isSuccess) throw new MalformedAnswerError('the answer', 'JSON');
  }
  throw new NodeError(`HTTP status ${status}${REFUSALS.get(status) ?? ''}`, undefined, status);
}

function readAnswer(answer: unknown, secrets: readonly string[]): RpcResult {
  if (typeof answer !== 'object' || answer === null)
    throw new MalformedAnswerError('the answer', 'a JSON-RPC response');
  if ('error' in answer && answer.error !== undefined && answer.error !== null) {
    const { code, message }: { code: unknown; message: unknown } = {
      code: undefined,
      message: undefined,
      ...answer.error,
    };
    const reason = redact(`JSON-RPC error ${String(code)}: ${String(message)}`, secrets);
    return { kind: 'error', code, error: errorOf(reason, code, String(message)) };
  }
  if (!('result' in answer) || answer.result === undefined) {
    throw new MalformedAnswerError('the answer', 'a JSON-RPC response');
  }
  return { kind: 'ok', result: answer.result };
}

function errorOf(reason: string, code: unknown, message: string): NodeError {
  if (METHOD_MISSING_CODES.includes(code)) return new MethodMissingError(reason, code);
  // A batch that is too long is refused each time.
  const isBusy = (BUSY_CODES.includes(code) || BUSY_MESSAGE.test(message)) && !/batch/i.test(message);
  return isBusy ? new NodeBusyError(`${BUSY}: ${reason}`, code) : new NodeError(reason, code);
}

/** The most informative part of a failed request: the innermost cause ("connect ECONNREFUSED …"). */
function reasonOf(fault: unknown): string {
  let innermost = fault;
  while (innermost instanceof Error && innermost.cause) innermost = innermost.cause;
  if (!(innermost instanceof Error)) return 'the request failed';
  const code = 'code' in innermost && typeof innermost.code === 'string' ? innermost.code : '';
  // If several addresses of one host fail, the result is an AggregateError with an empty message.
  return (innermost.message.split('\n')[0] ?? '') || code || innermost.name;
}
