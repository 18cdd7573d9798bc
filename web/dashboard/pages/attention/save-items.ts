import type { AttentionView } from '../../../../src/http/dashboard/attention/contract.ts';
import { saveFile } from '../../download.ts';
import type { Locale } from '../../locale.tsx';
import { describe } from './sentence.ts';

const COLUMNS = [
  'kind',
  'title',
  'text',
  'since',
  'payment',
  'amount',
  'coin',
  'network',
  'value',
  'currency',
  'assigned_to',
  'note',
];

/** Saves items as a CSV file (RFC 4180), as the list shows them. */
export function saveItems(items: readonly AttentionView[], locale: Locale<'attention'>): void {
  const rows = items.map((item) => {
    const { title, text } = describe(item, locale);
    const { kind, at, payment, amount, asset, network, worth, assigned_to: assigned, note } = item;
    return [
      kind,
      title,
      text,
      at,
      payment?.id,
      amount,
      asset,
      network,
      worth?.amount,
      worth?.currency,
      assigned?.email,
      note,
    ];
  });
  const lines = [COLUMNS, ...rows].map((row) => row.map((cell) => cellOf(cell ?? '')).join(','));
  // The mark tells spreadsheets that the text is UTF-8.
  const content = new Blob([`\uFEFF${lines.join('\r\n')}\r\n`], { type: 'text/csv' });
  saveFile({ name: `needs-attention-${new Date().toISOString().slice(0, 10)}.csv`, content });
}

/** A cell whose text a spreadsheet does not take for a formula. */
function cellOf(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
