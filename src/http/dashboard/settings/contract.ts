import { Type, type Static } from 'typebox';
import { FIATS } from '../../../domain/money.ts';
import { oneOf, text, nullable } from '../../fields.ts';
import { type Contracts, projectParams } from '../contract-parts.ts';

const picture = nullable(Type.Object({ path: Type.String(), width: Type.Integer(), height: Type.Integer() }));

const settingsShape = Type.Object({
  name: Type.String(),
  /** Six hex digits. */
  accent: nullable(Type.String()),
  support_url: nullable(Type.String()),
  page_text: nullable(Type.String()),
  terms_url: nullable(Type.String()),
  imprint_url: nullable(Type.String()),
  logo: picture,
  icon: picture,
  default_expiry_minutes: nullable(Type.Integer()),
  default_currency: nullable(oneOf(FIATS)),
  default_success_url: nullable(Type.String()),
  currencies: Type.Array(oneOf(FIATS)),
  is_active: Type.Boolean(),
  /** The version changes with each of the settings. */
  version: Type.String(),
});
export type SettingsView = Static<typeof settingsShape>;

/**
 * The texts as typed: an empty one means none. `logo` and `icon` are files in base64, at most 64 KiB each; null removes
 * the picture; absent, it stays.
 */
const fields = {
  name: text({ max: 300 }),
  accent: text({ max: 300 }),
  support_url: text({ max: 3_000 }),
  page_text: text({ max: 10_000 }),
  terms_url: text({ max: 3_000 }),
  imprint_url: text({ max: 3_000 }),
  logo: Type.Optional(nullable(text({ max: 90_000 }))),
  icon: Type.Optional(nullable(text({ max: 90_000 }))),
};
const defaults = {
  default_expiry_minutes: text({ max: 20 }),
  default_currency: text({ max: 10 }),
  default_success_url: text({ max: 3_000 }),
};

const stopsShape = Type.Object({
  open_payments: Type.Integer(),
  endpoints: Type.Integer(),
  keys: Type.Integer(),
});

/** One of the two: the customer with this address, or all customers of ended payments that are older than this. */
const customers = {
  email: Type.Optional(text({ max: 254 })),
  older_than_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_650 })),
};
const countsShape = Type.Object({
  payments: Type.Integer(),
  events: Type.Integer(),
  notes: Type.Integer(),
  refund_reasons: Type.Integer(),
  answers: Type.Integer(),
  /** Issued invoices, which stay without the e-mail address. */
  invoices: Type.Integer(),
});
export type CustomerDataView = Static<typeof countsShape>;

const customerMails = {
  is_on: Type.Boolean(),
  /** The text as typed; empty: that of the service. */
  from_address: text({ max: 254 }),
  reply_to: text({ max: 254 }),
  /** The language of customers whose language is unknown. */
  language: text({ max: 10 }),
};
const customerMailsShape = Type.Object({
  ...customerMails,
  languages: Type.Array(Type.String()),
  /** Whether the service sends mail at all. */
  sends_mail: Type.Boolean(),
});
export type CustomerMailsView = Static<typeof customerMailsShape>;

/** The numbers and accounts of DATEV files, as typed; an empty account of fees means that fees are not booked. */
const datev = {
  consultant_number: text({ max: 20 }),
  client_number: text({ max: 20 }),
  fiscal_year_month: text({ max: 20 }),
  account_length: text({ max: 20 }),
  wallet_account: text({ max: 20 }),
  receipts_account: text({ max: 20 }),
  refunds_account: text({ max: 20 }),
  fees_account: text({ max: 20 }),
};
const datevShape = Type.Object(datev);
export type DatevView = Static<typeof datevShape>;

const till = {
  /** Decimal text; empty: seen money never counts. */
  seen_below: text({ max: 20 }),
  /** The currency of `seen_below`: that in which it was saved, or the project's if there is none. */
  currency: oneOf(FIATS),
  tips: Type.Boolean(),
};
const tillShape = Type.Object({
  ...till,
  project_currency: oneOf(FIATS),
  tip_percents: Type.Array(Type.Integer()),
});
export type TillSettingsView = Static<typeof tillShape>;

