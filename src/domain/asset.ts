import { divCeil, divHalfUp, pow10, fiatDecimals, type Fiat } from './money.ts';
import { NETWORK_FACTS, NETWORKS, type Network } from './networks.ts';
import { ASSET_CODES, type AssetCode } from './asset-code.ts';

export interface Asset {
  readonly code: AssetCode;
  readonly name: string;
  /** A widely used network whose transfers cannot be received here; null if there is none. */
  readonly foreignNetwork: string | null;
  /** Decimals of one unit on each network. The first network is the default. */
  readonly networks: ReadonlyMap<Network, { readonly decimals: number; readonly dustUnits: bigint }>;
}

const NAMES: Readonly<Record<AssetCode, string>> = {
  BTC: 'Bitcoin',
  ETH: 'Ether',
  USDT: 'Tether USD',
  USDC: 'USD Coin',
  LTC: 'Litecoin',
};

/**
 * The networks that exchanges offer, and often preselect, for withdrawals of an asset, but that cannot be received
 * here.
 */
const FOREIGN_NETWORKS: Readonly<Partial<Record<AssetCode, string>>> = { USDT: 'Tron (TRC-20)', USDC: 'Solana' };

/** Every asset by code, on the networks whose rows name it. */
export const ASSETS = Object.fromEntries(
  ASSET_CODES.map((code): [AssetCode, Asset] => [
    code,
    { code, name: NAMES[code], foreignNetwork: FOREIGN_NETWORKS[code] ?? null, networks: networksWith(code) },
  ]),
) as Readonly<Record<AssetCode, Asset>>;

function networksWith(code: AssetCode): Asset['networks'] {
  return new Map(
    NETWORKS.flatMap((network) => {
      const { coin, tokens } = NETWORK_FACTS[network];
      const token = tokens[code];
      if (coin?.asset === code) return [[network, { decimals: coin.decimals, dustUnits: coin.dustUnits }] as const];
      if (token === undefined) return [];
      // One US cent.
      return [[network, { decimals: token.decimals, dustUnits: pow10(token.decimals - 2) }] as const];
    }),
  );
}

export function isAssetCode(code: string): code is AssetCode {
  return Object.hasOwn(ASSETS, code);
}

/** An asset on one network, the unit of a quote. */
export interface Token {
  readonly asset: AssetCode;
  readonly network: Network;
  readonly decimals: number;
  readonly dustUnits: bigint;
}

/** The network an asset is paid on when nobody names one. */
export function usualNetwork(asset: AssetCode): Network {
  for (const network of ASSETS[asset].networks.keys()) return network;
  throw new Error(`${asset} exists on no network`);
}

/** The token of `asset` on `network`, or on the asset's default network; null if the asset does not exist there. */
export function tokenOf(asset: AssetCode, network: Network = usualNetwork(asset)): Token | null {
  const facts = ASSETS[asset].networks.get(network);
  return facts === undefined ? null : { asset, network, ...facts };
}

/** Every token: popular assets first, and each asset's default network first. */
export function allTokens(): readonly Token[] {
  return ASSET_CODES.flatMap((asset) =>
    [...ASSETS[asset].networks].map(([network, facts]) => ({ asset, network, ...facts })),
  );
}

/** The most decimals that people see and are asked to pay: 8. */
export function shownDecimals(decimals: number): number {
  return Math.min(decimals, 8);
}

/** A price in USD, scaled by 10^8: `6_000_000_000_000n` is 60,000 USD for one whole unit. */
export type UsdPriceE8 = bigint;

/**
 * The amount owed for a fiat amount, in the token's smallest units. Rounded up to `shownDecimals`, so that the number
 * shown, watched for and serialised is exactly the number owed. Both prices are USD per whole unit.
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

/**
 * The worth of `units` (the token's smallest) in the currency's smallest units, rounded to the nearest. Both prices are
 * USD per whole unit.
 */
export function fiatValue(
  units: bigint,
  decimals: number,
  assetPrice: UsdPriceE8,
  currency: Fiat,
  fiatPrice: UsdPriceE8,
): bigint {
  return divHalfUp(units * assetPrice * pow10(fiatDecimals(currency)), fiatPrice * pow10(decimals));
}

/**
 * The price of a whole unit of an asset in a currency, scaled by 10^8 and rounded to the nearest. Both prices are USD
 * per whole unit.
 */
export function rateIn(fiatPrice: UsdPriceE8, assetPrice: UsdPriceE8): bigint {
  return divHalfUp(assetPrice * pow10(8), fiatPrice);
}

/**
 * The units that an amount buys at a rate of {@link rateIn}, above 0, in the token's smallest units. Rounded down to
 * `shownDecimals`, so that they are never worth more than the amount.
 */
export function unitsAtRate(amountMinor: bigint, currency: Fiat, rate: bigint, decimals: number): bigint {
  const shown = shownDecimals(decimals);
  const units = (amountMinor * pow10(shown + 8)) / (rate * pow10(fiatDecimals(currency)));
  return units * pow10(decimals - shown);
}

/** The amount in US cents at the given price of its currency, rounded to the nearest cent. */
export function usdCents(amountMinor: bigint, currency: Fiat, fiatPrice: UsdPriceE8): bigint {
  return divHalfUp(amountMinor * fiatPrice * 100n, pow10(fiatDecimals(currency) + 8));
}

/** A remainder below the dust limit cannot be sent, so the smallest possible amount is asked for instead. */
export function payableRest({ asset, network }: Pick<Token, 'asset' | 'network'>, restUnits: bigint): bigint {
  const dustUnits = tokenOf(asset, network)?.dustUnits ?? 0n;
  return restUnits > dustUnits ? restUnits : dustUnits;
}
