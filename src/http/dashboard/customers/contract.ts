import { Type, type Static } from 'typebox';
import { FIATS } from '../../../domain/money.ts';
import { nullable, oneOf, text, time } from '../../fields.ts';
import { type Contracts, keysetQuery, modeParams, writing } from '../contract-parts.ts';
import { paymentRowShape } from '../payments/contract.ts';

const customerShape = Type.Object({
  /** The e-mail address in lower case. */
  id: Type.String(),
  payments: Type.Integer(),
  completed: Type.Integer(),
  /** There are more payments, so that there are no sums. */
  is_more: Type.Boolean(),
  /** The completed payments and the paid refunds, as decimal text in the project's currency. */
  value: nullable(Type.String()),
  refunded: nullable(Type.String()),
  currency: oneOf(FIATS),
  /** The completed payments and paid refunds that are in no sum, because their rate is unknown. */
  unvalued: Type.Integer(),
  last_payment_at: time(),
});
export type CustomerView = Static<typeof customerShape>;

/** The newest of a customer's payments, open invoices, refunds and notes. */
const detailsShape = Type.Object({
  ...customerShape.properties,
  newest: Type.Array(paymentRowShape),
  /** Payment requests with an invoice for this address that still take money. `left` is decimal text. */
  open: Type.Array(
    Type.Object({
      id: Type.String(),
      title: Type.String(),
      left: Type.String(),
      currency: oneOf(FIATS),
      created_at: time(),
    }),
  ),
  refunds: Type.Array(
    Type.Object({
      id: Type.String(),
      status: oneOf(['pending', 'completed', 'failed']),
      crypto_amount: Type.String(),
      asset: Type.String(),
      created_at: time(),
    }),
  ),
  notes: Type.Array(
    Type.Object({
      id: Type.String(),
      payment: Type.String(),
      author: Type.String(),
      body: Type.String(),
      created_at: time(),
    }),
  ),
});
export type CustomerDetails = Static<typeof detailsShape>;

/** The beginning of an address. */
const filters = { search: Type.Optional(text({ max: 254 })) };
const filterFields = Type.Object(filters);
export type CustomerFilters = Static<typeof filterFields>;

const CUSTOMERS = '/dashboard/api/projects/:project/:mode/customers';

/** The routes of the page of customers. */
export const customersContract = {
  /** Customers with the newest payments come first. */
  [`GET ${CUSTOMERS}`]: {
    params: modeParams,
    query: Type.Object({ ...keysetQuery, ...filters }),
    answer: Type.Object({ data: Type.Array(customerShape), next: nullable(Type.String()) }),
  },
  /** The address is no part of the path, because logs contain paths. */
  [`POST ${CUSTOMERS}/find`]: {
    params: modeParams,
    body: Type.Object({ email: text({ max: 254 }) }),
    answer: detailsShape,
  },
  /** An export of all customers that match the filters. 503 while no slot for exports is free. */
  [`POST ${CUSTOMERS}/export`]: {
    params: modeParams,
    body: Type.Object({ ...filters, ...writing }),
    answer: Type.String(),
  },
} as const satisfies Contracts;
