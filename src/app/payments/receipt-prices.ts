import { fiatDecimals, FIATS } from '../../domain/money.ts';
import type { Rail } from '../../modes/rail.ts';
import type { PricesOfMoment } from '../../store/payments/transfers.ts';

/**
 * Money older than this, by its block or by when it was found, is not valued at today's price: the price was different
 * when it came, for instance before a service caught up. Block timestamps may be wrong by up to an hour.
 */
export const MAX_RECEIPT_AGE_MS = 60 * 60_000;

/** The present market prices, from memory, at which arriving money is valued. */
export function receiptPrices({ rates, seenTokens }: Pick<Rail, 'rates' | 'seenTokens'>, now: number): PricesOfMoment {
  return {
    tokens: seenTokens.flatMap(({ asset, network, decimals }) => {
      const price = rates.usdPrice(asset);
      return price === null ? [] : [{ asset, network, decimals, price }];
    }),
    currencies: FIATS.flatMap((currency) => {
      const price = rates.usdPrice(currency);
      return price === null ? [] : [{ currency, decimals: fiatDecimals(currency), price }];
    }),
    since: now - MAX_RECEIPT_AGE_MS,
  };
}
