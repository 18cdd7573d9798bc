import type { DocumentRenderer } from '../../documents/renderer.ts';
import type { InvoiceDocument, InvoicePaid } from '../../domain/invoice-document.ts';
import { formatDecimal } from '../../domain/money.ts';
import type { Payment } from '../../domain/payment.ts';
import type { PaymentRequest } from '../../domain/payment-request.ts';
import {
  findInvoiceDocument,
  findInvoicePdf,
  saveInvoicePdf,
  type InvoiceFile,
  type IssuedInvoice,
} from '../../store/payments/invoice-documents.ts';
import { paidInvoices } from '../../store/payments/payment-requests.ts';
import { findTransfers } from '../../store/payments/transfers.ts';
import { findLogo, findProject } from '../../store/projects/projects.ts';
import { requestUrl } from '../../wire/payment-request.ts';
import type { App } from '../context.ts';

/** The parts that render documents. */
export interface Documents {
  readonly app: App;
  readonly renderer: DocumentRenderer;
}

export type FoundPdf =
  | { readonly kind: 'pdf'; readonly fileName: string; readonly bytes: Buffer }
  /** The request has no invoice, or is not paid, or not any more, and so has no receipt. */
  | { readonly kind: 'not_found' }
  /** Too many documents are being rendered. */
  | { readonly kind: 'busy' };

/** The most payments that a receipt names. */
const MAX_PAYMENTS = 200;

/**
 * The invoice of a payment request, or its receipt once it is paid, as PDF. It is rendered at the first reading alone,
 * which is that of its issue unless the process ended there.
 */
export async function invoicePdf(documents: Documents, request: PaymentRequest, file: InvoiceFile): Promise<FoundPdf> {
  const { app } = documents;
  const { renderings } = app.memory;
  const invoice = await findInvoiceDocument(app.db, request.id);
  if (invoice === null || (file === 'receipt' && request.status !== 'paid')) return { kind: 'not_found' };
  // Slashes separate folders.
  const fileName = `${invoice.number.replaceAll('/', '-')}${file === 'receipt' ? '-receipt' : ''}.pdf`;
  const saved = await findInvoicePdf(app.db, request.id, file);
  if (saved !== null) return { kind: 'pdf', fileName, bytes: saved };
  // Readers who come at once wait for the same document: each of them would take one of the renderer's few places.
  const name = `${request.id} ${file}`;
  const rendering =
    renderings.get(name) ?? renderAndSave(documents, request, invoice, file).finally(() => renderings.delete(name));
  renderings.set(name, rendering);
  const rendered = await rendering;
  return typeof rendered === 'string' ? { kind: rendered } : { kind: 'pdf', fileName, bytes: rendered };
}

/** The document as it is saved. `busy`: too many are being rendered. `not_found`: it is not paid any more. */
async function renderAndSave(
  { app, renderer }: Documents,
  request: PaymentRequest,
  invoice: IssuedInvoice,
  file: InvoiceFile,
): Promise<Buffer | 'busy' | 'not_found'> {
  const { language } = invoice;
  const paid = file === 'receipt' ? await paidOf(app, request) : null;
  if (file === 'receipt' && paid === null) return 'not_found';
  const looks = { language, logo: await printableLogo(app, request.projectId), isTest: request.mode === 'test' };
  const rendered = await renderer.render(documentOf(app, request, invoice, paid), looks);
  if (rendered.kind === 'busy' || rendered.kind === 'too_slow') return 'busy';
  if (rendered.kind !== 'rendered') throw new Error(`The fonts lack ${rendered.characters.join(' ')}.`);
  const bytes = Buffer.from(rendered.pdf);
  await saveInvoicePdf(app.db, { requestId: request.id, kind: file, bytes });
  return bytes;
}

export function documentOf(
  { links }: Pick<App, 'links'>,
  request: Pick<PaymentRequest, 'id' | 'mode'>,
  { content, number }: Pick<IssuedInvoice, 'content' | 'number'>,
  paid: InvoicePaid | null,
): InvoiceDocument {
  return { ...content, number, paymentUrl: requestUrl(request, links), paid };
}

/**
 * The payments that made up the sum, each with its day, its worth in the books of the request, and the transaction that
 * decided it. Null if a reorganisation of the chain has taken some of the money back.
 */
export async function paidOf(
  { db }: Pick<App, 'db'>,
  request: PaymentRequest,
  most = MAX_PAYMENTS,
): Promise<InvoicePaid | null> {
  const all = await paidInvoices(db, request.id);
  const sumOf = (some: typeof all): bigint => some.reduce((sum, { paidMinor }) => sum + paidMinor, 0n);
  if (sumOf(all) < (request.amountMinor ?? 0n)) return null;
  const further = all.slice(most);
  const transfers = await findTransfers(
    db,
    all.map(({ payment }) => payment.id),
  );
  const dayPaid = ({ id, completedAt, createdAt }: Payment, hash: string | null): string => {
    const decided = transfers.get(id)?.find(({ transactionHash }) => transactionHash === hash);
    return dayOf(decided?.blockAt ?? decided?.firstSeenAt ?? completedAt ?? createdAt);
  };
  const payments = all.slice(0, most).flatMap(({ payment, paidMinor: minor }) => {
    const { quote, received } = payment;
    if (quote === null) return [];
    const transactionHash = payment.transactionHash ?? received.transactionHash;
    const { asset, network, decimals } = quote;
    const amount = formatDecimal(received.all.confirmedUnits, decimals);
    return [{ on: dayPaid(payment, transactionHash), minor, amount, asset, network, transactionHash }];
  });
  const on = dayOf(request.endedAt ?? request.createdAt);
  return { on, payments, further: { count: further.length, minor: sumOf(further) } };
}

/** The day in UTC, such as `2026-01-31`. */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** The project's logo; null if it has none, or one in WebP, which PDF does not know. */
export async function printableLogo({ db }: Pick<App, 'db'>, projectId: string): Promise<Uint8Array | null> {
  const project = await findProject(db, projectId);
  const logo = project?.logo ? await findLogo(db, project.logo.hash) : null;
  return logo === null || logo.type === 'image/webp' ? null : logo.bytes;
}
