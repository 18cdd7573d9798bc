import type { InvoiceDocument } from '../domain/invoice-document.ts';
import { createThread } from '../threads/thread.ts';
import type { InvoiceLooks, RenderedDocument } from './invoice-pdf.ts';

export interface DocumentRequest {
  readonly invoice: InvoiceDocument;
  readonly looks: InvoiceLooks;
}

/** `busy`: too many documents wait. `too_slow`: the rendering was given up. */
export type RenderOutcome = RenderedDocument | { readonly kind: 'busy' } | { readonly kind: 'too_slow' };

export interface RenderLimits {
  /** Documents that wait or are rendered at a time. */
  readonly waiting: number;
  /** Milliseconds for one document, and for the start of the thread if it is the first. */
  readonly eachMs: number;
}

const LIMITS: RenderLimits = { waiting: 20, eachMs: 10_000 };

export interface DocumentRenderer {
  readonly render: (invoice: InvoiceDocument, looks: InvoiceLooks) => Promise<RenderOutcome>;
  readonly stop: () => Promise<void>;
}

/**
 * Renders documents on a thread of its own, one after the other, so that requests of others go on meanwhile
 * (docs/design/documents.md). `fontFolder` has fonts for characters that the bundled ones lack. A failed rendering
 * rejects, such as one with a broken logo; the next one is rendered all the same.
 */
export function createDocumentRenderer(fontFolder: string | null, limits: RenderLimits = LIMITS): DocumentRenderer {
  const thread = createThread<DocumentRequest, RenderedDocument>(
    new URL('./render-worker.ts', import.meta.url),
    fontFolder,
    'renders documents',
  );
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();

  const renderInTime = async (request: DocumentRequest): Promise<RenderOutcome> => {
    const late = Promise.withResolvers<RenderOutcome>();
    const timer = setTimeout(() => late.resolve({ kind: 'too_slow' }), limits.eachMs);
    const rendered = thread.ask(request);
    try {
      const outcome = await Promise.race([rendered, late.promise]);
      if (outcome.kind !== 'too_slow') return outcome;
      // The thread's end rejects the request.
      await Promise.allSettled([thread.terminate(), rendered]);
      return outcome;
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    render: async (invoice, looks) => {
      if (waiting >= limits.waiting) return { kind: 'busy' };
      waiting += 1;
      const outcome = last.then(() => renderInTime({ invoice, looks }));
      last = Promise.allSettled([outcome]);
      try {
        return await outcome;
      } finally {
        waiting -= 1;
      }
    },
    stop: thread.stop,
  };
}
