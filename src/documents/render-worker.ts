import { workerData } from 'node:worker_threads';
import { answerRequests } from '../threads/answer-requests.ts';
import { openFonts, readFonts } from './fonts.ts';
import { renderInvoice, type RenderedDocument } from './invoice-pdf.ts';
import type { DocumentRequest } from './renderer.ts';

/** The program of the thread that `renderer.ts` starts. Its data is the folder of the operator's fonts, or null. */
const files = readFonts(workerData as string | null);

answerRequests(({ invoice, looks }: DocumentRequest): Promise<RenderedDocument> =>
  renderInvoice(invoice, looks, openFonts(files)),
);
