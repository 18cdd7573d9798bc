import type { InfiniteData } from '@tanstack/react-query';
import type { AnswerOf } from '../../../../src/http/dashboard/contract.ts';
import type { PaymentRow, PaymentView } from '../../../../src/http/dashboard/payments/contract.ts';
import { ApiFault, reads } from '../../api.ts';
import type { Dashboard } from '../../dashboard.ts';
import type { Scope } from '../../scope.ts';

/** A page of the list. */
export type ListPage = AnswerOf<'GET /dashboard/api/projects/:project/:mode/payments'>;
type List = InfiniteData<ListPage, string | null>;

const MAX_FOUND = 6;

/** The prefix of all query keys of a project and mode. */
export function projectKey({ project, mode }: Scope): readonly unknown[] {
  return ['project', project, mode];
}

/** The prefix of the query keys of all lists. */
export function listKey(scope: Scope): readonly unknown[] {
  return [...projectKey(scope), 'payments'];
}

/** The prefix of the queries that are read again when a refund changed. */
export function refundsKey(scope: Scope): readonly unknown[] {
  return [...projectKey(scope), 'refunds'];
}

/** The prefix of the queries that are read again when an invoice of a payment request changed. */
export function paymentRequestsKey(scope: Scope): readonly unknown[] {
  return [...projectKey(scope), 'payment-requests'];
}

/** The ids of new payments that the list does not show until the person asks for them. */
export function arrivedKey(scope: Scope): readonly unknown[] {
  return [...projectKey(scope), 'arrived'];
}

/** Payments that match a text. */
export function searchQuery(scope: Scope, text: string) {
  const query = { text, limit: MAX_FOUND };
  return reads(['search'], 'GET /dashboard/api/projects/:project/:mode/search', { params: scope, query });
}

export function paymentQuery(scope: Scope, payment: string) {
  const key = [...projectKey(scope), 'payment'];
  return reads(key, 'GET /dashboard/api/projects/:project/:mode/payments/:payment', { params: { ...scope, payment } });
}

/**
 * Reads a changed payment and updates every query that shows it. An answer under way may be from before the change, so
 * that the payment is read again after it; simultaneous changes share that read.
 */
export async function refreshPayment(dashboard: Dashboard, scope: Scope, id: string): Promise<void> {
  const { queries } = dashboard;
  const query = { ...paymentQuery(scope, id), staleTime: 0 };
  const read = () =>
    queries.fetchQuery(query).catch((error: unknown) => (error instanceof ApiFault ? null : Promise.reject(error)));
  if (queries.isFetching({ queryKey: query.queryKey, exact: true }) > 0) await read();
  const fresh = await read();
  if (fresh !== null) putPayment(dashboard, scope, fresh);
  if (fresh === null || fresh.refunds.length > 0) void queries.invalidateQueries({ queryKey: refundsKey(scope) });
  await Promise.all([
    queries.invalidateQueries({ queryKey: [...projectKey(scope), 'home'] }),
    queries.invalidateQueries({ queryKey: [...projectKey(scope), 'customers'] }),
    queries.invalidateQueries({ queryKey: paymentRequestsKey(scope) }),
    queries.invalidateQueries({ queryKey: [...projectKey(scope), 'attention'] }),
  ]);
}

/**
 * Puts a payment into its own query and every list that contains it. Lists that begin with older payments count it as
 * arrived.
 */
export function putPayment({ queries }: Dashboard, scope: Scope, fresh: PaymentView): void {
  queries.setQueryData(paymentQuery(scope, fresh.id).queryKey, fresh);
  const lists = queries.getQueriesData<List>({ queryKey: listKey(scope) });
  for (const [key, list] of lists) {
    const isShown = list?.pages.some(({ data }) => data.some(({ id }) => id === fresh.id)) === true;
    if (isShown) queries.setQueryData<List>(key, (old) => old && withRow(old, fresh));
    else if (list !== undefined && isNewest(list, fresh)) {
      queries.setQueryData<readonly string[]>(arrivedKey(scope), (ids = []) =>
        ids.includes(fresh.id) ? ids : [...ids, fresh.id],
      );
    }
  }
  // Lists that are not on the screen are read again when they are shown: the payment may match their filters now.
  void queries.invalidateQueries({ queryKey: listKey(scope), type: 'inactive' });
}

/** The names of a project's labels. */
export function labelsQuery({ project }: Scope) {
  const query = reads(['project', project], 'GET /dashboard/api/projects/:project/labels', { params: { project } });
  return { ...query, select: ({ data }: AnswerOf<'GET /dashboard/api/projects/:project/labels'>) => data };
}

/** After a refused change the payment is read again: it has changed, and with it the possible actions. */
export function refreshOnRefusal({ queries }: Dashboard, scope: Scope, id: string, error: unknown): void {
  if (!(error instanceof ApiFault) || error.status >= 500) return;
  void queries.invalidateQueries({ queryKey: paymentQuery(scope, id).queryKey });
}

function withRow(list: List, fresh: PaymentRow): List {
  return {
    ...list,
    pages: list.pages.map((page) => ({
      ...page,
      data: page.data.map((row) => (row.id === fresh.id ? fresh : row)),
    })),
  };
}

function isNewest({ pages: [first] }: List, { created_at }: PaymentRow): boolean {
  const newest = first?.data[0];
  return newest === undefined || created_at > newest.created_at;
}
