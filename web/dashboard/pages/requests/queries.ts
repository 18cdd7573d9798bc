import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { AnswerOf, QueryOf } from '../../../../src/http/dashboard/contract/index.ts';
import type { Api } from '../../api.ts';
import type { Scope } from '../../scope.ts';
import { projectKey } from '../payments/queries.ts';

const LIST = 'GET /dashboard/api/projects/:project/:mode/requests';
type Page = AnswerOf<typeof LIST>;
export type RequestFilters = Omit<QueryOf<typeof LIST>, 'after' | 'limit'>;

/** The calls of the APIs, page by page, newest first. */
export function requestsQuery(api: Api, scope: Scope, filters: RequestFilters) {
  return infiniteQueryOptions({
    queryKey: [...projectKey(scope), 'requests', filters],
    queryFn: ({ pageParam, signal }) =>
      api(
        LIST,
        { params: { ...scope }, query: { ...filters, ...(pageParam !== null && { after: pageParam }) } },
        signal,
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page: Page) => page.next,
    // New ones are shown on a click.
    staleTime: Infinity,
    refetchOnMount: 'always',
  });
}

const EVERY_MS = 5_000;

/** The first page as it is now. No stream reports calls: they are saved in batches. */
export function newestRequestsQuery(api: Api, scope: Scope, filters: RequestFilters) {
  return queryOptions({
    queryKey: [...projectKey(scope), 'newest-requests', filters],
    queryFn: ({ signal }) => api(LIST, { params: { ...scope }, query: { ...filters } }, signal),
    refetchInterval: EVERY_MS,
  });
}

export function requestQuery(api: Api, scope: Scope, request: string) {
  return queryOptions({
    queryKey: [...projectKey(scope), 'request', request],
    queryFn: ({ signal }) => api(`${LIST}/:request`, { params: { ...scope, request } }, signal),
    // It never changes.
    staleTime: Infinity,
  });
}
