import { DOCUMENT_LANGUAGES, documentTitle } from '../../documents/words.ts';
import { encodeId } from '../../domain/id.ts';
import { totalsOf, type InvoiceContent } from '../../domain/invoice-document.ts';
import { nextReminder } from '../../domain/invoice-reminders.ts';
import { isEmail } from '../../domain/mail-address.ts';
import { parseInvoice, type InvoiceDraft, type InvoiceFault } from '../../domain/parse-invoice.ts';
import type { PaymentRequest } from '../../domain/payment-request.ts';
import type { ProjectMode } from '../../domain/permission.ts';
import type { Trx } from '../../store/database.ts';
import {
  insertInvoiceDocument,
  takeInvoiceNumber,
  type InvoiceSettings,
} from '../../store/payments/invoice-documents.ts';
import { saveChanges } from '../../store/payments/save-changes.ts';
import { findProject } from '../../store/projects/projects.ts';
import { requestUrl } from '../../wire/payment-request.ts';
import { recordPeoplesAudit } from '../audit.ts';
import { newId } from '../context.ts';
import { answerRow, isAnswerConflict, withIdempotency, type IdempotencyRequest, type Replay } from '../idempotency.ts';
import { inTransaction } from '../in-transaction.ts';
import type { TokenRefusal } from '../payments/quote-payment.ts';
import { rejected, type Rejected } from '../rejected.ts';
import { insertNewRequest, type NewRequest } from './create-request.ts';
import { documentOf, invoicePdf, printableLogo, type Documents } from './invoice-pdf.ts';
import { invoiceSettings } from './invoice-settings.ts';
import { auditedRequest } from './save-request.ts';
import { tryRendering, type Unprintable } from './try-rendering.ts';

export { DOCUMENT_LANGUAGES };

/** An invoice as somebody wants to issue it. The seller is the project's. */
export interface WantedInvoice extends ProjectMode {
  readonly draft: Omit<InvoiceDraft, 'seller'>;
  /** The buyer's, for mails. */
  readonly email: string | null;
  readonly language: string;
  readonly coins: readonly string[] | null;
}

type Refused = Extract<TokenRefusal, { readonly kind: 'refused' }>;

export type InvoiceRefusal =
  | { readonly kind: 'invalid'; readonly faults: readonly InvoiceFault[] }
  | Unprintable
  | Refused
  | Rejected;

interface Issued {
  readonly kind: 'done';
  /** The answer: the request's id and URL, and the number. */
  readonly body: string;
  readonly request: PaymentRequest;
}

export type IssueOutcome = Issued | InvoiceRefusal | Replay;

/**
 * Issues an invoice: a payment request for its sum, and its document with the next number. It is rendered once before
 * that with another number, so that what cannot be printed takes none, and then as it is.
 */
export async function issueInvoice(
  documents: Documents,
  wanted: WantedInvoice,
  idempotency: IdempotencyRequest | null,
): Promise<IssueOutcome> {
  const { app } = documents;
  // An invoice that was issued is answered again, whatever would be refused by now.
  const outcome = await withIdempotency<IssueOutcome>(app, idempotency, () =>
    issueOnce(documents, wanted, idempotency),
  );
  // A failure here, such as a busy renderer, leaves the PDF to its first reader.
  if (outcome.kind === 'done') await invoicePdf(documents, outcome.request, 'invoice').catch(() => null);
  return outcome;
}

