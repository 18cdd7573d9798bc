/** How a filter's value is written in the page's address and checked by the page. */
type FilterValue = 'status_group' | 'exception' | 'period' | 'api' | 'word' | 'amount' | 'day' | 'text';

interface PaymentFilter {
  readonly value: FilterValue;
  /** The API's parameter; null if the page turns the value into another parameter. */
  readonly field: string | null;
  /** The longest text that the API accepts. */
  readonly max: number;
  /** The dashboard's text for the filter in its dialog; absent if a control above the list replaces it. */
  readonly label?: string;
}

/**
 * Every filter of the list of payments by its name in the page's address and in saved views, in the order of the
 * filters' dialog. A released name must stay, because saved views contain it.
 */
export const PAYMENT_FILTERS = {
  /** `field`: several words separated by commas, as in `exception`, `asset`, `network` and `currency`. */
  status: { value: 'status_group', field: 'status', max: 200 },
  exception: { value: 'exception', field: 'exception', max: 200 },
  /** Words that the payment's texts, notes and labels have, each by its beginning; amounts, and ids. */
  search: { value: 'text', field: 'search', max: 255 },
  period: { value: 'period', field: null, max: 0 },
  /** Decimal amounts in the payments' own currency, both inclusive. */
  min: { value: 'amount', field: 'amount_min', max: 20, label: 'amount_from' },
  max: { value: 'amount', field: 'amount_max', max: 20, label: 'amount_to' },
  /** Days in the person's time zone, both inclusive; `field`: ISO 8601, a UTC day or a time, both exclusive. */
  from: { value: 'day', field: 'created_after', max: 40, label: 'day_from' },
  to: { value: 'day', field: 'created_before', max: 40, label: 'day_to' },
  currency: { value: 'word', field: 'currency', max: 200, label: 'currency' },
  coin: { value: 'word', field: 'asset', max: 200, label: 'coin' },
  network: { value: 'word', field: 'network', max: 200, label: 'network' },
  api: { value: 'api', field: 'api', max: 20, label: 'column_api' },
  /** The name of a label, case-insensitive. */
  label: { value: 'text', field: 'label', max: 100, label: 'label' },
  /** A customer's whole address, case-insensitive. */
  email: { value: 'text', field: 'customer_email', max: 254, label: 'column_email' },
} as const satisfies Readonly<Record<string, PaymentFilter>>;

export type PaymentFilterName = keyof typeof PAYMENT_FILTERS;
export type PaymentFilterField = Exclude<(typeof PAYMENT_FILTERS)[PaymentFilterName]['field'], null>;

export const PAYMENT_FILTER_NAMES: readonly PaymentFilterName[] = Object.keys(PAYMENT_FILTERS).filter(
  (name): name is PaymentFilterName => Object.hasOwn(PAYMENT_FILTERS, name),
);

/** The texts of a payment that a search can find it by. */
export const FOUND_BY = [
  'id',
  'number',
  'order_id',
  'email',
  'name',
  'amount',
  'transaction_hash',
  'address',
  'description',
  'refund',
  'event',
  'note',
] as const;
export type FoundBy = (typeof FOUND_BY)[number];
