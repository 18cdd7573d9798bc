import { infiniteQueryOptions, queryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { Api } from '../../api.ts';
import { useDashboard } from '../../dashboard.ts';
import { useScope, type Scope } from '../../scope.ts';
import { projectKey } from '../payments/queries.ts';

/** A page of a log, newest first. */
export interface LogPage<Row> {
  readonly data: readonly Row[];
  readonly next: string | null;
}

interface LogReading<Page> {
  /** Reads the page after the one that gave `after`. */
  readonly read: (after: { readonly after?: string }, signal: AbortSignal) => Promise<Page>;
  /** How often the first page is read again, where no stream reports what is new. */
  readonly everyMs?: number;
  /** Which reports of the stream mean that there may be new rows; those about webhooks by default. */
  readonly of?: 'webhooks' | 'refunds';
}

/** The queries of a log by its name: the list, page by page, and its first page as it is now. */
export function logQueries<Page extends LogPage<unknown>>(
  scope: Scope,
  name: string,
  filters: object,
  { read, everyMs, of = 'webhooks' }: LogReading<Page>,
) {
  return {
    list: infiniteQueryOptions({
      // Not below the project, all of which is requested again when too much changed to list: no row is to move.
      queryKey: ['log', ...projectKey(scope), name, filters],
      queryFn: ({ pageParam, signal }) => read(pageParam === null ? {} : { after: pageParam }, signal),
      initialPageParam: null as string | null,
      getNextPageParam: (page: Page) => page.next,
      // New rows are shown on a click.
      staleTime: Infinity,
      refetchOnMount: 'always',
    }),
    newest: queryOptions({
      // What the stream reports of them is requested again.
      queryKey: [...projectKey(scope), of, 'newest', name, filters],
      queryFn: ({ signal }) => read({}, signal),
      ...(everyMs !== undefined && { refetchInterval: everyMs }),
    }),
  };
}

/** Reads a log of the project and mode in the address. */
export function useLog<Page extends LogPage<unknown>>(
  queries: (api: Api, scope: Scope) => ReturnType<typeof logQueries<Page>>,
) {
  const { api } = useDashboard();
  const wanted = queries(api, useScope());
  const list = useInfiniteQuery(wanted.list);
  const newest = useQuery({ ...wanted.newest, enabled: list.data !== undefined });
  return { list, newest };
}
