import { queryOptions } from '@tanstack/react-query';
import type { RefundFilters } from '../../../../src/http/dashboard/contract/refund-list.ts';
import type { Api } from '../../api.ts';
import type { Scope } from '../../scope.ts';
import { logQueries } from '../log/use-log.ts';
import { refundsKey } from '../payments/queries.ts';

const LIST = 'GET /dashboard/api/projects/:project/:mode/refunds';

/** The refunds of a project and mode. */
export function refundList(api: Api, scope: Scope, filters: RefundFilters) {
  return logQueries(scope, 'refunds', filters, {
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
