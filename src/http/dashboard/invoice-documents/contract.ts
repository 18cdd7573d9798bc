import { Type, type Static } from 'typebox';
import { FIATS } from '../../../domain/money.ts';
import { coinsField } from '../../common-fields.ts';
import { nullable, oneOf, text } from '../../fields.ts';
import { type Contracts, modeParams, projectParams, requestField } from '../contract-parts.ts';
import { requestShape } from '../payment-requests/contract.ts';

/** Numbers and texts as typed, so that each rule is told at its field. Lines are apart by line feeds. */
const number = text({ max: 100 });
const words = text({ max: 10_000 });

const settings = {
  prefix: words,
  seller_lines: words,
  seller_tax_id: words,
  /** Percent. */
  vat_rate: number,
  due_days: number,
  reminds: Type.Boolean(),
};
const settingsShape = Type.Object({
  ...settings,
  /** Whether the service sends mail at all. */
  sends_mail: Type.Boolean(),
});
export type InvoiceSettingsView = Static<typeof settingsShape>;

const defaultsShape = Type.Object({
  /** Null: not entered yet. */
  seller: nullable(Type.Array(Type.String())),
  /** Percent. */
  vat_rate: Type.String(),
  due_days: Type.Integer(),
  currency: oneOf(FIATS),
  currencies: Type.Array(oneOf(FIATS)),
  language: Type.String(),
  languages: Type.Array(Type.String()),
});
export type InvoiceDefaults = Static<typeof defaultsShape>;

const item = Type.Object({ description: words, quantity: number, price: number, vat_rate: number });

const SETTINGS = '/dashboard/api/projects/:project/settings/invoices';
const DOCUMENTS = '/dashboard/api/projects/:project/:mode/invoice-documents';
const REQUEST = '/dashboard/api/projects/:project/:mode/payment-requests/:request';
const requestParams = Type.Object({ ...modeParams.properties, request: Type.String() });

/** The routes of invoices as documents, each of which belongs to a payment request. */
export const invoiceDocumentsContract = {
  [`GET ${SETTINGS}`]: { params: projectParams, answer: settingsShape },
  [`POST ${SETTINGS}`]: { params: projectParams, body: Type.Object(settings), answer: settingsShape },
  /** The values that the form of a new invoice begins with. */
  [`GET ${DOCUMENTS}/defaults`]: { params: modeParams, answer: defaultsShape },
  /** Errors name fields such as `items.2.price`. 503 while too many documents are rendered. */
  [`POST ${DOCUMENTS}`]: {
    params: modeParams,
    body: Type.Object({
      request: requestField,
      /** Days, such as `2026-01-31`. The first is today's. */
      issued_on: number,
      supplied_on: number,
      due_on: number,
      buyer_lines: words,
      buyer_tax_id: words,
      /** The buyer's; empty: none. */
      email: text({ max: 254 }),
      currency: number,
      prices_include_vat: Type.Boolean(),
      items: Type.Array(item, { maxItems: 1_000 }),
      note: words,
      language: number,
      /** Absent: all that the project offers. */
      coins: coinsField,
    }),
    answer: Type.Object({ id: Type.String(), number: Type.String(), url: Type.String() }),
  },
  /** `invoice.pdf`, or `receipt.pdf` of a paid one. */
  [`GET ${REQUEST}/files/:file`]: {
    params: Type.Object({ ...requestParams.properties, file: Type.String() }),
    answer: Type.String(),
  },
  /** Mails the invoice, or its receipt if it is paid. 409 with the reason if it would not be sent. */
  [`POST ${REQUEST}/mail`]: { params: requestParams, answer: requestShape },
} as const satisfies Contracts;
