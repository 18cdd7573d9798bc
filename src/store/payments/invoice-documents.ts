import { sql } from 'kysely';
import type { InvoiceContent } from '../../domain/invoice-document.ts';
import type { ProjectMode } from '../../domain/permission.ts';
import type { PaymentRequest } from '../../domain/payment-request.ts';
import { affectedRows, lockUntaken, timestamp, type Database, type Trx } from '../database.ts';
import { fieldList, fields, findRow, insertRows, updateRows, type Stored } from '../rows.ts';
import type { InvoiceFile, StoredContent } from '../schema/payment-requests.ts';

export type { InvoiceFile };

/** The parts of invoices that a project sets once. */
export type InvoiceSettings = Omit<Stored<'invoice_settings'>, 'projectId'>;

/** An invoice as it was issued. */
export interface IssuedInvoice extends Omit<Stored<'invoice_documents'>, 'content'> {
  readonly content: InvoiceContent;
}

export async function findInvoiceSettings(
  executor: Database | Trx,
  projectId: string,
): Promise<InvoiceSettings | null> {
  return findRow(executor, 'invoice_settings', { projectId }, { without: ['project_id'] });
}

export async function saveInvoiceSettings(trx: Trx, projectId: string, settings: InvoiceSettings): Promise<void> {
  const row = { ...settings, projectId };
  await insertRows(trx, 'invoice_settings', [row], { conflict: { by: ['projectId'], set: row } });
}

/**
 * Takes the next number of a year. Others who want one wait until the transaction ends, and get the same number if it
 * is rolled back: take it as late as possible.
 */
export async function takeInvoiceNumber(trx: Trx, { projectId, mode }: ProjectMode, year: number): Promise<number> {
  const { rows } = await sql<{ last: number }>`
    insert into invoice_counters (project_id, mode, year, last) values (${projectId}, ${mode}, ${year}, 1)
    on conflict (project_id, mode, year) do update set last = invoice_counters.last + 1 returning last`.execute(trx);
  const last = rows[0]?.last;
  if (last === undefined) throw new Error('A counter returned no row.');
  return last;
}

export async function insertInvoiceDocument(trx: Trx, { content, ...invoice }: IssuedInvoice): Promise<void> {
  const items = content.items.map(({ quantity, unitMinor, ...item }) => ({
    ...item,
    quantity: String(quantity),
    unitMinor: String(unitMinor),
  }));
  await insertRows(trx, 'invoice_documents', [{ ...invoice, content: { ...content, items } }]);
}

/** The invoice of a payment request; null if the request has none. */
export async function findInvoiceDocument(executor: Database | Trx, requestId: string): Promise<IssuedInvoice | null> {
  const found = await findRow(executor, 'invoice_documents', { requestId });
  return found && { ...found, content: readContent(found.content) };
}

function readContent({ items, ...content }: StoredContent): InvoiceContent {
  return {
    ...content,
    items: items.map(({ quantity, unitMinor, ...item }) => ({
      ...item,
      quantity: BigInt(quantity),
      unitMinor: BigInt(unitMinor),
    })),
  };
}

export type InvoiceSummary = Pick<IssuedInvoice, 'number' | 'email'> & { readonly dueOn: string };

/** The number, due date and buyer's e-mail address of a request's invoice; null if the request has none. */
export async function findInvoiceSummary(executor: Database | Trx, requestId: string): Promise<InvoiceSummary | null> {
  const { rows } = await sql<InvoiceSummary>`
    select number, email, content ->> 'dueOn' as "dueOn" from invoice_documents
    where payment_request_id = ${requestId}`.execute(executor);
  return rows[0] ?? null;
}

export async function findInvoicePdf(
  executor: Database | Trx,
  requestId: string,
  kind: InvoiceFile,
): Promise<Buffer | null> {
  return (await findRow(executor, 'invoice_pdfs', { requestId, kind }))?.bytes ?? null;
}

/** Keeps a PDF, unless there is one already. */
export async function saveInvoicePdf(executor: Database | Trx, pdf: Stored<'invoice_pdfs'>): Promise<void> {
  await insertRows(executor, 'invoice_pdfs', [pdf], { conflict: {} });
}

/** An invoice whose buyer is to be reminded now, or was not because of its project's settings. */
export type DueInvoice = Omit<IssuedInvoice, 'content'> & { readonly content: StoredContent };

/** The invoices whose reminder is due, which no other transaction has locked. */
export function lockInvoicesToRemind(trx: Trx, now: number, limit: number): Promise<readonly DueInvoice[]> {
  const due = trx
    .selectFrom('invoice_documents')
    .select(fields('invoice_documents'))
    .where('reminds_at', '<=', timestamp(now));
  return lockUntaken(due.orderBy('reminds_at'), limit);
}

export async function setInvoiceReminder(trx: Trx, requestId: string, remindsAt: number | null): Promise<void> {
  await updateRows(trx, 'invoice_documents', { requestId }, { remindsAt });
}

/** Open requests whose invoices have an e-mail address, newest first; upper and lower case are the same. */
export async function openInvoicesOf(
  db: Database,
  { projectId, mode }: ProjectMode,
  email: string,
  limit: number,
): Promise<readonly PaymentRequest[]> {
  const { rows } = await sql<PaymentRequest>`
    select ${fieldList('payment_requests', { of: 'r', without: ['due_at'] })}
    from invoice_documents d join payment_requests r on r.id = d.payment_request_id
    where d.project_id = ${projectId} and d.mode = ${mode} and lower(d.email) = lower(${email}) and r.status = 'open'
    order by r.id desc limit ${limit}`.execute(db);
  return rows;
}

/** The invoices whose buyers' addresses the deletion of customers' data clears. */
export type BuyerChoice =
  | { readonly kind: 'email'; readonly email: string }
  | { readonly kind: 'before'; readonly before: number };

/** One buyer's invoices, or those before a time that are not asked for any more. */
const ofBuyers = (projectId: string, choice: BuyerChoice) => sql`
  project_id = ${projectId} and email is not null and ${
    choice.kind === 'email'
      ? sql`lower(email) = lower(${choice.email})`
      : sql`created_at < ${timestamp(choice.before)} and not exists (
          select from payment_requests r where r.id = payment_request_id and r.status = 'open')`
  }`;

export async function countBuyers(executor: Database | Trx, projectId: string, choice: BuyerChoice): Promise<number> {
  const { rows } = await sql<{ invoices: number }>`
    select count(*)::integer as invoices from invoice_documents where ${ofBuyers(projectId, choice)}`.execute(executor);
  return rows[0]?.invoices ?? 0;
}

/** Clears the buyers' addresses; returns of how many invoices. */
export function forgetBuyers(trx: Trx, projectId: string, choice: BuyerChoice): Promise<number> {
  return affectedRows(
    trx,
    sql`update invoice_documents set email = null, reminds_at = null where ${ofBuyers(projectId, choice)}`,
  );
}
