import type { InvoiceLooks } from '../../documents/invoice-pdf.ts';
import type { DocumentRenderer } from '../../documents/renderer.ts';
import type { InvoiceDocument } from '../../domain/invoice-document.ts';

/** Why a document cannot be rendered. */
export type Unprintable =
  /** No font has these. `field` is the first one that has any. */
  | { readonly kind: 'missing_characters'; readonly field: string; readonly characters: readonly string[] }
  /** Too many documents are being rendered, or this one takes too long. */
  | { readonly kind: 'busy' };

/** Renders a document to learn whether that works; null if it does. */
export async function tryRendering(
  renderer: DocumentRenderer,
  document: InvoiceDocument,
  looks: InvoiceLooks,
): Promise<Unprintable | null> {
  const outcome = await renderer.render(document, looks);
  if (outcome.kind === 'rendered') return null;
  if (outcome.kind !== 'missing_characters') return { kind: 'busy' };
  const { characters } = outcome;
  const { items, buyer, note, seller } = document;
  const texts: readonly (readonly [string, string | null])[] = [
    ...items.map(({ description }, place) => [`items.${place}.description`, description] as const),
    ['buyer.lines', buyer?.lines.join('\n') ?? null],
    ['buyer.tax_id', buyer?.taxId ?? null],
    ['note', note],
    ['seller.tax_id', seller.taxId],
  ];
  const has = (text: string | null): boolean => characters.some((one) => text?.includes(one) === true);
  return { kind: 'missing_characters', field: texts.find(([, text]) => has(text))?.[0] ?? 'seller.lines', characters };
}
