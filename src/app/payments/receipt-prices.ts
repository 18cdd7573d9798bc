import { fiatDecimals, FIATS } from '../../domain/money.ts';
import type { Rail } from '../../modes/rail.ts';
import type { PricesOfMoment } from '../../store/payments/transfers.ts';

/**
 * What came longer ago, by its block or by when it was found, was worth another price: a service that catches up does
 * not value it at today's. Blocks are dated up to an hour wrong.
 */
export const MAX_RECEIPT_AGE_MS = 60 * 60_000;

/** The market's prices now, at which money that arrives is valued; from memory. */
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
