import type { AnswerOf, BodyOf, ParamsOf, QueryOf, RouteName } from '../../src/http/dashboard/contract/index.ts';

/** A part that a route does not have is left out; one that it has must be given. */
type Optional<Name extends string, Value> = [Value] extends [undefined]
  ? unknown
  : Partial<Value> extends Value
    ? { readonly [key in Name]?: Value }
    : { readonly [key in Name]: Value };

/** What a call of a route takes. */
export type Input<Name extends RouteName> = Optional<'params', ParamsOf<Name>> &
  Optional<'query', QueryOf<Name>> &
  Optional<'body', BodyOf<Name>>;

type Arguments<Name extends RouteName> =
  unknown extends Input<Name>
    ? [input?: undefined, signal?: AbortSignal]
    : Partial<Input<Name>> extends Input<Name>
      ? [input?: Input<Name>, signal?: AbortSignal]
      : [input: Input<Name>, signal?: AbortSignal];

/** Sends one request and gives back its answer. Throws an `ApiFault`. */
export type Api = <Name extends RouteName>(name: Name, ...given: Arguments<Name>) => Promise<AnswerOf<Name>>;

/** What the server refused, or `offline` where none answered. */
export class ApiFault extends Error {
  override readonly name = 'ApiFault';
  readonly status: number;
  readonly type: string;
  /** The field that is at fault; null where it is none. */
  readonly param: string | null;

  constructor(status: number, type: string, message: string, param: string | null) {
    super(message);
    this.status = status;
    this.type = type;
    this.param = param;
  }
}

export interface ApiOptions {
  /** Asks the person to prove who they are; whether they did. */
  readonly prove: () => Promise<boolean>;
  /** The session is over. */
  readonly signedOut: () => void;
}

const TIMEOUT_MS = 30_000;

/** The server's routes as functions, by the names of the contract. */
export function createApi({ prove, signedOut }: ApiOptions): Api {
  return async (name, ...[input, signal]) => {
    try {
      return await send(name, input ?? {}, signal);
    } catch (error) {
      if (!(error instanceof ApiFault)) throw error;
      if (error.status === 401 && !isSignIn(name)) signedOut();
      if (error.type !== 'proof_required' || !(await prove())) throw error;
      return send(name, input ?? {}, signal);
    }
  };
}

/** Where 401 means a wrong password or code. */
function isSignIn(name: RouteName): boolean {
  return name.includes('/sign-in') || name.includes('/links/');
}

interface Parts {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

async function send<Name extends RouteName>(name: Name, input: Parts, signal?: AbortSignal): Promise<AnswerOf<Name>> {
  const [method = 'GET', path = ''] = name.split(' ');
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), TIMEOUT_MS);
  signal?.addEventListener('abort', () => limit.abort(), { once: true });
  const request: RequestInit = {
    method,
    credentials: 'same-origin',
    headers: { accept: 'application/json', ...(method === 'POST' && { 'content-type': 'application/json' }) },
    ...(method === 'POST' && { body: JSON.stringify(input.body ?? {}) }),
    signal: limit.signal,
  };
  try {
    const answer = await fetch(urlOf(path, input), request);
    const parsed: unknown = await answer.json();
    if (answer.ok) return parsed as AnswerOf<Name>;
    throw faultOf(answer.status, parsed);
  } catch (error) {
    if (error instanceof ApiFault || signal?.aborted === true) throw error;
    // No answer, or one that is none of ours: a proxy's page that says the service is away.
    throw new ApiFault(0, 'offline', '', null);
  } finally {
    clearTimeout(timer);
  }
}

export function urlOf(path: string, { params = {}, query = {} }: Parts): string {
  const filled = path.replaceAll(/:(\w+)/g, (_part, key: string) => encodeURIComponent(params[key] ?? ''));
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(given.map(([key, value]) => [key, String(value)]));
  return given.length === 0 ? filled : `${filled}?${search.toString()}`;
}

function faultOf(status: number, body: unknown): ApiFault {
  const { error } = Object(body) as { readonly error?: unknown };
  const { type, message, param } = Object(error) as Readonly<Record<string, unknown>>;
  return new ApiFault(
    status,
    typeof type === 'string' ? type : 'api_error',
    typeof message === 'string' ? message : '',
    typeof param === 'string' ? param : null,
  );
}
