import { startOfDay } from '../../formats.ts';
import {
  PAYMENT_FILTER_NAMES,
  PAYMENT_FILTERS,
  type PaymentFilterName,
} from '../../../../src/domain/payment-filters.ts';
import type { Exception, PaymentApi } from '../../../../src/domain/payment.ts';
import type { FilterFields } from '../../../../src/http/dashboard/payment-list/contract.ts';
import { columnsOf, type ListColumn } from './columns.ts';
import { STATUS_GROUPS, type StatusGroup } from './status-groups.ts';

/** The values of filters, by how the table of filters says that they are written. */
interface Values {
  readonly status_group: StatusGroup;
  readonly exception: UnusualException;
  readonly period: Period;
  readonly api: PaymentApi;
  /** One that the server knows. */
  readonly word: string;
  /** Decimal text in the payments' own currency. */
  readonly amount: string;
  /** In the person's time zone. */
  readonly day: string;
  readonly text: string;
}

type Filters = {
  readonly [Name in PaymentFilterName]?: Values[(typeof PAYMENT_FILTERS)[Name]['value']];
};

/** The list's filters and columns as they stand in the URL. */
export interface PaymentsSearch extends Filters {
  /** By commas; the usual ones if it is left out. */
  readonly columns?: string;
  /** The saved view that the filters began with. */
  readonly view?: string;
  /** The payment in the panel beside the list. */
  readonly show?: string;
}

/** A change of the search; undefined removes a value. */
export type SearchChange = { readonly [Key in keyof PaymentsSearch]?: PaymentsSearch[Key] | undefined };

/** In days. */
export const PERIODS = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 } as const;
export type Period = keyof typeof PERIODS;

export const UNUSUAL = ['underpaid', 'overpaid', 'paid_late', 'reorged'] as const;
type UnusualException = Exclude<Exception, 'none'>;

export const APIS = ['order', 'transaction'] as const satisfies readonly PaymentApi[];

/** The filters that stand in the dialog, because no control above the list has them. */
export type MoreFilter = {
  [Name in PaymentFilterName]: (typeof PAYMENT_FILTERS)[Name] extends { readonly label: string } ? Name : never;
}[PaymentFilterName];
export const MORE_FILTERS = PAYMENT_FILTER_NAMES.filter((name): name is MoreFilter => 'label' in PAYMENT_FILTERS[name]);

const DAY_MS = 86_400_000;

/** Reads a filter's value; undefined for one that is none. */
const READERS: { readonly [Kind in keyof Values]: (text: string, max: number) => Values[Kind] | undefined } = {
  status_group: (text) => (isKeyOf(STATUS_GROUPS, text) ? text : undefined),
  exception: (text) => UNUSUAL.find((one) => one === text),
  period: (text) => (isKeyOf(PERIODS, text) ? text : undefined),
  api: (text) => APIS.find((one) => one === text),
  word: (text) => (/^[a-z\d]{1,20}$/i.test(text) ? text : undefined),
  amount: (text) => (isAmount(text) ? text : undefined),
  day: (text) => (startOfDay(text) === null ? undefined : text),
  text: (text, max) => (text.trim() === '' ? undefined : text.slice(0, max)),
};

/** Reads the search from a URL's query. Unknown values are dropped. */
export function paymentsSearch(given: Readonly<Record<string, unknown>>): PaymentsSearch {
  const { show, view } = given;
  const columns = columnsOf(given['columns']);
  const filters = PAYMENT_FILTER_NAMES.flatMap((name) => {
    const { value: kind, max } = PAYMENT_FILTERS[name];
    const text = given[name];
    const value = typeof text === 'string' ? READERS[kind](text, max) : undefined;
    return value === undefined ? [] : [[name, value]];
  });
  return {
    ...(Object.fromEntries(filters) as Filters),
    ...(columns !== null && { columns: columns.join(',') }),
    ...(typeof view === 'string' && /^[\da-f-]{36}$/.test(view) && { view }),
    ...(typeof show === 'string' && show !== '' && { show }),
  };
}

/** Whether the text is an amount as the server takes it, such as 49.99. */
export function isAmount(text: string): boolean {
  return /^(?:0|[1-9]\d{0,8})(?:\.\d{1,2})?$/.test(text);
}

/** The columns that the URL asks for; null for the usual ones. */
export function shownColumns({ columns }: PaymentsSearch): readonly ListColumn[] | null {
  return columnsOf(columns);
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
  // The server leaves out the moment itself.
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

/** The filters of a URL that are none here, or malformed: they narrow nothing. */
export function unreadFilters(given: Readonly<Record<string, unknown>>): readonly string[] {
  const search = paymentsSearch(given);
  return PAYMENT_FILTER_NAMES.filter(
    (name) => given[name] !== undefined && given[name] !== '' && search[name] !== given[name],
  );
}

/** A saved view's search; `lost` are the parts that this version does not know. */
export function searchOfView(query: string): { readonly search: PaymentsSearch; readonly lost: readonly string[] } {
  const given = new URLSearchParams(query);
  const { show: _panel, view: _view, ...search } = paymentsSearch(Object.fromEntries(given));
  const kept = new URLSearchParams(viewQuery(search));
  return { search, lost: [...given.keys()].filter((name) => kept.get(name) !== given.get(name)) };
}

function isKeyOf<Table extends object>(table: Table, key: unknown): key is keyof Table {
  return typeof key === 'string' && Object.hasOwn(table, key);
}