async function issueOnce(
  documents: Documents,
  wanted: WantedInvoice,
  idempotency: IdempotencyRequest | null,
): Promise<IssueOutcome | { readonly kind: 'answer_conflict' }> {
  const { app } = documents;
  const settings = await invoiceSettings(app.db, wanted.projectId);
  const checked = await checkInvoice(documents, wanted, settings);
  if (checked.kind !== 'ok') return checked;
  const { content, request } = checked;
  const issue = async (trx: Trx): Promise<Issued> => {
    const now = app.clock();
    const number = await takeNumber(trx, wanted, settings, content);
    const title = documentTitle(wanted.language, number.text);
    const made = await insertNewRequest(app, trx, { ...request, title, reference: number.text }, now);
    if (made.kind === 'refused') throw new RefusedInvoice(made);
    const { id } = made.request;
    await insertInvoiceDocument(trx, {
      requestId: id,
      projectId: wanted.projectId,
      mode: wanted.mode,
      year: number.year,
      counter: number.counter,
      number: number.text,
      language: wanted.language,
      content,
      email: wanted.email,
      createdAt: now,
      remindsAt: wanted.email === null ? null : nextReminder(content.dueOn, now),
    });
    await recordPeoplesAudit(app, trx, auditedRequest('payment.invoice', made.request));
    const url = requestUrl(made.request, app.links);
    const body = JSON.stringify({ id: encodeId('request', id), number: number.text, url });
    if (idempotency !== null) await saveChanges(trx, [], 2, [answerRow(idempotency, body, now)]);
    return { kind: 'done', body, request: made.request };
  };
  try {
    return await inTransaction(app, issue);
  } catch (error) {
    if (error instanceof RefusedInvoice) return error.refused;
    if (isAnswerConflict(error)) return { kind: 'answer_conflict' };
    throw error;
  }
}

/** Rolls the transaction back, with the number that it took. */
class RefusedInvoice extends Error {
  readonly refused: Refused;

  constructor(refused: Refused) {
    super(refused.message);
    this.refused = refused;
  }
}

async function takeNumber(
  trx: Trx,
  scope: ProjectMode,
  settings: InvoiceSettings,
  { issuedOn }: InvoiceContent,
): Promise<{ readonly year: number; readonly counter: number; readonly text: string }> {
  const year = yearOf(issuedOn);
  const counter = await takeInvoiceNumber(trx, scope, year);
  return { year, counter, text: numberText(settings, year, counter) };
}

const yearOf = (day: string): number => Number(day.slice(0, 4));

function numberText({ prefix }: InvoiceSettings, year: number, counter: number): string {
  return `${prefix}${year}-${String(counter).padStart(4, '0')}`;
}

type Checked =
  | {
      readonly kind: 'ok';
      readonly content: InvoiceContent;
      readonly request: Omit<NewRequest, 'title' | 'reference'>;
    }
  | InvoiceRefusal;

/** Checks all that needs no number, and renders the invoice once. */
async function checkInvoice(
  { app, renderer }: Documents,
  wanted: WantedInvoice,
  settings: InvoiceSettings,
): Promise<Checked> {
  const { projectId, mode, draft, email, language, coins } = wanted;
  const project = await findProject(app.db, projectId);
  if (project?.active !== true) return rejected('project_inactive');
  if (settings.sellerLines.length === 0) return rejected('invoice_seller');
  if (email !== null && !isEmail(email)) return rejected('email', { param: 'email' });
  if (!DOCUMENT_LANGUAGES.includes(language)) {
    return rejected('one_of', { param: 'language', names: DOCUMENT_LANGUAGES.join(', ') });
  }
  const seller = { lines: settings.sellerLines, taxId: settings.sellerTaxId };
  const parsed = parseInvoice({ ...draft, seller });
  if (parsed.kind === 'invalid') return parsed;
  const content = parsed.invoice;
  if (!isToday(content.issuedOn, app.clock())) return rejected('issue_day', { param: 'issuedOn' });
  const trial = { id: newId(app, app.clock()), mode };
  const number = numberText(settings, yearOf(content.issuedOn), 9_999);
  const looks = { language, logo: await printableLogo(app, projectId), isTest: mode === 'test' };
  const refusal = await tryRendering(renderer, documentOf(app, trial, { content, number }, null), looks);
  if (refusal !== null) return refusal;
  const request = {
    projectId,
    mode,
    description: null,
    amountMinor: totalsOf(content.items, content.pricesIncludeTax).gross,
    minAmountMinor: null,
    maxAmountMinor: null,
    currency: content.currency,
    maxPayments: 1,
    coins,
    successUrl: project.defaultSuccessUrl,
    askEmail: false,
    askName: false,
    askNote: false,
    metadata: null,
    expiresAt: null,
  };
  return { kind: 'ok', content, request };
}

/** Whether a day is today somewhere on earth: the person's clock decides, not the server's zone. */
function isToday(day: string, now: number): boolean {
  const HOUR_MS = 60 * 60_000;
  const start = Date.parse(`${day}T00:00:00Z`);
  return now >= start - 14 * HOUR_MS && now < start + 36 * HOUR_MS;
}
