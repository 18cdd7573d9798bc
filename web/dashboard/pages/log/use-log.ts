import { useInfiniteQuery, useQueries, useQuery, type InfiniteData, type QueryKey } from '@tanstack/react-query';
import type { AnswerOf } from '../../../../src/http/dashboard/contract.ts';
import type { PagedRoute } from '../../api.ts';
import { projectKey } from '../payments/queries.ts';
import { useScope } from '../../scope.ts';

/** A list of a project and mode that is read page by page, newest first. */
type LogRoute = Extract<PagedRoute, `GET /dashboard/api/projects/:project/:mode/${string}`>;
type RowOf<Route extends LogRoute> = AnswerOf<Route> extends { readonly data: readonly (infer Row)[] } ? Row : never;

interface LogReading<Route extends LogRoute> {
  readonly route: Route;
  /** The filters in the server's terms. */
  readonly filters: object;
  /** How often the first page is read again, if no stream reports new rows. */
  readonly everyMs?: number;
  /** The stream's reports that may mean new rows; by default those about webhooks. */
  readonly of?: 'webhooks' | 'refunds' | 'customers' | 'payment-requests';
  /** Whether a row can still change. Such rows are kept up to date on further pages as well; by default none is. */
  readonly isOpen?: (row: RowOf<Route>) => boolean;
}

/** Reads a log of the project and mode in the URL: page by page, and the present state of its pages. */
export function useLog<Route extends LogRoute>(reading: LogReading<Route>) {
  type Page = AnswerOf<Route> & { readonly data: readonly RowOf<Route>[]; readonly next: string | null };
  const { route, filters, everyMs = false, of = 'webhooks', isOpen = () => false } = reading;
  const scope = useScope();
  const requestAfter = (after?: string) => ({
    params: scope,
    query: { ...filters, ...(after !== undefined && { after }) },
  });
  const list = useInfiniteQuery<Page, Error, InfiniteData<Page>, QueryKey, string | null>({
    // Not below the project's key, below which everything is requested again when too much changed to list: no row may
    // move.
    queryKey: ['log', ...projectKey(scope), route, requestAfter()],
    initialPageParam: null,
    getNextPageParam: ({ next }) => next,
    // New rows are shown on a click.
    staleTime: Infinity,
    refetchOnMount: 'always',
  });
  const now = [...projectKey(scope), of, 'newest'];
  const newest = useQuery<Page>({
    // The stream's reports make these queries request again.
    queryKey: [...now, route, requestAfter()],
    refetchInterval: everyMs,
    enabled: list.data !== undefined,
  });
  const pages = list.data?.pages ?? [];
  /** The present state of further pages with rows that can change. */
  const further = useQueries({
    queries: pages.flatMap((page, at) => {
      const after = pages[at - 1]?.next ?? null;
      if (after === null || !page.data.some(isOpen)) return [];
      // Read again only after a report of the stream.
      return { queryKey: [...now, route, requestAfter(after)], initialData: page, staleTime: Infinity };
    }),
    combine: (found) => found.flatMap(({ data }) => (data as Page | undefined)?.data ?? []),
  });
  return { list, newest, further };
}

/**
 * The shown rows in their present state, and the number of newer rows. Both newest first.
 *
 * @param further rows of later pages that were read again, in any order
 */
export function withNewest<Row extends { readonly id: string }>(
  shown: readonly Row[],
  newest: readonly Row[],
  further: readonly Row[] = [],
): { readonly rows: readonly Row[]; readonly arrived: number } {
  const fresh = new Map([...further, ...newest].map((row) => [row.id, row]));
  const known = new Set(shown.map(({ id }) => id));
  const firstKnown = newest.findIndex(({ id }) => known.has(id));
  return {
    rows: shown.map((row) => fresh.get(row.id) ?? row),
    arrived: firstKnown === -1 ? newest.length : firstKnown,
  };
}
