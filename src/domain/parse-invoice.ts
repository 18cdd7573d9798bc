import {
  amountOf,
  QUANTITY_DECIMALS,
  RATE_DECIMALS,
  totalsOf,
  type InvoiceContent,
  type InvoiceItem,
  type Party,
} from './invoice-document.ts';
import { isFiat, maxAmountMinor, MIN_AMOUNT_MINOR, parseDecimal, pow10, type Fiat } from './money.ts';
import { hasVisible } from './visible.ts';

/** The most of each part of an invoice: lines, items and characters (UTF-16 code units, as in limits of fields). */
export const INVOICE_LIMITS = {
  partyLines: 10,
  line: 200,
  taxId: 50,
  /** The number that the project gives it, with its prefix. */
  number: 60,
  items: 200,
  quantity: 999_999_999,
  /** Hundredths of a percent. */
  rate: 10_000,
  description: 1_000,
  note: 2_000,
} as const;

/** The content of an invoice as a form or a client gives it: numbers that need no float are decimal texts. */
export interface InvoiceDraft {
  readonly issuedOn: string;
  readonly suppliedOn: string | null;
  readonly dueOn: string;
  readonly seller: Party;
  readonly buyer: Party | null;
  readonly currency: string;
  readonly pricesIncludeTax: boolean;
  readonly items: readonly DraftItem[];
  readonly note: string | null;
}

export interface DraftItem {
  readonly description: string;
  /** Such as `1.5`. */
  readonly quantity: string;
  readonly unitMinor: bigint;
  /** Percent, such as `19` or `5.5`. */
  readonly vatRate: string;
}

/** Why a field is refused. `limit` is the most characters, lines, items or minor units. */
export type InvoiceFault = { readonly field: string } & (
  | { readonly rule: 'empty' | 'characters' | 'day' | 'before_issue' | 'currency' | 'vat_rate' }
  /** Days that can only be slips: more than ten years from the date of the invoice. */
  | { readonly rule: 'far_supply' | 'far_due' }
  | { readonly rule: 'too_long' | 'too_many' | 'quantity'; readonly limit: number }
  | { readonly rule: 'too_little' | 'too_much'; readonly limit: bigint }
);

export type ParsedInvoice =
  | { readonly kind: 'ok'; readonly invoice: InvoiceContent }
  | { readonly kind: 'invalid'; readonly faults: readonly InvoiceFault[] };

/** Reads the draft of an invoice, or names every wrong field, such as `items.2.vat_rate`, with the rule it breaks. */
export function parseInvoice(draft: InvoiceDraft): ParsedInvoice {
  const { currency, buyer, note } = draft;
  const faults: InvoiceFault[] = [
    ...dayFaults(draft),
    ...partyFaults('seller', draft.seller),
    ...(buyer === null ? [] : partyFaults('buyer', buyer)),
    ...(note === null ? [] : textFaults('note', note, INVOICE_LIMITS.note)),
  ];
  if (!isFiat(currency)) return { kind: 'invalid', faults: [...faults, { field: 'currency', rule: 'currency' }] };
  const items = parseItems(draft.items, currency, faults);
  if (faults.length === 0) faults.push(...totalFaults(items, draft.pricesIncludeTax, currency));
  return faults.length > 0 ? { kind: 'invalid', faults } : { kind: 'ok', invoice: { ...draft, currency, items } };
}

function dayFaults({ issuedOn, suppliedOn, dueOn }: InvoiceDraft): readonly InvoiceFault[] {
  const days = { issued_on: issuedOn, supplied_on: suppliedOn ?? issuedOn, due_on: dueOn };
  const wrong = Object.entries(days).filter(([, day]) => !isDay(day));
  if (wrong.length > 0) return wrong.map(([field]) => ({ field, rule: 'day' }));
  const [issued, supplied, due] = [issuedOn, suppliedOn ?? issuedOn, dueOn].map(dayNumber) as [number, number, number];
  const faults: InvoiceFault[] = [];
  if (Math.abs(supplied - issued) > TEN_YEARS) faults.push({ field: 'supplied_on', rule: 'far_supply' });
  if (due < issued) faults.push({ field: 'due_on', rule: 'before_issue' });
  if (due - issued > TEN_YEARS) faults.push({ field: 'due_on', rule: 'far_due' });
  return faults;
}

