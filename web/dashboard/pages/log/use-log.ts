import { infiniteQueryOptions, queryOptions, useInfiniteQuery, useQueries, useQuery } from '@tanstack/react-query';
import type { Api } from '../../api.ts';
import { useDashboard } from '../../dashboard.ts';
import { useScope, type Scope } from '../../scope.ts';
import { projectKey } from '../payments/queries.ts';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { unreadOf } from './search.ts';

/** A page of a log, newest first. */
export interface LogPage<Row> {
  readonly data: readonly Row[];
  readonly next: string | null;
}

interface LogReading<Page extends LogPage<unknown>> {
  /** Reads the page after the one that gave `after`. */
  readonly read: (after: { readonly after?: string }, signal: AbortSignal) => Promise<Page>;
  /** How often the first page is read again, where no stream reports what is new. */
  readonly everyMs?: number;
  /** Which reports of the stream mean that there may be new rows; those about webhooks by default. */
  readonly of?: 'webhooks' | 'refunds';
  /** Whether a row can still change. Such rows are kept up to date on further pages as well; by default on none. */
  readonly isOpen?: (row: Page['data'][number]) => boolean;
}

/** The queries of a log by its name: the list, page by page, and its first page as it is now. */
export function logQueries<Page extends LogPage<unknown>>(
  scope: Scope,
  name: string,
  filters: object,
  { read, everyMs, of = 'webhooks', isOpen = () => false }: LogReading<Page>,
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
      // The stream's reports make these be requested again.
      queryKey: [...projectKey(scope), of, 'newest', name, filters],
      queryFn: ({ signal }) => read({}, signal),
      ...(everyMs !== undefined && { refetchInterval: everyMs }),
    }),
    /** A page after the first as it is now, by the cursor that it follows; null if none of its rows can change. */
    further: (after: string | null, page: Page) =>
      after === null || !page.data.some(isOpen)
        ? null
        : queryOptions({
            queryKey: [...projectKey(scope), of, 'further', name, filters, after],
            queryFn: ({ signal }) => read({ after }, signal),
            initialData: page,
            // Only what the stream reports is a reason to read it again.
            staleTime: Infinity,
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
  const pages = list.data?.pages ?? [];
  const further = useQueries({
    queries: pages.flatMap((page, at) => wanted.further(pages[at - 1]?.next ?? null, page) ?? []),
    combine: (found): readonly Page['data'][number][] => found.flatMap(({ data }) => data?.data ?? []),
  });
  return { list, newest, further };
}

/** A change of a log's search; undefined removes a value. */
export type LogChange = Readonly<Record<string, string | undefined>>;

/** The filters and the chosen row of a log, which are in the URL. `read` drops what it does not know. */
export function useLogSearch<Search extends { readonly show?: string }>(
  read: (given: Readonly<Record<string, unknown>>) => Search,
) {
  const given: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const search = read(given);
  const navigate = useNavigate();
  const set = (change: LogChange, replace: boolean): void =>
    void navigate({ to: '.', search: (before) => read({ ...before, ...change }), replace, resetScroll: false });
  return {
    search,
    /** Filters of the address that `read` does not know; they narrow nothing. */
    unread: unreadOf(given, search),
    /** Filters replace the address: the way back leads to the page before. */
    onChange: (change: LogChange): void => set(change, true),
    onShow: (show: string | undefined): void => set({ show }, show !== undefined && search.show !== undefined),
  };
}
