import type { AssetCode } from './asset-code.ts';
import { divHalfUp, pow10, type Fiat } from './money.ts';
import type { Network } from './networks.ts';

/** Decimals of a quantity, which is counted in thousandths. */
export const QUANTITY_DECIMALS = 3;
/** Decimals of a VAT rate in percent, which is counted in hundredths: 1900 is 19 %. */
export const RATE_DECIMALS = 2;

/** The seller or the buyer: name and address as printed, and the number at their tax office. */
export interface Party {
  readonly lines: readonly string[];
  readonly taxId: string | null;
}

export interface InvoiceItem {
  readonly description: string;
  /** Thousandths: 1500n is one and a half. */
  readonly quantity: bigint;
  /** The price of one, in minor units of the invoice's currency. */
  readonly unitMinor: bigint;
  /** Hundredths of a percent, from 0 to 10,000. */
  readonly rate: number;
}

/** The part of an invoice that its merchant writes, checked by `parseInvoice`. Dates are days: `2026-01-31`. */
export interface InvoiceContent {
  readonly issuedOn: string;
  /** The day of the supply; null if it is that of the invoice. */
  readonly suppliedOn: string | null;
  readonly dueOn: string;
  readonly seller: Party;
  readonly buyer: Party | null;
  readonly currency: Fiat;
  /** Whether unit prices contain the VAT. */
  readonly pricesIncludeTax: boolean;
  readonly items: readonly InvoiceItem[];
  readonly note: string | null;
}

/** How an invoice was paid, for its receipt: the day of the last payment, and each of them, the first one first. */
export interface InvoicePaid {
  readonly on: string;
  readonly payments: readonly PaidCoin[];
  /** The payments beyond the most that a receipt names. */
  readonly further: { readonly count: number; readonly minor: bigint };
}

export interface PaidCoin {
  readonly on: string;
  /** Its worth, in minor units of the invoice's currency. */
  readonly minor: bigint;
  /** Decimal text in whole coins. */
  readonly amount: string;
  readonly asset: AssetCode;
  readonly network: Network;
  readonly transactionHash: string | null;
}

/** An invoice as a document: the content, and the facts that the program adds. */
export interface InvoiceDocument extends InvoiceContent {
  readonly number: string;
  readonly paymentUrl: string;
  /** Null until it is paid; the document of a paid invoice is its receipt. */
  readonly paid: InvoicePaid | null;
}

/** The sums of all items of one VAT rate, in minor units. */
export interface RateTotal {
  readonly rate: number;
  readonly net: bigint;
  readonly vat: bigint;
  readonly gross: bigint;
}

export interface InvoiceTotals {
  /** The amount of each item, in the order of the items: with VAT if the prices contain it. */
  readonly amounts: readonly bigint[];
  /** The greatest rate first. */
  readonly rates: readonly RateTotal[];
  readonly net: bigint;
  readonly vat: bigint;
  readonly gross: bigint;
}

/**
 * Adds up an invoice as EN 16931 does: the amount of an item is rounded half up to the minor unit (BR-CO-10 adds
 * the rounded ones), and VAT is computed once for each rate, on the sum of the rate's items, and rounded half up
 * (BR-CO-17).
 * Where prices contain the VAT, it is taken out of that sum, and the rest is the net: no cent appears or disappears.
 */
export function totalsOf(items: readonly InvoiceItem[], pricesIncludeTax: boolean): InvoiceTotals {
  const amounts = items.map(amountOf);
  const sums = new Map<number, bigint>();
  for (const [place, { rate }] of items.entries()) sums.set(rate, (sums.get(rate) ?? 0n) + (amounts[place] ?? 0n));
  const rates = [...sums].toSorted(([a], [b]) => b - a).map(([rate, sum]) => rateTotal(rate, sum, pricesIncludeTax));
  const sumOf = (part: 'net' | 'vat' | 'gross'): bigint => rates.reduce((sum, one) => sum + one[part], 0n);
  return { amounts, rates, net: sumOf('net'), vat: sumOf('vat'), gross: sumOf('gross') };
}

/** The amount of an item in minor units, rounded half up. */
export function amountOf({ quantity, unitMinor }: InvoiceItem): bigint {
  return divHalfUp(quantity * unitMinor, pow10(QUANTITY_DECIMALS));
}

function rateTotal(rate: number, sum: bigint, isGross: boolean): RateTotal {
  const whole = 100n * pow10(RATE_DECIMALS);
  const part = BigInt(rate);
  const vat = divHalfUp(sum * part, isGross ? whole + part : whole);
  return isGross ? { rate, net: sum - vat, vat, gross: sum } : { rate, net: sum, vat, gross: sum + vat };
}
