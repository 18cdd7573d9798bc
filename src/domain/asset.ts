import { divCeil, divHalfUp, pow10, fiatDecimals, type Fiat } from './money.ts';

/** The chains that payments are made on. */
export const NETWORKS = ['bitcoin', 'ethereum', 'litecoin', 'polygon', 'base', 'arbitrum', 'bsc'] as const;
export type Network = (typeof NETWORKS)[number];

/** The assets that payments are made in, the most popular first. */
export const ASSET_CODES = ['BTC', 'ETH', 'USDT', 'USDC', 'LTC'] as const;
export type AssetCode = (typeof ASSET_CODES)[number];

export interface Asset {
  readonly code: AssetCode;
  readonly name: string;
  /** Decimals of one unit on each network; the first network is the default. */
  readonly networks: ReadonlyMap<Network, { readonly decimals: number; readonly dustUnits: bigint }>;
}

/** Below these, a payment cannot be spent economically: Bitcoin Core's P2PKH dust limit and its siblings. */
const BITCOIN_DUST = 546n;
const LITECOIN_DUST = 5_460n;

function token(decimals: number): { decimals: number; dustUnits: bigint } {
  return { decimals, dustUnits: pow10(decimals - 2) };
}
const ether = { decimals: 18, dustUnits: pow10(10) };

/** Every asset by its code. Binance's USDT and USDC have 18 decimals, all others 6. */
export const ASSETS: Readonly<Record<AssetCode, Asset>> = {
  BTC: { code: 'BTC', name: 'Bitcoin', networks: new Map([['bitcoin', { decimals: 8, dustUnits: BITCOIN_DUST }]]) },
  ETH: {
    code: 'ETH',
    name: 'Ether',
    networks: new Map([
      ['ethereum', ether],
      ['base', ether],
      ['arbitrum', ether],
    ]),
  },
  USDT: {
    code: 'USDT',
    name: 'Tether USD',
    networks: new Map([
      ['ethereum', token(6)],
      ['polygon', token(6)],
      ['arbitrum', token(6)],
      ['bsc', token(18)],
    ]),
  },
  USDC: {
    code: 'USDC',
    name: 'USD Coin',
    networks: new Map([
      ['ethereum', token(6)],
      ['polygon', token(6)],
      ['base', token(6)],
      ['arbitrum', token(6)],
      ['bsc', token(18)],
    ]),
  },
  LTC: { code: 'LTC', name: 'Litecoin', networks: new Map([['litecoin', { decimals: 8, dustUnits: LITECOIN_DUST }]]) },
};

export function isAssetCode(code: string): code is AssetCode {
  return Object.hasOwn(ASSETS, code);
}

export function isNetwork(name: string): name is Network {
  return (NETWORKS as readonly string[]).includes(name);
}

/** An asset on one network: what a quote is made in. */
export interface Token {
  readonly asset: AssetCode;
  readonly network: Network;
  readonly decimals: number;
  readonly dustUnits: bigint;
}

/** The token of `asset` on `network`, or on the asset's default network; null where the asset does not live there. */
export function tokenOf(asset: AssetCode, network?: Network): Token | null {
  const networks = ASSETS[asset].networks;
  const chosen = network ?? [...networks.keys()][0];
  const facts = chosen && networks.get(chosen);
  return chosen && facts ? { asset, network: chosen, ...facts } : null;
}

/** Every token there is, popular assets first, each asset's default network first. */
export function allTokens(): readonly Token[] {
  return ASSET_CODES.flatMap((asset) =>
    [...ASSETS[asset].networks].map(([network, facts]) => ({ asset, network, ...facts })),
  );
}

/** Decimals that people are shown and asked to pay at most: 8. */
export function shownDecimals(decimals: number): number {
  return Math.min(decimals, 8);
}

/** A price in USD, scaled by 10^8: `6_000_000_000_000n` is 60,000 USD for one whole unit. */
export type UsdPriceE8 = bigint;

/**
 * What is owed, in the token's smallest units, for a fiat amount: rounded up to `shownDecimals`, so that the number that
 * is shown, watched for and serialised is exactly the number owed. Both prices are USD per one whole unit.
 */
export function quoteUnits(
  amountMinor: bigint,
  currency: Fiat,
  fiatPrice: UsdPriceE8,
  assetPrice: UsdPriceE8,
  decimals: number,
): bigint {
  const shown = shownDecimals(decimals);
  const owed = divCeil(amountMinor * fiatPrice * pow10(shown), assetPrice * pow10(fiatDecimals(currency)));
  return owed * pow10(decimals - shown);
}

/** What so many of a token's smallest units are worth in a currency's smallest units, to the nearest. Prices as above. */
export function fiatValue(
  units: bigint,
  decimals: number,
  assetPrice: UsdPriceE8,
  currency: Fiat,
  fiatPrice: UsdPriceE8,
): bigint {
  return divHalfUp(units * assetPrice * pow10(fiatDecimals(currency)), fiatPrice * pow10(decimals));
}

/** The amount in US cents at the given price of its currency, to the nearest cent. */
export function usdCents(amountMinor: bigint, currency: Fiat, fiatPrice: UsdPriceE8): bigint {
  return divHalfUp(amountMinor * fiatPrice * 100n, pow10(fiatDecimals(currency) + 8));
}
