import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { AnswerOf, QueryOf } from '../../../../src/http/dashboard/contract/index.ts';
import type { Api } from '../../api.ts';
import type { Scope } from '../../scope.ts';
import { projectKey } from '../payments/queries.ts';
import { webhooksKey } from '../webhooks/queries.ts';

const LIST = 'GET /dashboard/api/projects/:project/:mode/event-log';
type Page = AnswerOf<typeof LIST>;
export type EventFilters = Omit<QueryOf<typeof LIST>, 'after' | 'limit'>;

/** The log of events, page by page, newest first. */
export function eventsQuery(api: Api, scope: Scope, filters: EventFilters) {
  return infiniteQueryOptions({
    queryKey: [...projectKey(scope), 'event-log', filters],
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

const EVERY_MS = 10_000;

/** The first page as it is now. What no endpoint gets is reported by no stream, so it is polled too. */
export function newestEventsQuery(api: Api, scope: Scope, filters: EventFilters) {
  return queryOptions({
    queryKey: [...webhooksKey(scope), 'newest-events', filters],
    queryFn: ({ signal }) => api(LIST, { params: { ...scope }, query: { ...filters } }, signal),
    refetchInterval: EVERY_MS,
  });
}

export function eventQuery(api: Api, scope: Scope, event: string) {
  return queryOptions({
    queryKey: [...projectKey(scope), 'event', event],
    queryFn: ({ signal }) => api(`${LIST}/:event`, { params: { ...scope, event } }, signal),
    // An event never changes.
    staleTime: Infinity,
  });
}
