import { queryOptions } from '@tanstack/react-query';
import type { ListedRefundView, RefundFilters } from '../../../../src/http/dashboard/refunds/contract.ts';
import type { Api } from '../../api.ts';
import type { Scope } from '../../scope.ts';
import { logQueries, type LogPage } from '../log/use-log.ts';
import { refundsKey } from '../payments/queries.ts';
import { REFUND_STAGES } from '../../../../src/domain/refund-stage.ts';
import { beginOf, isPeriod, type Period } from '../log/search.ts';

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

type Stage = NonNullable<RefundFilters['stage']>;

/** The filters of the refunds and the chosen one, as they stand in the URL. */
export interface RefundsSearch {
  readonly stage?: Stage;
  /** The server knows which there are. */
  readonly coin?: NonNullable<RefundFilters['asset']>;
  readonly network?: NonNullable<RefundFilters['network']>;
  readonly period?: Period;
  readonly search?: string;
  readonly show?: string;
}

/** Reads the search from a URL's query. Unknown values are dropped. */
export function refundsSearch(given: Readonly<Record<string, unknown>>): RefundsSearch {
  const { coin, network, period, search, show } = given;
  const stage = REFUND_STAGES.find((one) => one === given['stage']);
  return {
    ...(stage !== undefined && { stage }),
    ...(isCoin(coin) && { coin }),
    ...(isNetwork(network) && { network }),
    ...(isPeriod(period) && { period }),
    ...(typeof search === 'string' && search.trim() !== '' && { search: search.slice(0, 255) }),
    ...(typeof show === 'string' && /^re_[0-9a-z]{26}$/.test(show) && { show }),
  };
}

function isCoin(value: unknown): value is NonNullable<RefundsSearch['coin']> {
  return typeof value === 'string' && /^[A-Z]{2,8}$/.test(value);
}

function isNetwork(value: unknown): value is NonNullable<RefundsSearch['network']> {
  return typeof value === 'string' && /^[a-z]{2,20}$/.test(value);
}

/** The filters as the server takes them. */
export function filtersOf({ stage, coin, network, period, search }: RefundsSearch): RefundFilters {
  return {
    ...(stage !== undefined && { stage }),
    ...(coin !== undefined && { asset: coin }),
    ...(network !== undefined && { network }),
    ...(period !== undefined && { created_after: beginOf(period, Date.now()) }),
    ...(search !== undefined && { search }),
  };
}
