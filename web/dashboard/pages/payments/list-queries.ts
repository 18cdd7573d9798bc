import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { Api } from '../../api.ts';
import type { Scope } from '../../scope.ts';
import { listKey, type ListPage } from './queries.ts';
import { filtersOf, type PaymentsSearch } from './search.ts';

const LIST = 'GET /dashboard/api/projects/:project/:mode/payments';

/** A list of payments, page by page, newest first. */
export function paymentsQuery(api: Api, scope: Scope, search: PaymentsSearch) {
  const { show: _panel, columns: _columns, view: _view, ...narrowed } = search;
  return infiniteQueryOptions({
    queryKey: [...listKey(scope), narrowed],
    queryFn: ({ pageParam, signal }) =>
      api(
        LIST,
        { params: { ...scope }, query: { ...filtersOf(narrowed), ...(pageParam && { after: pageParam }) } },
        signal,
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page: ListPage) => page.next,
    // The stream keeps it up to date.
    staleTime: Infinity,
    refetchOnMount: 'always',
  });
}

/** The words that filters can have. They change with the program's version alone. */
export function filterWordsQuery(api: Api) {
  return queryOptions({
    queryKey: ['filters'],
    queryFn: ({ signal }) => api('GET /dashboard/api/filters', undefined, signal),
    staleTime: Infinity,
  });
}

/** The person's views of the list, and the shared ones. */
export function viewsQuery(api: Api, { project }: Pick<Scope, 'project'>) {
  return queryOptions({
    queryKey: ['project', project, 'views'],
    queryFn: async ({ signal }) =>
      (await api('GET /dashboard/api/projects/:project/views', { params: { project } }, signal)).data,
  });
}
