import { REFUND_STAGES } from '../../../../src/domain/refund-stage.ts';
import type { RefundFilters } from '../../../../src/http/dashboard/refunds/contract.ts';
import { beginOf, isPeriod, type Period } from '../log/period.ts';

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

/** What the server takes for the filters. */
export function filtersOf({ stage, coin, network, period, search }: RefundsSearch): RefundFilters {
  return {
    ...(stage !== undefined && { stage }),
    ...(coin !== undefined && { asset: coin }),
    ...(network !== undefined && { network }),
    ...(period !== undefined && { created_after: beginOf(period, Date.now()) }),
    ...(search !== undefined && { search }),
  };
}