const SETTINGS = '/dashboard/api/projects/:project/settings';

/** The routes of the page of settings. */
export const settingsContract = {
  [`GET ${SETTINGS}`]: { params: projectParams, answer: settingsShape },
  /** 409 if they were changed since `version`; then nothing is saved. */
  [`POST ${SETTINGS}`]: {
    params: projectParams,
    body: Type.Object({ ...fields, ...defaults, version: Type.String({ maxLength: 100 }) }),
    answer: settingsShape,
  },
  /** The markup of a payment page with these values, which are not saved, and the picture of its tab. */
  [`POST ${SETTINGS}/preview`]: {
    params: projectParams,
    body: Type.Object({ ...fields, language: text({ max: 10 }) }),
    answer: Type.Object({ html: Type.String(), icon: Type.String() }),
  },
  /** The logo or icon of a preview, available for an hour. */
  [`GET ${SETTINGS}/logo/:hash`]: {
    params: Type.Object({ ...projectParams.properties, hash: Type.String() }),
    answer: Type.String(),
  },
  /** Whether and how the project mails its customers. */
  [`GET ${SETTINGS}/customer-mails`]: { params: projectParams, answer: customerMailsShape },
  [`POST ${SETTINGS}/customer-mails`]: {
    params: projectParams,
    body: Type.Object(customerMails),
    answer: customerMailsShape,
  },
  /** The numbers and accounts of DATEV files; null: not entered yet, or removed. */
  [`GET ${SETTINGS}/datev`]: { params: projectParams, answer: Type.Object({ datev: nullable(datevShape) }) },
  [`POST ${SETTINGS}/datev`]: {
    params: projectParams,
    body: Type.Object({ datev: nullable(datevShape) }),
    answer: Type.Object({ datev: nullable(datevShape) }),
  },
  [`GET ${SETTINGS}/till`]: { params: projectParams, answer: tillShape },
  [`POST ${SETTINGS}/till`]: { params: projectParams, body: Type.Object(till), answer: tillShape },
  /** The work that a deactivation would stop now. */
  [`GET ${SETTINGS}/stops`]: {
    params: projectParams,
    answer: Type.Object({ test: stopsShape, live: stopsShape }),
  },
  /** 400 on `name` unless it is the project's. */
  [`POST ${SETTINGS}/deactivate`]: {
    params: projectParams,
    body: Type.Object({ name: text({ max: 300 }) }),
    answer: settingsShape,
  },
  [`POST ${SETTINGS}/activate`]: { params: projectParams, answer: settingsShape },
  /** A file of JSON lines with the project's permanent records, without secrets. */
  [`POST ${SETTINGS}/export`]: { params: projectParams, answer: Type.String() },
  /**
   * The rows that a deletion would clear; if `has_more`, counted for the first 10,000 payments. `open` counts payments
   * that are old enough, and keep their data until they have ended.
   */
  [`POST ${SETTINGS}/customer-data/count`]: {
    params: projectParams,
    body: Type.Object(customers),
    answer: Type.Object({ counts: countsShape, has_more: Type.Boolean(), open: Type.Integer() }),
  },
  /** Clears the data of at most 1,000 payments. `next` is the `after` of the next call; null: everything is cleared. */
  [`POST ${SETTINGS}/customer-data/delete`]: {
    params: projectParams,
    body: Type.Object({ ...customers, after: nullable(text({ max: 64 })) }),
    answer: Type.Object({ counts: countsShape, next: nullable(Type.String()) }),
  },
  /** The list of projects is part of the session. */
  'POST /dashboard/api/projects': {
    body: Type.Object({ name: text({ max: 100, min: 1 }) }),
    answer: Type.Object({ id: Type.String(), name: Type.String() }),
  },
} as const satisfies Contracts;
