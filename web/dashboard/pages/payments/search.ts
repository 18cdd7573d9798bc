import {
  PAYMENT_FILTER_NAMES,
  PAYMENT_FILTERS,
  type PaymentFilterName,
} from '../../../../src/domain/payment-filters.ts';
import { PAYMENT_APIS } from '../../../../src/domain/payment.ts';
import type { FilterFields } from '../../../../src/http/dashboard/payment-list/contract.ts';
import { startOfDay } from '../../formats.ts';
import {
  aDay,
  PERIOD_NAMES,
  PERIODS,
  readSearch,
  textUpTo,
  unreadOf,
  type Given,
  type SearchOf,
} from '../../search.ts';
import { GROUP_NAMES, STATUS_GROUPS } from '../../status-groups.ts';
import { columnsOf } from './columns.ts';

export const UNUSUAL = ['underpaid', 'overpaid', 'paid_late', 'reorged'] as const;

/** An amount in the server's form, such as 49.99. */
const AMOUNT = /^(?:0|[1-9]\d{0,8})(?:\.\d{1,2})?$/;

/** The readers of filter values, by the form that the table of filters names. */
const FILTER_RULES = {
  status_group: GROUP_NAMES,
  exception: UNUSUAL,
  period: PERIOD_NAMES,
  api: PAYMENT_APIS,
  /** A word that the server knows. */
  word: /^[a-z\d]{1,20}$/i,
  /** Decimal text in the payments' own currency. */
  amount: AMOUNT,
  /** A day in the person's time zone. */
  day: aDay,
  text: textUpTo(255),
} as const;

const OTHER_RULES = {
  /** Columns separated by commas; absent: the default ones. */
  columns: (text: string) => columnsOf(text)?.join(','),
  /** The saved view from which the filters began. */
  view: /^[\da-f-]{36}$/,
  /** The payment in the panel beside the list. */
  show: /./,
} as const;

type FilterRules = {
  readonly [Name in PaymentFilterName]: (typeof FILTER_RULES)[(typeof PAYMENT_FILTERS)[Name]['value']];
};

const RULES = { ...(Object.fromEntries(PAYMENT_FILTER_NAMES.map(ruleOf)) as FilterRules), ...OTHER_RULES };

function ruleOf(name: PaymentFilterName) {
  const { value, max } = PAYMENT_FILTERS[name];
  return [name, value === 'text' ? textUpTo(max) : FILTER_RULES[value]] as const;
}

/** The list's filters and columns in the URL. */
export type PaymentsSearch = SearchOf<typeof RULES>;

/** A change of the search; undefined removes a value. */
export type SearchChange = { readonly [Key in keyof PaymentsSearch]?: PaymentsSearch[Key] | undefined };

/** The filters in the dialog, which have no control above the list. */
export type MoreFilter = {
  [Name in PaymentFilterName]: (typeof PAYMENT_FILTERS)[Name] extends { readonly label: string } ? Name : never;
}[PaymentFilterName];
export const MORE_FILTERS = PAYMENT_FILTER_NAMES.filter((name): name is MoreFilter => 'label' in PAYMENT_FILTERS[name]);

const DAY_MS = 86_400_000;

/** Reads the search from a URL's query. Unknown values are dropped. */
export function paymentsSearch(given: Given): PaymentsSearch {
  return readSearch(RULES, given);
}

export function isAmount(text: string): boolean {
  return AMOUNT.test(text);
}

/** Whether any filter is set. */
export function isNarrowed(search: PaymentsSearch): boolean {
  return PAYMENT_FILTER_NAMES.some((name) => search[name] !== undefined);
}

/** The parameters of the API for the filters, of the list as of an export. */
export function filtersOf(search: PaymentsSearch): FilterFields {
  const { status, period, from, to } = search;
  const sent = PAYMENT_FILTER_NAMES.flatMap((name) => {
    const { field } = PAYMENT_FILTERS[name];
    return field === null || search[name] === undefined ? [] : [[field, search[name]]];
  });
  const since = period === undefined ? null : new Date(Date.now() - PERIODS[period] * DAY_MS);
  const first = from === undefined ? null : startOfDay(from);
  // The server excludes the time itself.
  const after = first === null ? since : new Date(Math.max(first.getTime() - 1, since?.getTime() ?? 0));
  const before = to === undefined ? null : startOfDay(to, 1);
  return {
    ...(Object.fromEntries(sent) as FilterFields),
    ...(status !== undefined && { status: STATUS_GROUPS[status].join(',') }),
    ...(after !== null && { created_after: after.toISOString() }),
    ...(before !== null && { created_before: before.toISOString() }),
  };
}

/** The query of a saved view: filters and columns, in a fixed order. */
export function viewQuery(search: PaymentsSearch): string {
  const given = new URLSearchParams();
  for (const name of [...PAYMENT_FILTER_NAMES, 'columns' as const]) {
    const value = search[name];
    if (value !== undefined) given.set(name, value);
  }
  return given.toString();
}

/** The malformed filters of a URL, which are ignored. */
export function unreadFilters(given: Given): readonly string[] {
  const unread = unreadOf(given, paymentsSearch(given));
  return PAYMENT_FILTER_NAMES.filter((name) => unread.includes(name));
}

/** A saved view's search; `lost` are the parts that this version does not know. */
export function searchOfView(query: string): { readonly search: PaymentsSearch; readonly lost: readonly string[] } {
  const given = new URLSearchParams(query);
  const { show: _panel, view: _view, ...search } = paymentsSearch(Object.fromEntries(given));
  const kept = new URLSearchParams(viewQuery(search));
  return { search, lost: [...given.keys()].filter((name) => kept.get(name) !== given.get(name)) };
}
