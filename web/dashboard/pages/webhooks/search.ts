import type { DeliveryFilters, DeliveryRowView } from '../../../../src/http/dashboard/deliveries/contract.ts';
import { beginOf, PERIOD_NAMES, present, readSearch, textUpTo, type Given, type SearchOf } from '../../search.ts';

export const STATES = [
  'waiting',
  'delivered',
  'failed',
  'stopped',
  'overtaken',
] as const satisfies readonly DeliveryRowView['state'][];
/** The answers offered as filter choices; other codes can be in the URL. */
export const ANSWERS = 'none 200 301 302 400 401 403 404 410 429 500 502 503'.split(' ');

type EventType = DeliveryRowView['type'];

/** A text in the form of an event type; the server knows the types. */
export function aType(text: string): EventType | undefined {
  return /^(?:(?:order|invoice|refund|payment|payment_request)\.[a-z_]{1,20}|Invoice[A-Za-z]{1,20})$/.test(text)
    ? (text as EventType)
    : undefined;
}

/** The filters of the deliveries and the chosen one in the URL. */
const RULES = {
  endpoint: /^we_[0-9a-z]{26}$/,
  type: aType,
  state: STATES,
  /** A status code, or `none`. */
  answer: /^(?:none|[1-5]\d\d)$/,
  period: PERIOD_NAMES,
  payment: textUpTo(64),
  show: /^dlv_\d{1,19}$/,
} as const;
export type WebhooksSearch = SearchOf<typeof RULES>;

export function webhooksSearch(given: Given): WebhooksSearch {
  return readSearch(RULES, given);
}

/** The filters in the server's terms. */
export function filtersOf({ endpoint, type, state, answer, period, payment }: WebhooksSearch): DeliveryFilters {
  return present({ endpoint, type, state, status: answer, created_after: beginOf(period), payment });
}
