import { ASSET_CODES, type AssetCode } from '../domain/asset-code.ts';
import { isAssetCode, type UsdPriceE8 } from '../domain/asset.ts';
import { FIATS, formatDecimal, isFiat, parseDecimal, type Fiat } from '../domain/money.ts';
import type { RateSource } from './source.ts';

/** Test mode's prices in USD per unit. They never change, so that a merchant's tests always see the same amounts. */
export const TEST_RATES: Readonly<Record<AssetCode | Fiat, string>> = {
  BTC: '60000',
  ETH: '3000',
  USDT: '1',
  USDC: '1',
  LTC: '80',
  USD: '1',
  EUR: '1.10',
  GBP: '1.30',
  CHF: '1.15',
  CAD: '0.72',
  AUD: '0.65',
  NZD: '0.60',
  JPY: '0.0065',
  SGD: '0.75',
  HKD: '0.128',
  SEK: '0.095',
  NOK: '0.092',
  DKK: '0.147',
  PLN: '0.25',
  BRL: '0.18',
  MXN: '0.052',
  INR: '0.0118',
};

const PRICE_DECIMALS = 8;

/** Fixed prices of an operator or the sandbox. USD itself is always 1. */
export function fixedRates(prices: ReadonlyMap<AssetCode | Fiat, UsdPriceE8>): RateSource {
  return { usdPrice: (code) => (code === 'USD' ? 100_000_000n : (prices.get(code) ?? null)) };
}

/** An operator's fixed prices, and the prices of `otherwise` for all other codes. */
export function fixedOver(prices: ReadonlyMap<AssetCode | Fiat, UsdPriceE8>, otherwise: RateSource): RateSource {
  return {
    usdPrice: (code) => prices.get(code) ?? otherwise.usdPrice(code),
    pricedAt: (code) => (prices.has(code) ? null : (otherwise.pricedAt?.(code) ?? null)),
  };
}

/** The sandbox's prices, see `TEST_RATES`. */
export function testRates(): RateSource {
  const prices = new Map<AssetCode | Fiat, UsdPriceE8>();
  for (const code of [...ASSET_CODES, ...FIATS]) {
    const price = parseDecimal(TEST_RATES[code], PRICE_DECIMALS);
    if (price !== null) prices.set(code, price);
  }
  return fixedRates(prices);
}

/**
 * Parses `ETH=3000,BTC=60000`: USD per unit with at most eight decimals. The message of a refusal names the bad part.
 */
export function parseFixedRates(
  text: string,
):
  | { readonly kind: 'ok'; readonly prices: ReadonlyMap<AssetCode | Fiat, UsdPriceE8> }
  | { readonly kind: 'invalid'; readonly message: string } {
  const prices = new Map<AssetCode | Fiat, UsdPriceE8>();
  for (const part of text.split(',').map((piece) => piece.trim())) {
    if (part === '') continue;
    const [code = '', value = '', ...rest] = part.split('=').map((piece) => piece.trim());
    const upper = code.toUpperCase();
    if (!(isAssetCode(upper) || isFiat(upper)) || rest.length > 0) {
      return {
        kind: 'invalid',
        message: `"${part}" is not CODE=PRICE with a code of ${[...ASSET_CODES, ...FIATS].join(', ')}`,
      };
    }
    const price = parseDecimal(value, PRICE_DECIMALS);
    if (price === null || price === 0n) {
      return {
        kind: 'invalid',
        message: `"${part}" needs a price above 0 in USD per unit, at most ${PRICE_DECIMALS} decimals (smallest ${formatDecimal(1n, PRICE_DECIMALS)})`,
      };
    }
    if (prices.has(upper)) return { kind: 'invalid', message: `"${upper}" is listed twice` };
    prices.set(upper, price);
  }
  return { kind: 'ok', prices };
}
