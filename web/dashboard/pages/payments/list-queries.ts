import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { reads, type Api } from '../../api.ts';
import type { AnswerOf } from '../../../../src/http/dashboard/contract.ts';
import { listKey, projectKey } from './queries.ts';
import { filtersOf, type PaymentsSearch } from './search.ts';
import type { Scope } from '../../scope.ts';

/** A list of payments, page by page, newest first. */
export function paymentsQuery(api: Api, scope: Scope, search: PaymentsSearch) {
  const { show: _panel, columns: _columns, view: _view, ...narrowed } = search;
  return infiniteQueryOptions({
    // The key does not contain the request, because a period begins at another time whenever it is read.
    queryKey: [...listKey(scope), narrowed],
    queryFn: ({ pageParam, signal }) =>
      api(
        'GET /dashboard/api/projects/:project/:mode/payments',
        { params: scope, query: { ...filtersOf(narrowed), ...(pageParam && { after: pageParam }) } },
        signal,
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    // The stream keeps it up to date.
    staleTime: Infinity,
    refetchOnMount: 'always',
  });
}

/** How many payments match the filters. */
export function foundQuery(api: Api, scope: Scope, search: PaymentsSearch) {
  const { show: _panel, columns: _columns, view: _view, ...narrowed } = search;
  return queryOptions({
    queryKey: [...projectKey(scope), 'found', narrowed],
    queryFn: ({ signal }) =>
      api(
        'GET /dashboard/api/projects/:project/:mode/payments/count',
        { params: scope, query: filtersOf(narrowed) },
        signal,
      ),
  });
}

/** The words that filters can have. They change only with the program's version. */
export const filterWordsQuery = { ...reads(['filters'], 'GET /dashboard/api/filters'), staleTime: Infinity };

/** The person's views of the list, and the shared ones. */
export function viewsQuery({ project }: Pick<Scope, 'project'>) {
  const query = reads(['project', project], 'GET /dashboard/api/projects/:project/views', { params: { project } });
  return { ...query, select: ({ data }: AnswerOf<'GET /dashboard/api/projects/:project/views'>) => data };
}
