import { startOfDay } from '../../days.ts';
import type { Exception, PaymentApi } from '../../../../src/domain/payment.ts';
import type { FilterFields } from '../../../../src/http/dashboard/payment-list/contract.ts';
import { columnsOf } from './columns.ts';
import type { ListColumn } from './list-columns.ts';
import { STATUS_GROUPS, type StatusGroup } from './status-groups.ts';

/** The list's filters and columns as they stand in the URL. */
export interface PaymentsSearch {
  readonly status?: StatusGroup;
  readonly exception?: UnusualException;
  /** Anything that is known of a payment: an id, e-mail, hash, address, the start of a description. */
  readonly search?: string;
  readonly period?: Period;
  readonly api?: PaymentApi;
  /** Words that the server knows, as `network` and `currency` are. */
  readonly coin?: string;
  readonly network?: string;
  /** Decimal texts in the payments' own currency. */
  readonly min?: string;
  readonly max?: string;
  readonly currency?: string;
  /** Days in the person's time zone, both included. */
  readonly from?: string;
  readonly to?: string;
  readonly label?: string;
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

/** The filters, without the columns and the panel. */
export const FILTERS = [
  'status',
  'exception',
  'search',
  'period',
  'api',
  'coin',
  'network',
  'min',
  'max',
  'currency',
  'from',
  'to',
  'label',
] as const satisfies readonly (keyof PaymentsSearch)[];
export type FilterName = (typeof FILTERS)[number];

const MAX_SEARCH = 255;
const MAX_LABEL = 100;
const DAY_MS = 86_400_000;

/** Reads the search from a URL's query. Unknown values are dropped. */
export function paymentsSearch(given: Readonly<Record<string, unknown>>): PaymentsSearch {
  const { status, exception, period, show, view } = given;
  const api = APIS.find((one) => one === given['api']);
  const unusual = UNUSUAL.find((one) => one === exception);
  const columns = columnsOf(given['columns']);
  return {
    ...(isKeyOf(STATUS_GROUPS, status) && { status }),
    ...(unusual !== undefined && { exception: unusual }),
    ...textOf('search', given['search'], MAX_SEARCH),
    ...(isKeyOf(PERIODS, period) && { period }),
    ...(api !== undefined && { api }),
    ...wordOf('coin', given['coin']),
    ...wordOf('network', given['network']),
    ...amountOf('min', given['min']),
    ...amountOf('max', given['max']),
    ...wordOf('currency', given['currency']),
    ...dayOf('from', given['from']),
    ...dayOf('to', given['to']),
    ...textOf('label', given['label'], MAX_LABEL),
    ...(columns !== null && { columns: columns.join(',') }),
    ...(typeof view === 'string' && /^[\da-f-]{36}$/.test(view) && { view }),
    ...(typeof show === 'string' && show !== '' && { show }),
  };
}

type Texts = 'search' | 'label';
type Days = 'from' | 'to';
type Amounts = 'min' | 'max';
type Words = 'coin' | 'network' | 'currency';

function textOf<Name extends Texts>(name: Name, value: unknown, max: number): Partial<Record<Name, string>> {
  return typeof value === 'string' && value.trim() !== '' ? record(name, value.slice(0, max)) : {};
}

function wordOf<Name extends Words>(name: Name, value: unknown): Partial<Record<Name, string>> {
  return typeof value === 'string' && /^[a-z\d]{1,20}$/i.test(value) ? record(name, value) : {};
}

function amountOf<Name extends Amounts>(name: Name, value: unknown): Partial<Record<Name, string>> {
  return typeof value === 'string' && isAmount(value) ? record(name, value) : {};
}

function dayOf<Name extends Days>(name: Name, value: unknown): Partial<Record<Name, string>> {
  return typeof value === 'string' && startOfDay(value) !== null ? record(name, value) : {};
}

function record<Name extends string>(name: Name, value: string): Partial<Record<Name, string>> {
  return { [name]: value } as Partial<Record<Name, string>>;
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
  return FILTERS.some((name) => search[name] !== undefined);
}

/** What the server takes for the filters, of the list as of an export. */
export function filtersOf(search: PaymentsSearch): FilterFields {
  const { status, exception, period, api, coin, network, min, max, currency, from, to, label } = search;
  const since = period === undefined ? null : new Date(Date.now() - PERIODS[period] * DAY_MS);
  const first = from === undefined ? null : startOfDay(from);
  // The server leaves out the moment itself.
  const after = first === null ? since : new Date(Math.max(first.getTime() - 1, since?.getTime() ?? 0));
  const before = to === undefined ? null : startOfDay(to, 1);
  return {
    ...(status !== undefined && { status: STATUS_GROUPS[status].join(',') }),
    ...(exception !== undefined && { exception }),
    ...(search.search !== undefined && { search: search.search }),
    ...(api !== undefined && { api }),
    ...(coin !== undefined && { asset: coin }),
    ...(network !== undefined && { network }),
    ...(min !== undefined && { amount_min: min }),
    ...(max !== undefined && { amount_max: max }),
    ...(currency !== undefined && { currency }),
    ...(after !== null && { created_after: after.toISOString() }),
    ...(before !== null && { created_before: before.toISOString() }),
    ...(label !== undefined && { label }),
  };
}

/** The query of a saved view: filters and columns, in a fixed order. */
export function viewQuery(search: PaymentsSearch): string {
  const given = new URLSearchParams();
  for (const name of [...FILTERS, 'columns' as const]) {
    const value = search[name];
    if (value !== undefined) given.set(name, value);
  }
  return given.toString();
}

/** The filters of a URL that are none here, or malformed: they narrow nothing. */
export function unreadFilters(given: Readonly<Record<string, unknown>>): readonly string[] {
  const search = paymentsSearch(given);
  return FILTERS.filter((name) => given[name] !== undefined && given[name] !== '' && search[name] !== given[name]);
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
