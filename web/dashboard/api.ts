import {
  infiniteQueryOptions,
  queryOptions,
  type InfiniteData,
  type QueryFunctionContext,
  type QueryKey,
} from '@tanstack/react-query';
import type { AnswerOf, BodyOf, ParamsOf, QueryOf, RouteName } from '../../src/http/dashboard/contract.ts';

/** Exactly the parts that the route has. */
type Optional<Name extends string, Value> = [Value] extends [undefined]
  ? unknown
  : Partial<Value> extends Value
    ? { readonly [key in Name]?: Value }
    : { readonly [key in Name]: Value };

/** The parts of a request. */
export type Input<Name extends RouteName> = Optional<'params', ParamsOf<Name>> &
  Optional<'query', QueryOf<Name>> &
  Optional<'body', BodyOf<Name>>;

type Arguments<Name extends RouteName> =
  unknown extends Input<Name>
    ? [input?: undefined, signal?: AbortSignal]
    : Partial<Input<Name>> extends Input<Name>
      ? [input?: Input<Name>, signal?: AbortSignal]
      : [input: Input<Name>, signal?: AbortSignal];

/** @throws ApiFault if the request is refused or gets no answer */
export type Api = <Name extends RouteName>(name: Name, ...given: Arguments<Name>) => Promise<AnswerOf<Name>>;

/** The server's error, or `offline` if there was no answer. */
export class ApiFault extends Error {
  override readonly name = 'ApiFault';
  readonly status: number;
  readonly type: string;
  /** The invalid field; null if the error is not about a field. */
  readonly param: string | null;

  constructor(status: number, type: string, message: string, param: string | null) {
    super(message);
    this.status = status;
    this.type = type;
    this.param = param;
  }
}

export interface ApiOptions {
  /** The language of the server's messages. */
  readonly language: string;
  /** Asks the person to reauthenticate. False if they do not. */
  readonly reauthenticate: () => Promise<boolean>;
  /** Called when the session has ended. */
  readonly signedOut: () => void;
  /** Called when a request is not permitted, so that the role, or what it requires, may have changed. */
  readonly forbidden: () => void;
}

const TIMEOUT_MS = 30_000;

const SESSION = 'GET /dashboard/api/session';

/** Calls the server's routes by their names in the contract. */
export function createApi({ language, reauthenticate, signedOut, forbidden }: ApiOptions): Api {
  return async (name, ...[input, signal]) => {
    try {
      return await send(name, input ?? {}, language, signal);
    } catch (error) {
      if (!(error instanceof ApiFault)) throw error;
      if (error.status === 401 && !isSignIn(name)) signedOut();
      if (isForbidden(error) && name !== SESSION) forbidden();
      if (error.type !== 'reauthentication_required' || !(await reauthenticate())) throw error;
      return send(name, input ?? {}, language, signal);
    }
  };
}

/** Whether the person may not do this now, because of their role or for lack of a second factor. */
export function isForbidden({ type }: ApiFault): boolean {
  return type === 'permission_error' || type === 'second_factor_required';
}

/** Routes where 401 means a wrong password or code. */
function isSignIn(name: RouteName): boolean {
  return name.includes('/sign-in') || name.includes('/links/');
}

interface Parts {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

/** A query that reads a route. Its key is `key` and the request, so that invalidating `key` reads the route again. */
export function reads<Name extends RouteName>(key: QueryKey, name: Name, ...[input]: Arguments<Name>) {
  return queryOptions<AnswerOf<Name>>({ queryKey: [...key, name, input ?? {}] });
}

/** The routes that answer with a page of a list and the cursor of the next page. */
export type PagedRoute = {
  [Name in RouteName]: AnswerOf<Name> extends { readonly next: string | null } ? Name : never;
}[RouteName];

/** A query that reads a list page by page. */
export function readsPages<Name extends PagedRoute>(key: QueryKey, name: Name, ...[input]: Arguments<Name>) {
  type Page = AnswerOf<Name>;
  return infiniteQueryOptions<Page, Error, InfiniteData<Page, string | null>, QueryKey, string | null>({
    queryKey: [...key, name, input ?? {}],
    initialPageParam: null,
    getNextPageParam: (page) => (page as { readonly next: string | null }).next,
  });
}

/** Sends the request at the end of a query's key. */
export function readByKey(api: Api, { queryKey, pageParam, signal }: QueryFunctionContext): Promise<unknown> {
  const [name, input] = queryKey.slice(-2) as [name: RouteName, input: Parts];
  const after = typeof pageParam === 'string' ? { after: pageParam } : {};
  const read = api as (name: RouteName, input: Parts, signal: AbortSignal) => Promise<unknown>;
  return read(name, { ...input, query: { ...input.query, ...after } }, signal);
}

async function send<Name extends RouteName>(
  name: Name,
  input: Parts,
  language: string,
  signal?: AbortSignal,
): Promise<AnswerOf<Name>> {
  const [method = 'GET', path = ''] = name.split(' ');
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), TIMEOUT_MS);
  signal?.addEventListener('abort', () => limit.abort(), { once: true });
  const request: RequestInit = {
    method,
    credentials: 'same-origin',
    headers: {
      accept: 'application/json',
      'accept-language': language,
      ...(method === 'POST' && { 'content-type': 'application/json' }),
    },
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
    // No answer, or not one of the service, such as a proxy's error page.
    throw new ApiFault(0, 'offline', '', null);
  } finally {
    clearTimeout(timer);
  }
}

export function urlOf(path: string, { params = {}, query = {} }: Parts): string {
  const filled = path.replaceAll(/:(\w+)/g, (_part, key: string) => encodeURIComponent(params[key] ?? ''));
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(given.map(([key, value]): [string, string] => [key, String(value)]));
  return given.length === 0 ? filled : `${filled}?${search.toString()}`;
}

/** The error of an answer that is not 2xx. */
export function faultOf(status: number, body: unknown): ApiFault {
  const { error } = Object(body) as { readonly error?: unknown };
  const { type, message, param } = Object(error) as Readonly<Record<string, unknown>>;
  return new ApiFault(
    status,
    typeof type === 'string' ? type : 'api_error',
    typeof message === 'string' ? message : '',
    typeof param === 'string' ? param : null,
  );
}
