import type { DocumentRenderer } from '../../documents/renderer.ts';
import type { InvoiceDocument, InvoicePaid } from '../../domain/invoice-document.ts';
import { formatDecimal } from '../../domain/money.ts';
import type { PaymentRequest } from '../../domain/payment-request.ts';
import {
  findInvoiceDocument,
  findInvoicePdf,
  saveInvoicePdf,
  type InvoiceFile,
  type IssuedInvoice,
} from '../../store/payments/invoice-documents.ts';
import { newestInvoices } from '../../store/payments/payment-requests.ts';
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
  /** The request has no invoice, or is not paid and so has no receipt. */
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
  const bytes = await rendering;
  return bytes === null ? { kind: 'busy' } : { kind: 'pdf', fileName, bytes };
}

/** The document as it is saved; null if too many are being rendered. */
async function renderAndSave(
  { app, renderer }: Documents,
  request: PaymentRequest,
  invoice: IssuedInvoice,
  file: InvoiceFile,
): Promise<Buffer | null> {
  const { language } = invoice;
  const paid = file === 'receipt' ? await paidOf(app, request) : null;
  const looks = { language, logo: await printableLogo(app, request.projectId), isTest: request.mode === 'test' };
  const rendered = await renderer.render(documentOf(app, request, invoice, paid), looks);
  if (rendered.kind === 'busy' || rendered.kind === 'too_slow') return null;
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

/** The payments that made up the sum. A payment that the shop completed by hand may have no coins. */
async function paidOf({ db }: App, request: PaymentRequest): Promise<InvoicePaid> {
  const payments = (await newestInvoices(db, request.id, MAX_PAYMENTS)).toReversed();
  const coins = payments.flatMap(({ quote, received, transactionHash }) => {
    const units = received.all.confirmedUnits;
    if (quote === null || units === 0n) return [];
    const { asset, network, decimals } = quote;
    return [{ amount: formatDecimal(units, decimals), asset, network, transactionHash }];
  });
  return { on: dayOf(request.endedAt ?? request.createdAt), payments: coins };
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
