import type { DeliveryFilters, DeliveryRowView } from '../../../../src/http/dashboard/deliveries/contract.ts';
import { beginOf, isPeriod, type Period } from '../log/search.ts';

type State = DeliveryRowView['state'];
type EventType = DeliveryRowView['type'];

export const STATES = ['waiting', 'delivered', 'failed', 'stopped'] as const satisfies readonly State[];
/** The answers that the list can be narrowed to by a choice; others by their code in the URL. */
export const ANSWERS = [
  'none',
  '200',
  '301',
  '302',
  '400',
  '401',
  '403',
  '404',
  '410',
  '429',
  '500',
  '502',
  '503',
] as const;

/** The filters of the deliveries and the chosen one, as they stand in the URL. */
export interface WebhooksSearch {
  readonly endpoint?: string;
  readonly type?: EventType;
  readonly state?: State;
  /** A status code, or `none`. */
  readonly answer?: string;
  readonly period?: Period;
  readonly payment?: string;
  readonly show?: string;
}

/** Reads the search from a URL's query. Unknown values are dropped. */
export function webhooksSearch(given: Readonly<Record<string, unknown>>): WebhooksSearch {
  const { endpoint, type, answer, period, payment, show } = given;
  const state = STATES.find((one) => one === given['state']);
  return {
    ...(matches(/^we_[0-9a-z]{26}$/, endpoint) && { endpoint }),
    ...(isType(type) && { type }),
    ...(state !== undefined && { state }),
    ...(matches(/^(?:none|[1-5]\d\d)$/, answer) && { answer }),
    ...(isPeriod(period) && { period }),
    ...(matches(/^.{1,64}$/, payment) && { payment }),
    ...(matches(/^dlv_\d{1,19}$/, show) && { show }),
  };
}

function matches(rule: RegExp, value: unknown): value is string {
  return typeof value === 'string' && rule.test(value);
}

/** Whether it looks like a type; the server knows which there are. */
export function isType(value: unknown): value is EventType {
  return matches(/^(?:order|refund|payment)\.[a-z_]{1,20}$/, value);
}

/** The filters as the server takes them. */
export function filtersOf({ endpoint, type, state, answer, period, payment }: WebhooksSearch): DeliveryFilters {
  return {
    ...(endpoint !== undefined && { endpoint }),
    ...(type !== undefined && { type }),
    ...(state !== undefined && { state }),
    ...(answer !== undefined && { status: answer }),
    ...(period !== undefined && { created_after: beginOf(period, Date.now()) }),
    ...(payment !== undefined && { payment }),
  };
}

/** Whether any filter is set. */
export function isNarrowed({ show: _panel, ...filters }: WebhooksSearch): boolean {
  return Object.keys(filters).length > 0;
}