/** The day as a number: 20280229 is 29 February 2028. Ten years on stands the same month and day. */
function dayNumber(day: string): number {
  return Number(day.replaceAll('-', ''));
}
const TEN_YEARS = 10_00_00;

/** Whether the text is a day of the calendar, such as `2028-02-29`. */
function isDay(text: string): boolean {
  const at = Date.parse(`${text}T00:00:00Z`);
  // An impossible day, such as 30 February, is read as one of the next month.
  return !Number.isNaN(at) && new Date(at).toISOString().slice(0, 10) === text;
}

/** Names the wrong fields of a party, such as `seller.lines.0`. */
export function partyFaults(field: string, { lines, taxId }: Party): readonly InvoiceFault[] {
  const { partyLines, line } = INVOICE_LIMITS;
  return [
    ...countFaults(`${field}.lines`, lines, partyLines),
    ...lines.flatMap((text, place) => textFaults(`${field}.lines.${place}`, text, line)),
    ...(taxId === null ? [] : textFaults(`${field}.tax_id`, taxId, INVOICE_LIMITS.taxId)),
  ];
}

function countFaults(field: string, list: readonly unknown[], limit: number): readonly InvoiceFault[] {
  if (list.length === 0) return [{ field, rule: 'empty' }];
  return list.length > limit ? [{ field, rule: 'too_many', limit }] : [];
}

/** Markup and marks of direction are text like all others: the document prints them as such or leaves them out. */
function textFaults(field: string, text: string, limit: number): readonly InvoiceFault[] {
  if (text.length > limit) return [{ field, rule: 'too_long', limit }];
  // PostgreSQL stores no NUL, and UTF-8 has no lone surrogates.
  if (!text.isWellFormed() || text.includes('\0')) return [{ field, rule: 'characters' }];
  return hasVisible(text) ? [] : [{ field, rule: 'empty' }];
}

const MAX_QUANTITY = BigInt(INVOICE_LIMITS.quantity) * pow10(QUANTITY_DECIMALS);

/** Reads the items, and adds their faults. */
function parseItems(drafts: readonly DraftItem[], currency: Fiat, faults: InvoiceFault[]): readonly InvoiceItem[] {
  faults.push(...countFaults('items', drafts, INVOICE_LIMITS.items));
  const limit = maxAmountMinor(currency);
  return drafts.map(({ description, quantity, unitMinor, vatRate }, place) => {
    const units = shortDecimal(quantity, QUANTITY_DECIMALS);
    const rate = shortDecimal(vatRate, RATE_DECIMALS);
    const item = { description, quantity: units ?? 0n, unitMinor, rate: Number(rate ?? 0n) };
    const field = `items.${place}`;
    faults.push(...textFaults(`${field}.description`, description, INVOICE_LIMITS.description));
    if (units === null || units === 0n || units > MAX_QUANTITY)
      faults.push({ field: `${field}.quantity`, rule: 'quantity', limit: INVOICE_LIMITS.quantity });
    if (rate === null || rate > BigInt(INVOICE_LIMITS.rate))
      faults.push({ field: `${field}.vat_rate`, rule: 'vat_rate' });
    if (unitMinor < 0n) faults.push({ field: `${field}.unit_minor`, rule: 'too_little', limit: 0n });
    else if (unitMinor > limit) faults.push({ field: `${field}.unit_minor`, rule: 'too_much', limit });
    else if (amountOf(item) > limit) faults.push({ field, rule: 'too_much', limit });
    return item;
  });
}

/** No number of an invoice is longer, and a BigInt of millions of digits takes seconds. */
function shortDecimal(text: string, decimals: number): bigint | null {
  return text.length > 20 ? null : parseDecimal(text, decimals);
}

/** An invoice is one payment, and has the bounds of its amount. */
function totalFaults(items: readonly InvoiceItem[], isGross: boolean, currency: Fiat): readonly InvoiceFault[] {
  const { gross } = totalsOf(items, isGross);
  const limit = maxAmountMinor(currency);
  if (gross > limit) return [{ field: 'items', rule: 'too_much', limit }];
  return gross < MIN_AMOUNT_MINOR ? [{ field: 'items', rule: 'too_little', limit: MIN_AMOUNT_MINOR }] : [];
}
