import type { InvoiceContent, InvoiceItem } from '../../domain/invoice-document.ts';
import type { Fiat } from '../../domain/money.ts';
import type { RequestStatus } from '../../domain/payment-request.ts';
import type { Mode } from '../../domain/permission.ts';
import { bigint, boolean, bytes, integer, json, named, nullable, text, texts, timestamp, uuid } from './column.ts';

/** Requests for money; their payments are the invoices that name them. */
export const PAYMENT_REQUESTS = {
  id: uuid(),
  project_id: uuid(),
  mode: text<Mode>(),
  status: text<RequestStatus>(),
  title: text(),
  description: nullable(text()),
  reference: nullable(text()),
  amount_minor: nullable(bigint()),
  min_amount_minor: nullable(bigint()),
  max_amount_minor: nullable(bigint()),
  currency: text<Fiat>(),
  max_payments: nullable(integer()),
  coins: nullable(json<readonly string[]>()),
  success_url: nullable(text()),
  ask_email: boolean(),
  ask_name: boolean(),
  ask_note: boolean(),
  metadata: nullable(json<Readonly<Record<string, string>>>()),
  created_at: timestamp(),
  expires_at: nullable(timestamp()),
  ended_at: nullable(timestamp()),
  told_minor: bigint(),
  told_payments: integer(),
  last_sequence: integer(),
  due_at: nullable(timestamp()),
};

/** The parts of invoices that a project sets once. */
export const INVOICE_SETTINGS = {
  project_id: uuid(),
  /** The beginning of each number. */
  prefix: text(),
  seller_lines: texts(),
  seller_tax_id: nullable(text()),
  /** The rate that the form of a new invoice begins with, in hundredths of a percent. */
  vat_rate: integer(),
  due_days: integer(),
  /** Whether customers are reminded by mail. */
  reminds: boolean(),
};

export const INVOICE_COUNTERS = { project_id: uuid(), mode: text<Mode>(), year: integer(), last: integer() };

/** The content of an invoice, with its exact numbers as text. */
export type StoredContent = Omit<InvoiceContent, 'items'> & { readonly items: readonly StoredItem[] };
type StoredItem = Omit<InvoiceItem, 'quantity' | 'unitMinor'> & {
  readonly quantity: string;
  readonly unitMinor: string;
};

/** Invoices as they were issued. */
export const INVOICE_DOCUMENTS = {
  payment_request_id: named('requestId', uuid()),
  project_id: uuid(),
  mode: text<Mode>(),
  year: integer(),
  counter: integer(),
  number: text(),
  language: text(),
  content: json<StoredContent>(),
  /** The buyer's. */
  email: nullable(text()),
  created_at: timestamp(),
  /** When the buyer is reminded next; null: never again. */
  reminds_at: nullable(timestamp()),
};

export type InvoiceFile = 'invoice' | 'receipt';

export const INVOICE_PDFS = {
  payment_request_id: named('requestId', uuid()),
  kind: text<InvoiceFile>(),
  bytes: bytes(),
};
