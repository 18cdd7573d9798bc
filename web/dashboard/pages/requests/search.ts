import { beginOf, isPeriod, type Period } from '../log/search.ts';
import type { QueryOf } from '../../../../src/http/dashboard/contract.ts';

export const OUTCOMES = ['refused', 'accepted'] as const;
export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
/** The periods for which calls are kept. */
export const REQUEST_PERIODS = ['24h', '7d', '30d'] as const satisfies readonly Period[];

/** The filters as the server takes them. */
export type RequestFilters = Omit<QueryOf<'GET /dashboard/api/projects/:project/:mode/requests'>, 'after' | 'limit'>;

/** The filters of the requests and the chosen one, as they stand in the URL. */
export interface RequestsSearch {
  readonly outcome?: (typeof OUTCOMES)[number];
  readonly method?: (typeof METHODS)[number];
  readonly status?: string;
  readonly path?: string;
  readonly key?: string;
  /** The id of a request. */
  readonly request?: string;
  readonly period?: Period;
  readonly show?: string;
}

/** Reads the search from a URL's query. Unknown values are dropped. */
export function requestsSearch(given: Readonly<Record<string, unknown>>): RequestsSearch {
  const outcome = OUTCOMES.find((one) => one === given['outcome']);
  const method = METHODS.find((one) => one === given['method']);
  const { period } = given;
  return {
    ...(outcome !== undefined && { outcome }),
    ...(method !== undefined && { method }),
    ...textOf('status', given['status'], /^[1-5]\d\d$/),
    ...textOf('path', given['path'], /^\S{1,300}$/),
    ...textOf('key', given['key'], /^key_[0-9a-z]{26}$/),
    ...textOf('request', given['request'], /^\S{1,128}$/),
    ...(isPeriod(period) && { period }),
    ...textOf('show', given['show'], /^[\da-f-]{36}$/),
  };
}

type TextName = 'status' | 'path' | 'key' | 'request' | 'show';

function textOf<Name extends TextName>(name: Name, value: unknown, rule: RegExp): Partial<Record<Name, string>> {
  return typeof value === 'string' && rule.test(value) ? ({ [name]: value } as Partial<Record<Name, string>>) : {};
}

export function filtersOf({ outcome, method, status, path, key, request, period }: RequestsSearch): RequestFilters {
  return {
    ...(outcome !== undefined && { outcome }),
    ...(method !== undefined && { method }),
    ...(status !== undefined && { status: Number(status) }),
    ...(path !== undefined && { path }),
    ...(key !== undefined && { key }),
    ...(request !== undefined && { request_id: request }),
    ...(period !== undefined && { created_after: beginOf(period, Date.now()) }),
  };
}
