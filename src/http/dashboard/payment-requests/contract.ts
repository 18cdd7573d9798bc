import { Type, type Static } from 'typebox';
import { FIATS } from '../../../domain/money.ts';
import { REQUEST_STATUSES } from '../../../domain/payment-request.ts';
import { nullable, oneOf, text, time } from '../../fields.ts';
import { createRequestBody } from '../../payment-requests/schema.ts';
import { type Contracts, keysetQuery, modeParams, requestField } from '../contract-parts.ts';
import { paymentRowShape } from '../payments/contract.ts';

/** Amounts are decimal text in the request's currency. */
const row = {
  id: Type.String(),
  status: oneOf(REQUEST_STATUSES),
  title: Type.String(),
  reference: nullable(Type.String()),
  /** Null: the payer types it. */
  amount: nullable(Type.String()),
  currency: oneOf(FIATS),
  paid: Type.String(),
  pending: Type.String(),
  refunded: Type.String(),
  /** Null unless the amount is asked for just once. */
  left: nullable(Type.String()),
  /** The number of completed invoices. */
  payments: Type.Integer(),
  /** Null: as often as people like. */
  max_payments: nullable(Type.Integer()),
  created_at: time(),
  expires_at: nullable(time()),
};
const rowShape = Type.Object(row);
export type RequestRow = Static<typeof rowShape>;

/** Why a mail about an invoice would not be sent; `can`: it would. */
const MAIL_STATES = ['can', 'no_server', 'no_address', 'refused', 'not_of_people', 'ended'] as const;

/** The request's invoice as it was issued. */
const documentShape = Type.Object({
  number: Type.String(),
  /** A day. */
  due_on: Type.String(),
  email: nullable(Type.String()),
  has_receipt: Type.Boolean(),
  mail: oneOf(MAIL_STATES),
  /** The mails of the last 30 days, the newest first. */
  mails: Type.Array(
    Type.Object({
      id: Type.String(),
      kind: oneOf(['invoice', 'invoice_receipt', 'invoice_due', 'invoice_overdue']),
      state: oneOf(['waiting', 'sent', 'not_sent']),
      at: time(),
    }),
  ),
});
export type InvoiceDocumentView = Static<typeof documentShape>;

export const requestShape = Type.Object({
  ...row,
  description: nullable(Type.String()),
  min_amount: nullable(Type.String()),
  max_amount: nullable(Type.String()),
  coins: nullable(Type.Array(Type.String())),
  ask: Type.Object({ email: Type.Boolean(), name: Type.Boolean(), note: Type.Boolean() }),
  /** The page to which payers are sent. */
  url: Type.String(),
  ended_at: nullable(time()),
  /** The newest ones. */
  invoices: Type.Array(paymentRowShape),
  has_more_invoices: Type.Boolean(),
  /** Null: the request was made without an invoice. */
  document: nullable(documentShape),
  can: Type.Object({ close: Type.Boolean(), mail: Type.Boolean() }),
});
export type RequestDetails = Static<typeof requestShape>;

const filters = { status: Type.Optional(oneOf(REQUEST_STATUSES)) };
const filterFields = Type.Object(filters);
export type RequestFilters = Static<typeof filterFields>;

const REQUESTS = '/dashboard/api/projects/:project/:mode/payment-requests';
const requestParams = Type.Object({ ...modeParams.properties, request: Type.String() });
const { title, currency, description, reference, expires_at, max_payments, coins, ask } = createRequestBody.properties;
/** Decimal text. */
const amount = text({ max: 20, min: 1 });

/** The routes of the page of payment requests. */
export const paymentRequestsContract = {
  [`GET ${REQUESTS}`]: {
    params: modeParams,
    query: Type.Object({ ...keysetQuery, ...filters }),
    answer: Type.Object({ data: Type.Array(rowShape), next: nullable(Type.String()) }),
  },
  [`GET ${REQUESTS}/:request`]: { params: requestParams, answer: requestShape },
  /** The fields and rules are those of `POST /v1/payment_requests`. */
  [`POST ${REQUESTS}`]: {
    params: modeParams,
    body: Type.Object({
      request: requestField,
      title,
      /** Absent: the payer types it. */
      amount: Type.Optional(amount),
      min_amount: Type.Optional(amount),
      max_amount: Type.Optional(amount),
      currency,
      description,
      reference,
      expires_at,
      max_payments,
      coins,
      ask,
    }),
    answer: Type.Object({ id: Type.String(), url: Type.String() }),
  },
  [`POST ${REQUESTS}/:request/close`]: { params: requestParams, answer: requestShape },
} as const satisfies Contracts;
