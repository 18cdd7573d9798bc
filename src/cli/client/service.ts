import { parseKey } from '../../domain/api-key.ts';
import type { Mode } from '../../domain/permission.ts';
import { codeOf, CommandFailure, reasonOf } from '../failure.ts';

/** A service that commands reach by its address and a key, from any machine. */
export interface Service {
  /** Without a slash at its end. */
  readonly url: string;
  readonly key: string;
  readonly mode: Mode;
}

type Environment = Readonly<Record<string, string | undefined>>;

const SET_BOTH =
  'Set COINTILL_URL to the address of the service, such as http://127.0.0.1:4001, and COINTILL_KEY to a secret API key of your project.';

/** The service that the environment names. @throws CommandFailure that says what is missing */
export function serviceOf(env: Environment): Service {
  const key = (env['COINTILL_KEY'] ?? '').trim();
  const address = (env['COINTILL_URL'] ?? '').trim();
  if (key === '' || address === '') {
    throw new CommandFailure(`${address === '' ? 'COINTILL_URL' : 'COINTILL_KEY'} is not set. ${SET_BOTH}`);
  }
  const facts = parseKey(key);
  if (facts === null) {
    throw new CommandFailure(
      'COINTILL_KEY is not an API key: it starts with sk_test_ or sk_live_, and a checksum finds typing errors.',
    );
  }
  if (facts.kind === 'public') {
    throw new CommandFailure('COINTILL_KEY is a public key, which reads no events. Use a secret key (sk_…).');
  }
  const url = URL.parse(address.includes('://') ? address : `http://${address}`);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new CommandFailure(`COINTILL_URL must be an http or https address. ${SET_BOTH}`);
  }
  if (url.username !== '' || url.search !== '' || url.hash !== '' || /\/(?:v1|api)\b/.test(url.pathname)) {
    throw new CommandFailure(
      `COINTILL_URL must be the address alone, without a path of the API, a user or a query. ${SET_BOTH}`,
    );
  }
  return { url: `${url.origin}${url.pathname.replace(/\/+$/, '')}`, key, mode: facts.mode };
}

/** The service's refusal, with its own words. */
export class Refused extends CommandFailure {
  readonly status: number;
  /** How long to wait before asking again, in milliseconds. */
  readonly retryAfterMs: number;

  constructor(message: string, status: number, retryAfterMs: number) {
    super(message);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Nobody answered. */
export class Unreachable extends CommandFailure {}

export interface Answer {
  /** The body, exactly as it came. */
  readonly text: string;
  readonly headers: Headers;
}

interface Asked {
  readonly body?: object;
  /** Aborts the request. */
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 30_000;

/**
 * One request to the service.
 *
 * @throws Refused if the service refuses it
 * @throws Unreachable if it does not answer
 */
export async function ask(
  { url, key }: Service,
  method: 'GET' | 'POST',
  path: string,
  asked: Asked = {},
): Promise<Answer> {
  const { body, signal, timeoutMs = TIMEOUT_MS } = asked;
  const limits = [AbortSignal.timeout(timeoutMs), ...(signal === undefined ? [] : [signal])];
  try {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.any(limits),
      redirect: 'error',
    });
    const text = await response.text();
    if (!response.ok) throw refusal(response, text);
    return { text, headers: response.headers };
  } catch (error) {
    if (error instanceof Refused) throw error;
    signal?.throwIfAborted();
    throw new Unreachable(`${url} does not answer (${causeOf(error)}). Check COINTILL_URL and the service.`, {
      cause: error,
    });
  }
}

function causeOf(error: unknown): string {
  if (error instanceof DOMException && error.name === 'TimeoutError') return 'no answer in time';
  const cause = error instanceof Error ? error.cause : undefined;
  return codeOf(error) ?? reasonOf(cause ?? error);
}

/** The message of an error body of either API; the status where there is none, as from a proxy. */
function refusal(response: Response, text: string): Refused {
  const retryAfter = Number(response.headers.get('retry-after') ?? 0);
  const message = messageIn(text) ?? `${response.url} answered ${response.status} ${response.statusText}.`;
  return new Refused(message, response.status, Number.isFinite(retryAfter) ? retryAfter * 1_000 : 0);
}

function messageIn(text: string): string | null {
  try {
    const body: unknown = JSON.parse(text);
    const error: unknown = at(body, 'error') ?? body;
    const message: unknown = at(error, 'message') ?? error;
    return typeof message === 'string' ? message : null;
  } catch {
    return null;
  }
}

/** A field of a parsed JSON object; undefined if there is none. */
export function at(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** A field that is a text or a number, as text; empty if it is neither. */
export function textAt(value: unknown, name: string): string {
  const found = at(value, name);
  return typeof found === 'string' || typeof found === 'number' ? String(found) : '';
}
