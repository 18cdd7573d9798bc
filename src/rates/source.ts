import type { AssetCode, UsdPriceE8 } from '../domain/asset.ts';
import type { Fiat } from '../domain/money.ts';

/** Prices, kept in memory and refreshed in the background: asking for one never waits. */
export interface RateSource {
  /** USD for one whole unit of an asset or a fiat currency, scaled by 10^8; null when there is no fresh price. */
  usdPrice(code: AssetCode | Fiat): UsdPriceE8 | null;
}
