import { totalsOf } from '../../domain/invoice-document.ts';
import { nextReminder, presentReminder } from '../../domain/invoice-reminders.ts';
import { isEmail } from '../../domain/mail-address.ts';
import type { SavedInvoiceMail } from '../../domain/mail-content.ts';
import { leftMinor, takesPayments, type PaymentRequest } from '../../domain/payment-request.ts';
import type { Mail } from '../../mail/send.ts';
import {
  findInvoiceDocument,
  findInvoiceSettings,
  lockInvoicesToRemind,
  setInvoiceReminder,
  type IssuedInvoice,
} from '../../store/payments/invoice-documents.ts';
import { findRequest, requestSums } from '../../store/payments/payment-requests.ts';
import { insertMails, mailsOfRequest, type DueInvoiceMail } from '../../store/people/mails.ts';
import { customerOf, findCustomerMails, hasRefused } from '../../store/projects/customer-mails.ts';
import { findLogo, findProject } from '../../store/projects/projects.ts';
import { requestUrl } from '../../wire/payment-request.ts';
import { recordPeoplesAudit } from '../audit.ts';
import { newId, type App } from '../context.ts';
import { PATIENCE_MS } from '../enqueue-mail.ts';
import { invoicePdf, type Documents } from '../payment-requests/invoice-pdf.ts';
import { auditedRequest } from '../payment-requests/save-request.ts';
import { shopOf } from './customer-facts.ts';
import { peoplesAddresses } from './customer-mail-shops.ts';
import { customerMail } from './customer-mails.ts';

/**
 * Whether a mail about an invoice would be sent. `no_server`: the service sends none. `no_address`: the buyer's is
 * unknown. `refused`: the buyer wants none. `not_of_people`: a test invoice, and the address is not that of a person
 * who may see its project's payments. `ended`: the request was closed.
 */
export type InvoiceMailState = 'can' | 'no_server' | 'no_address' | 'refused' | 'not_of_people' | 'ended';

export async function invoiceMailState(
  { db, sendsMail }: App,
  { projectId, mode, status }: PaymentRequest,
  email: string | null,
): Promise<InvoiceMailState> {
  if (sendsMail !== true) return 'no_server';
  if (email === null || !isEmail(email)) return 'no_address';
  if (status === 'closed' || status === 'expired') return 'ended';
  if (!(await peoplesAddresses(db))({ projectId, mode, email })) return 'not_of_people';
  return (await hasRefused(db, customerOf(projectId, email))) ? 'refused' : 'can';
}

/** Mails an invoice, or its receipt if it is paid, to its buyer. A mail that still waits is sent once. */
export async function mailInvoice(
  app: App,
  request: PaymentRequest,
  email: string | null,
): Promise<
  { readonly kind: 'done' } | { readonly kind: 'not_sent'; readonly state: Exclude<InvoiceMailState, 'can'> }
> {
  const state = await invoiceMailState(app, request, email);
  if (state !== 'can') return { kind: 'not_sent', state };
  await app.db.transaction().execute(async (trx) => {
    const now = app.clock();
    const kind = request.status === 'paid' ? 'invoice_receipt' : 'invoice';
    // The same key for clicks while a mail waits. A number of mails would come again, because old ones are deleted.
    const last = (await mailsOfRequest(trx, request.id)).findLast(({ endedAt }) => endedAt !== null)?.id ?? 'none';
    await insertMails(trx, [newMail(app, request.id, `by hand after ${last}`, { kind }, now)], now);
    await recordPeoplesAudit(app, trx, auditedRequest('payment.invoice_mail', request));
  });
  return { kind: 'done' };
}

function newMail(app: App, requestId: string, mailKey: string, content: SavedInvoiceMail, now: number) {
  return { id: newId(app, now), requestId, mailKey, content, giveUpAt: now + PATIENCE_MS };
}

/**
 * Makes the reminders that are due, of projects that send them, and notes when the next ones are. Returns true if there
 * may be more.
 */
export async function remindBuyers(app: App, limit = 100): Promise<boolean> {
  if (app.sendsMail !== true) return false;
  return app.db.transaction().execute(async (trx) => {
    const now = app.clock();
    const due = await lockInvoicesToRemind(trx, now, limit);
    // A mail locks its request like a foreign key. Payments lock their requests in the order of ids too.
    const inOrder = due.toSorted((a, b) => (a.requestId < b.requestId ? -1 : 1));
    for (const { requestId, projectId, content } of inOrder) {
      const settings = await findInvoiceSettings(trx, projectId);
      const request = await findRequest(trx, { id: requestId });
      const reminder = presentReminder(content.dueOn, now);
      const isWanted = settings?.reminds === true && request !== null && takesPayments(request, now);
      if (reminder !== null && isWanted) {
        await insertMails(trx, [newMail(app, requestId, reminder, { kind: `invoice_${reminder}` }, now)], now);
      }
      await setInvoiceReminder(trx, requestId, nextReminder(content.dueOn, now));
    }
    return due.length === limit;
  });
}

/** Composes a mail about an invoice for sending now; null if it is not to be sent any more. */
export async function prepareForBuyer(
  documents: Documents,
  from: string,
  { id, requestId, content: { kind } }: DueInvoiceMail,
): Promise<Mail | null> {
  const { app } = documents;
  const [request, invoice] = await Promise.all([
    findRequest(app.db, { id: requestId }),
    findInvoiceDocument(app.db, requestId),
  ]);
  if (request === null || invoice === null || invoice.email === null) return null;
  const { projectId } = request;
  const [project, settings] = await Promise.all([findProject(app.db, projectId), findCustomerMails(app.db, projectId)]);
  if (project?.active !== true || (await invoiceMailState(app, request, invoice.email)) !== 'can') return null;
  const minor = await amountOf(app, request, invoice, kind);
  if (minor === null) return null;
  const file = kind === 'invoice_receipt' ? 'receipt' : 'invoice';
  const pdf = await invoicePdf(documents, request, file);
  if (pdf.kind !== 'pdf') throw new Error('the invoice cannot be rendered at the moment');
  const isTest = request.mode === 'test';
  const pageUrl = requestUrl(request, app.links);
  const payment = { name: invoice.number, currency: request.currency, minor: String(minor), pageUrl, isTest };
  const facts = {
    to: invoice.email,
    mail: { shop: shopOf(project), payment, kind, dueOn: invoice.content.dueOn } as const,
    language: invoice.language,
    settings,
    project,
    logo: project.logo === null ? null : await findLogo(app.db, project.logo.hash),
  };
  const mail = await customerMail(app, from, id, facts);
  return { ...mail, attachments: [{ name: pdf.fileName, type: 'application/pdf', bytes: pdf.bytes }] };
}

/** The sum that the mail names, in minor units: all of it, or of a reminder what is missing. Null: there is no news. */
async function amountOf(
  app: App,
  request: PaymentRequest,
  { content }: IssuedInvoice,
  kind: SavedInvoiceMail['kind'],
): Promise<bigint | null> {
  const { gross } = totalsOf(content.items, content.pricesIncludeTax);
  if (kind === 'invoice_receipt') return request.status === 'paid' ? gross : null;
  const now = app.clock();
  if (!takesPayments(request, now)) return null;
  if (kind === 'invoice') return gross;
  const left = leftMinor(request, (await requestSums(app.db, [request.id], now))(request.id)) ?? 0n;
  return left > 0n ? left : null;
}
