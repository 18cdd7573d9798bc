import { describe, expect, it } from 'vitest';
import { tokenOf } from '../../domain/asset.ts';
import type { AssetCode } from '../../domain/asset-code.ts';
import type { Network } from '../../domain/networks.ts';
import { fixedRates } from '../../rates/fixed.ts';
import { priceToken } from './quote-payment.ts';

const PRICES = [
  ['EUR', 110_000_000n],
  ['BTC', 10_000_000_000_000n],
] as const;

function token(asset: AssetCode, network: Network) {
  const found = tokenOf(asset, network);
  if (found === null) throw new Error(`There is no ${asset} on ${network}.`);
  return found;
}
const BITCOIN = token('BTC', 'bitcoin');

describe('the amount owed in a token', () => {
  it('goes by both prices: what the fiat amount is worth, and what the token is', () => {
    // 100 EUR are 110 USD, and a bitcoin costs 100,000.
    expect(priceToken(fixedRates(new Map(PRICES)), BITCOIN, 10_000n, 'EUR')).toEqual({
      kind: 'ok',
      owedUnits: 110_000n,
    });
  });

  it.each([
    ['EUR', 'the currency'],
    ['BTC', 'the token'],
  ] as const)('is none without a fresh price of %s, %s, and the refusal names it', (missing, _what) => {
    const prices = fixedRates(new Map(PRICES.filter(([code]) => code !== missing)));
    expect(priceToken(prices, BITCOIN, 10_000n, 'EUR')).toEqual({
      kind: 'no_rate',
      message: `No current ${missing} price is available. Try again shortly.`,
    });
  });

  it('is refused below what can be spent, and taken from there on', () => {
    const rates = fixedRates(
      new Map([
        ['USD', 100_000_000n],
        ['BTC', 100_000_000_000_000n],
      ]),
    );
    // A cent is one satoshi at a million dollars.
    expect(BITCOIN.dustUnits).toBe(546n);
    expect(priceToken(rates, BITCOIN, 546n, 'USD')).toEqual({ kind: 'ok', owedUnits: 546n });
    expect(priceToken(rates, BITCOIN, 545n, 'USD')).toMatchObject({
      kind: 'refused',
      param: 'amount',
      message:
        'amount is too small to be paid in BTC. It comes to 0.00000545 BTC, but the smallest amount that can be spent is 0.00000546 BTC.',
    });
  });
});
