import { isAssetCode, rateIn, tokenOf, unitsAtRate } from '../../domain/asset.ts';
import type { Fiat } from '../../domain/money.ts';
import { isNetwork } from '../../domain/networks.ts';
import type { Mode } from '../../domain/permission.ts';
import type { App } from '../context.ts';
import { freshPrices } from '../payments/quote-payment.ts';
import type { RefundRefusal } from './refund-money.ts';

/** How long a person may take to confirm an amount that was computed at the rate of now. */
export const RATE_COUNTS_MS = 60_000;

/** What an amount is worth now in the token of a refund. */
export interface AmountNow {
  readonly kind: 'ok';
  /** Never worth more than the amount. */
  readonly units: bigint;
  readonly decimals: number;
  /** One whole unit in the currency, scaled by 10^8. */
  readonly rate: bigint;
  /** When the market had this rate. */
  readonly at: number;
  /** Until when a refund of these units may be confirmed. */
  readonly until: number;
}

/**
 * An amount at the market's rate of now, without the merchant's spread, for a refund that is to give back as much as
 * the amount buys today. `no_rate` without a fresh price: nothing is guessed.
 */
export function amountNow(
  app: Pick<App, 'railFor' | 'clock'>,
  { mode, currency }: { readonly mode: Mode; readonly currency: Fiat },
  token: { readonly asset: string; readonly network: string },
  amountMinor: bigint,
): AmountNow | { readonly kind: 'no_rate'; readonly message: string } | RefundRefusal {
  const { asset, network } = token;
  const known = isAssetCode(asset) && isNetwork(network) ? tokenOf(asset, network) : null;
  if (known === null) {
    const message = `asset: there is no ${asset} on ${network}.`;
    return { kind: 'refused', param: 'crypto_currency', message };
  }
  const { rates } = app.railFor(mode);
  const prices = freshPrices(rates, known.asset, currency);
  if (prices.kind !== 'ok') return prices;
  const rate = rateIn(prices.fiatPrice, prices.assetPrice);
  if (rate === 0n) return { kind: 'no_rate', message: `The price of ${asset} is too small for ${currency}.` };
  const now = app.clock();
  const times = [known.asset, currency].map((code) => rates.pricedAt?.(code) ?? now);
  return {
    kind: 'ok',
    units: unitsAtRate(amountMinor, currency, rate, known.decimals),
    decimals: known.decimals,
    rate,
    at: Math.min(now, ...times),
    until: now + RATE_COUNTS_MS,
  };
}

/** Refuses an amount of coins whose rate counts no longer; null: it counts, or no rate was used. */
export function oldRateRefusal(until: number | null, now: number): RefundRefusal | null {
  if (until === null || (now <= until && until <= now + RATE_COUNTS_MS)) return null;
  if (until > now) {
    const message = 'rate_until is later than any rate of now counts. Check the amount at the rate of now.';
    return { kind: 'refused', param: 'crypto_amount', message };
  }
  const message = 'The rate of crypto_amount is more than a minute old. Check the amount at the rate of now.';
  return { kind: 'refused', param: 'crypto_amount', message };
}
