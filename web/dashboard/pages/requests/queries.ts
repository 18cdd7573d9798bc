import { queryOptions } from '@tanstack/react-query';
import type { Api } from '../../api.ts';
import type { Scope } from '../../scope.ts';
import { logQueries } from '../log/use-log.ts';
import { projectKey } from '../payments/queries.ts';
import type { RequestFilters } from './search.ts';

const LIST = 'GET /dashboard/api/projects/:project/:mode/requests';

const EVERY_MS = 5_000;

/** The calls of the APIs. No stream reports them: they are saved in batches. */
export function requestLog(api: Api, scope: Scope, filters: RequestFilters) {
  return logQueries(scope, 'requests', filters, {
    read: (after, signal) => api(LIST, { params: { ...scope }, query: { ...filters, ...after } }, signal),
    everyMs: EVERY_MS,
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
