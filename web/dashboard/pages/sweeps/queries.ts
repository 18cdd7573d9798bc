import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { Api } from '../../api.ts';
import type { Scope } from '../../scope.ts';
import { projectKey } from '../payments/queries.ts';

export const SWEEPS = '/dashboard/api/projects/:project/:mode/sweeps';
const PAGE = 20;

/** The prefix of all queries of sweeps, which the live stream names. */
export function sweepsKey(scope: Scope): readonly unknown[] {
  return [...projectKey(scope), 'sweeps'];
}

export function sweepsQuery(api: Api, scope: Scope) {
  return queryOptions({
    queryKey: [...sweepsKey(scope), 'now'],
    queryFn: ({ signal }) => api(`GET ${SWEEPS}`, { params: { ...scope } }, signal),
  });
}

export function historyQuery(api: Api, scope: Scope) {
  return infiniteQueryOptions({
    queryKey: [...sweepsKey(scope), 'history'],
    queryFn: ({ pageParam, signal }) =>
      api(
        `GET ${SWEEPS}/history`,
        { params: { ...scope }, query: { limit: PAGE, ...(pageParam !== null && { after: pageParam }) } },
        signal,
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
  });
}
