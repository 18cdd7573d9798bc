import { infiniteQueryOptions } from '@tanstack/react-query';
import { reads, type Api } from '../../api.ts';
import type { AnswerOf } from '../../../../src/http/dashboard/contract.ts';
import type { Scope } from '../../scope.ts';
import { listKey } from './queries.ts';
import { filtersOf, type PaymentsSearch } from './search.ts';

/** A list of payments, page by page, newest first. */
export function paymentsQuery(api: Api, scope: Scope, search: PaymentsSearch) {
  const { show: _panel, columns: _columns, view: _view, ...narrowed } = search;
  return infiniteQueryOptions({
    // Not the request: a period begins at another moment whenever it is read.
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

/** The words that filters can have. They change with the program's version alone. */
export const filterWordsQuery = { ...reads(['filters'], 'GET /dashboard/api/filters'), staleTime: Infinity };

/** The person's views of the list, and the shared ones. */
export function viewsQuery({ project }: Pick<Scope, 'project'>) {
  const query = reads(['project', project], 'GET /dashboard/api/projects/:project/views', { params: { project } });
  return { ...query, select: ({ data }: AnswerOf<'GET /dashboard/api/projects/:project/views'>) => data };
}
