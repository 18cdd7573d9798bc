import { queryOptions } from '@tanstack/react-query';
import type { ListedRefundView, RefundFilters } from '../../../../src/http/dashboard/refunds/contract.ts';
import type { Api } from '../../api.ts';
import type { Scope } from '../../scope.ts';
import { logQueries, type LogPage } from '../log/use-log.ts';
import { refundsKey } from '../payments/queries.ts';

const LIST = 'GET /dashboard/api/projects/:project/:mode/refunds';

/** The refunds of a project and mode. */
export function refundList(api: Api, scope: Scope, filters: RefundFilters) {
  return logQueries<LogPage<ListedRefundView>>(scope, 'refunds', filters, {
    of: 'refunds',
    isOpen: ({ stage }) => stage !== 'completed' && stage !== 'failed',
    read: (after, signal) => api(LIST, { params: { ...scope }, query: { ...filters, ...after } }, signal),
  });
}

export function refundQuery(api: Api, scope: Scope, refund: string) {
  return queryOptions({
    queryKey: [...refundsKey(scope), 'refund', refund],
    queryFn: ({ signal }) => api(`${LIST}/:refund`, { params: { ...scope, refund } }, signal),
  });
}
