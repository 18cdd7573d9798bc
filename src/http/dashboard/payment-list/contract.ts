import { Type, type Static, type TOptional, type TString, type TUnsafe } from 'typebox';
import { EXPORT_COLUMNS } from '../../../domain/export-column.ts';
import {
  FOUND_BY,
  PAYMENT_FILTER_NAMES,
  PAYMENT_FILTERS,
  type PaymentFilterField,
} from '../../../domain/payment-filters.ts';
import { PAYMENT_APIS, type PaymentApi } from '../../../domain/payment.ts';
import { oneOf, text, nullable } from '../../fields.ts';
import { type Contracts, modeParams, modeShape, keysetQuery, writing } from '../contract-parts.ts';
import { paymentRowShape } from '../payments/contract.ts';

type FilterSchemas = {
  readonly [Field in PaymentFilterField]: TOptional<Field extends 'api' ? TUnsafe<PaymentApi> : TString>;
};

/** The filters of a list or an export of payments. Absent filters do not restrict. */
const paymentFilters = Object.fromEntries(
  PAYMENT_FILTER_NAMES.flatMap((name) => {
    const { field, max } = PAYMENT_FILTERS[name];
    if (field === null) return [];
    return [[field, Type.Optional(field === 'api' ? oneOf(PAYMENT_APIS) : text({ max }))]];
  }),
) as unknown as FilterSchemas;

const filterFields = Type.Object(paymentFilters);
export type FilterFields = Static<typeof filterFields>;

/** A person can choose as many payments as lists count. */
const MAX_CHOSEN = 10_000;
const chosen = Type.Array(text({ max: 64 }), { maxItems: MAX_CHOSEN });
/** Bytes of a body with so many ids. */
export const CHOSEN_BYTES = 1_048_576;

const exportShape = Type.Object({
  ...paymentFilters,
  /** The ids of payments that were chosen one by one, which the filters restrict too. */
  payments: Type.Optional(chosen),
  ...writing,
  /** The default columns if absent. The file has them in its own order. */
  columns: Type.Optional(Type.Array(oneOf(EXPORT_COLUMNS), { maxItems: EXPORT_COLUMNS.length })),
  /** IANA name of the time zone of a CSV file; JSON is in UTC. */
  zone: Type.Optional(text({ max: 64 })),
});
export type ExportRequest = Static<typeof exportShape>;

const hitShape = Type.Object({ found_by: oneOf(FOUND_BY), payment: paymentRowShape });
export type SearchHit = Static<typeof hitShape>;

const PAYMENTS = '/dashboard/api/projects/:project/:mode/payments';

export const paymentListContract = {
  /** The payments of both APIs, newest first. */
  [`GET ${PAYMENTS}`]: {
    params: modeParams,
    query: Type.Object({ ...keysetQuery, ...paymentFilters }),
    answer: Type.Object({ data: Type.Array(paymentRowShape), next: nullable(Type.String()) }),
  },
  /**
   * An export of all payments that match the filters, newest first, from one snapshot. `x-rows-about` is the
   * approximate number of rows, if known. 503 while no slot for exports is free.
   */
  [`POST ${PAYMENTS}/export`]: {
    params: modeParams,
    body: exportShape,
    answer: Type.String(),
  },
  /** How many payments match the filters, and what they add up to. */
  [`GET ${PAYMENTS}/count`]: {
    params: modeParams,
    query: filterFields,
    answer: Type.Object({
      /** At most 10,000; null if counting takes too long. */
      count: nullable(Type.Integer()),
      /** There are more than counted. */
      is_more: Type.Boolean(),
      /** Decimal text in each currency, the greatest first; empty if not all are counted. */
      sums: Type.Array(Type.Object({ currency: Type.String(), amount: Type.String() })),
    }),
  },
  /** The ids of the newest 10,000 payments that match the filters; null if finding them takes too long. */
  [`GET ${PAYMENTS}/ids`]: {
    params: modeParams,
    query: filterFields,
    answer: Type.Object({ ids: nullable(Type.Array(Type.String())), is_more: Type.Boolean() }),
  },
  /**
   * Payments by one text, newest first. Each of its words is the beginning of a word in an order id, number, name,
   * e-mail address, description, note, label, address or hash, an amount, or the beginning of an id; the id of a
   * refund or event is complete.
   */
  'GET /dashboard/api/projects/:project/:mode/search': {
    params: modeParams,
    query: Type.Object({
      text: text({ max: 255, min: 1 }),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 20, default: 8 })),
    }),
    /** `mode` is the other mode if only that one has matches. */
    answer: Type.Object({ mode: modeShape, data: Type.Array(hitShape) }),
  },
  /** The words that filters can have, in the order of their menus. */
  'GET /dashboard/api/filters': {
    answer: Type.Object({
      coins: Type.Array(Type.String()),
      networks: Type.Array(Type.Object({ name: Type.String(), label: Type.String() })),
      currencies: Type.Array(Type.String()),
    }),
  },
} as const satisfies Contracts;
