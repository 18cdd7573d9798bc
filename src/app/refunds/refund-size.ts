import { decimalsPart } from '../../domain/amount-range.ts';
import { tokenOf, isAssetCode, rateIn, unitsAtRate } from '../../domain/asset.ts';
import { fiatDecimals, formatDecimal, type Fiat } from '../../domain/money.ts';
import type { Quote } from '../../domain/payment.ts';
import type { sizeRefund } from '../../domain/refund.ts';
import { rejected } from '../rejected.ts';
import { refusedAs, type RefundedPayment, type RefundRefusal } from './refund-money.ts';
import { isNetwork } from '../../domain/networks.ts';
import type { Mode } from '../../domain/permission.ts';
import type { App } from '../context.ts';
import { freshPrices } from '../payments/quote-payment.ts';

/** The decimals of an amount in a coin that a request may have. */
const MAX_DECIMALS = 8;

/** The requested size: an amount in minor units, an amount of the asset as a decimal, or everything that is left. */
export type WantedRefund = { readonly amountMinor: bigint } | { readonly cryptoAmount: string } | null;

/** The requested units of a token with `decimals`, if the request states them; null: everything that is left. */
export function wantedUnits(
  wanted: WantedRefund,
  decimals: number,
): { readonly amountMinor: bigint } | { readonly units: bigint } | RefundRefusal | null {
  if (wanted === null || 'amountMinor' in wanted) return wanted;
  const units = parseUnits(wanted.cryptoAmount, decimals);
  if (units !== null) return { units };
  const least = { param: 'crypto_amount', decimals: decimalsPart(Math.min(decimals, MAX_DECIMALS)) };
  return refusedAs('crypto_amount', rejected('amount_positive', least));
}

function parseUnits(text: string, decimals: number): bigint | null {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text);
  const fraction = match?.[2] ?? '';
  if (match === null || fraction.length > Math.min(decimals, MAX_DECIMALS)) return null;
  const units = BigInt((match[1] ?? '0') + fraction.padEnd(decimals, '0'));
  return units > 0n ? units : null;
}

/** The refusal of a refund of the requested size; it names the amount that is left. */
export function sizeRefusal(
  payment: RefundedPayment,
  wanted: object | null,
  size: Exclude<ReturnType<typeof sizeRefund>, { kind: 'ok' }>,
): RefundRefusal {
  const param = wanted !== null && 'units' in wanted ? 'crypto_amount' : 'amount';
  const { asset, decimals } = payment.quote;
  switch (size.kind) {
    case 'nothing_left':
      return refusedAs(null, rejected('refund_nothing_left', { decimals: Math.min(decimals, MAX_DECIMALS) }));
    case 'too_little':
      return refusedAs(param, rejected('refund_below_unit', { param, asset }));
    case 'too_much': {
      const left = formatDecimal(size.leftUnits, decimals);
      if (payment.amountMinor === 0n)
        return refusedAs(param, rejected('refund_too_many_coins', { param, left, asset }));
      const worth = formatDecimal(size.leftMinor, fiatDecimals(payment.currency));
      const { currency } = payment;
      return refusedAs(param, rejected('refund_too_much', { param, left, asset, worth, currency }));
    }
  }
}

/** Nodes do not relay payments below the dust limit, which also applies to orders. */
export function dustRefusal(quote: Quote, units: bigint, wanted: object | null): RefundRefusal | null {
  const { asset, network, decimals } = quote;
  const token = tokenOf(asset, network);
  if (token === null || token.decimals !== decimals || units >= token.dustUnits) return null;
  const param = wanted === null ? null : 'units' in wanted ? 'crypto_amount' : 'amount';
  const sizes = { units: formatDecimal(units, decimals), least: formatDecimal(token.dustUnits, decimals), asset };
  return refusedAs(
    param,
    param === null ? rejected('refund_rest_dust', sizes) : rejected('refund_dust', { param, ...sizes }),
  );
}

/** How long a person may take to confirm an amount that was computed at the present rate. */
export const RATE_COUNTS_MS = 60_000;

/** The present worth of an amount in the token of a refund. */
export interface AmountNow {
  readonly kind: 'ok';
  /** Rounded down, so that they are never worth more than the amount. */
  readonly units: bigint;
  readonly decimals: number;
  /** One whole unit in the currency, scaled by 10^8. */
  readonly rate: bigint;
  /** The market's time of this rate. */
  readonly at: number;
  /** The time until which a refund of these units may be confirmed. */
  readonly until: number;
}

/**
 * Converts an amount at the market's present rate, without the merchant's spread, for a refund of as much as the amount
 * buys today. `no_rate` without a fresh price: nothing is guessed.
 */
export function amountNow(
  app: Pick<App, 'railFor' | 'clock'>,
  { mode, currency }: { readonly mode: Mode; readonly currency: Fiat },
  token: { readonly asset: string; readonly network: string },
  amountMinor: bigint,
): AmountNow | { readonly kind: 'no_rate'; readonly message: string } | RefundRefusal {
  const { asset, network } = token;
  const paidIn = isAssetCode(asset) && isNetwork(network) ? tokenOf(asset, network) : null;
  if (paidIn === null) {
    const message = `asset: there is no ${asset} on ${network}.`;
    return { kind: 'refused', param: 'crypto_currency', message };
  }
  const { rates } = app.railFor(mode);
  const prices = freshPrices(rates, paidIn.asset, currency);
  if (prices.kind !== 'ok') return prices;
  const rate = rateIn(prices.fiatPrice, prices.assetPrice);
  if (rate === 0n) return { kind: 'no_rate', message: `The price of ${asset} is too small for ${currency}.` };
  const now = app.clock();
  const times = [paidIn.asset, currency].map((code) => rates.pricedAt?.(code) ?? now);
  return {
    kind: 'ok',
    units: unitsAtRate(amountMinor, currency, rate, paidIn.decimals),
    decimals: paidIn.decimals,
    rate,
    at: Math.min(now, ...times),
    until: now + RATE_COUNTS_MS,
  };
}

/** Refuses an amount of coins whose rate has expired; null if the rate counts or none was used. */
export function oldRateRefusal(until: number | null, now: number): RefundRefusal | null {
  if (until === null || (now <= until && until <= now + RATE_COUNTS_MS)) return null;
  if (until > now) {
    const message = 'No current rate is valid until the time in rate_until. Check the amount at the current rate.';
    return { kind: 'refused', param: 'crypto_amount', message };
  }
  return refusedAs('crypto_amount', rejected('refund_rate_old'));
}
