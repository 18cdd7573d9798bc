import { decodeNumber, MalformedAnswerError } from './decode.ts';

/** A mainnet block with all its transactions is about 1 MB; fast chains and receipts with logs reach tens of MB. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const MAX_REASON_LENGTH = 200;
/** JSON-RPC 2.0's "method not found" and EIP-1474's "method not supported". */
const METHOD_MISSING_CODES: readonly unknown[] = [-32601, -32004];

/** One node of an EVM network behind one URL. */
export interface EvmNode {
  /** Scheme, host and port: for logs and messages, without credentials or path (hosted nodes carry their key in it). */
  readonly name: string;
  /** The result of one JSON-RPC call. Throws `NodeError`. */
  call(method: string, params: readonly unknown[]): Promise<unknown>;
  chainId(): Promise<number>;
}

/** A call that failed. The message is fit for logs; there is deliberately no cause, as viem's errors carry the whole URL. */
export class NodeError extends Error {
  override readonly name: string = 'NodeError';
}

/** The node is well but does not offer the method; another call may do instead. */
export class MethodMissingError extends NodeError {
  override readonly name = 'MethodMissingError';
}

type Send = (method: string, params: readonly unknown[], signal: AbortSignal) => Promise<unknown>;

/** Throws RangeError when `url` is not an http or https URL; the message does not repeat it. */
export function createEvmNode(url: string, timeoutMs: number): EvmNode {
  const parsed = URL.parse(url);
  if (!parsed || !/^https?:$/.test(parsed.protocol)) {
    throw new RangeError('the address of a node must be a URL that begins with http:// or https://');
  }
  const secrets = secretsOf(parsed);
  let connected: Promise<Send> | undefined;

  async function call(method: string, params: readonly unknown[]): Promise<unknown> {
    connected ??= connect(url);
    const send = await connected;
    const signal = AbortSignal.timeout(timeoutMs);
    const answer = await send(method, params, signal).catch((fault: unknown) => {
      throw new NodeError(
        signal.aborted ? `no complete answer within ${timeoutMs} ms` : redact(reasonOf(fault), secrets),
      );
    });
    return resultOf(answer, secrets);
  }

  return {
    name: `${parsed.protocol}//${parsed.host}`,
    call,
    chainId: async () => decodeNumber(await call('eth_chainId', []), 'the chain id'),
  };
}

/** viem takes 15 MB and 0.1 s to load, so it is loaded by the first call to a node, and not at all without one. */
async function connect(url: string): Promise<Send> {
  const { http } = await import('viem');
  // Timeouts are the signal's: viem's own ends with the headers and lets a body stall for ever.
  // Retries are the caller's, with another node.
  const transport = http(url, { raw: true, retryCount: 0, timeout: 0, maxResponseBodySize: MAX_ANSWER_BYTES })({});
  return (method, params, signal) => transport.request({ method, params }, { signal });
}

function resultOf(answer: unknown, secrets: readonly string[]): unknown {
  if (typeof answer !== 'object' || answer === null)
    throw new MalformedAnswerError('the answer', 'a JSON-RPC response');
  if ('error' in answer && answer.error !== undefined && answer.error !== null) {
    const { code, message } = { code: undefined, message: undefined, ...answer.error };
    const reason = redact(`JSON-RPC error ${String(code)}: ${String(message)}`, secrets);
    throw METHOD_MISSING_CODES.includes(code) ? new MethodMissingError(reason) : new NodeError(reason);
  }
  if (!('result' in answer) || answer.result === undefined) {
    throw new MalformedAnswerError('the answer', 'a JSON-RPC response');
  }
  return answer.result;
}

/** The most telling part of a failed request: the HTTP status, else the innermost cause ("connect ECONNREFUSED …"). */
function reasonOf(fault: unknown): string {
  if (typeof fault === 'object' && fault !== null && 'status' in fault && typeof fault.status === 'number') {
    return `HTTP status ${fault.status}`;
  }
  let innermost = fault;
  while (innermost instanceof Error && innermost.cause) innermost = innermost.cause;
  if (!(innermost instanceof Error)) return 'the request failed';
  const code = 'code' in innermost && typeof innermost.code === 'string' ? innermost.code : '';
  // Trying several addresses of one host fails with an AggregateError, whose message is empty.
  return (innermost.message.split('\n')[0] ?? '') || code || innermost.name;
}

/** All parts of a URL that may be a secret, longest first, as they are written and decoded. */
function secretsOf(url: URL): readonly string[] {
  const parts = [
    url.href,
    url.username,
    url.password,
    Buffer.from(`${decoded(url.username)}:${decoded(url.password)}`).toString('base64'),
    url.pathname + url.search,
    ...url.pathname.split('/'),
    ...url.searchParams.values(),
  ];
  return parts
    .flatMap((part) => [part, decoded(part)])
    .filter((part) => part.length >= 3)
    .toSorted((a, b) => b.length - a.length);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function redact(reason: string, secrets: readonly string[]): string {
  return secrets.reduce((text, secret) => text.replaceAll(secret, '***'), reason).slice(0, MAX_REASON_LENGTH);
}
