import type { FastifyReply } from 'fastify';
import type { FoundPdf } from '../app/payment-requests/invoice-pdf.ts';
import { notFound } from './errors.ts';
import { sentenceError } from './page-sentences.ts';

/** The file of an invoice; null: there is no such file. */
export function invoiceFile(name: string): 'invoice' | 'receipt' | null {
  const [, file] = /^(invoice|receipt)\.pdf$/.exec(name) ?? [];
  return file === 'invoice' || file === 'receipt' ? file : null;
}

/** How long a client waits while too many documents are rendered. */
const RETRY_SECONDS = 5;

/** Sends a PDF as a file to be saved under its number. @throws RequestError if there is none, or none yet */
export function sendPdf(reply: FastifyReply, found: FoundPdf): FastifyReply {
  if (found.kind === 'not_found') throw notFound('There is no such file.');
  if (found.kind === 'busy') {
    void reply.header('retry-after', String(RETRY_SECONDS));
    throw sentenceError('service_unavailable', 'documents_busy');
  }
  return reply
    .headers({
      'cache-control': 'private, no-store',
      'content-disposition': `attachment; filename="${found.fileName}"`,
      'content-security-policy': "default-src 'none'; sandbox",
      'content-type': 'application/pdf',
      'x-content-type-options': 'nosniff',
      'x-robots-tag': 'noindex',
    })
    .send(found.bytes);
}
