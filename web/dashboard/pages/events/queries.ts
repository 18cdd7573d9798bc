import { queryOptions } from '@tanstack/react-query';
import type { QueryOf } from '../../../../src/http/dashboard/contract/index.ts';
import type { Api } from '../../api.ts';
import type { Scope } from '../../scope.ts';
import { logQueries } from '../log/use-log.ts';
import { projectKey } from '../payments/queries.ts';

const LIST = 'GET /dashboard/api/projects/:project/:mode/event-log';
export type EventFilters = Omit<QueryOf<typeof LIST>, 'after' | 'limit'>;

const EVERY_MS = 10_000;

/** The log of events. What no endpoint gets is reported by no stream, so it is polled too. */
export function eventLog(api: Api, scope: Scope, filters: EventFilters) {
  return logQueries(scope, 'event-log', filters, {
    read: (after, signal) => api(LIST, { params: { ...scope }, query: { ...filters, ...after } }, signal),
    everyMs: EVERY_MS,
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
