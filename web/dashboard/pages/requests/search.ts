import type { QueryOf } from '../../../../src/http/dashboard/contract.ts';
import { beginOf, PERIOD_NAMES, present, readSearch, type Given, type SearchOf } from '../../search.ts';

export const OUTCOMES = ['refused', 'accepted'] as const;
export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
/** The periods for which calls are kept. */
export const REQUEST_PERIODS = ['24h', '7d', '30d'] as const;

/** The filters of the requests and the chosen one in the URL. */
const RULES = {
  outcome: OUTCOMES,
  method: METHODS,
  status: /^[1-5]\d\d$/,
  path: /^\S{1,300}$/,
  key: /^key_[0-9a-z]{26}$/,
  /** The id of a request. */
  request: /^\S{1,128}$/,
  period: PERIOD_NAMES,
  show: /^[\da-f-]{36}$/,
} as const;
export type RequestsSearch = SearchOf<typeof RULES>;

export function requestsSearch(given: Given): RequestsSearch {
  return readSearch(RULES, given);
}

/** The filters in the server's terms. */
export type RequestFilters = Omit<QueryOf<'GET /dashboard/api/projects/:project/:mode/requests'>, 'after' | 'limit'>;

export function filtersOf({ outcome, method, status, path, key, request, period }: RequestsSearch): RequestFilters {
  return present({
    outcome,
    method,
    status: status === undefined ? undefined : Number(status),
    path,
    key,
    request_id: request,
    created_after: beginOf(period),
  });
}
