import type { Config } from '../config/config.ts';
import type { ServiceClock } from '../app/service-clock.ts';
import type { AssetCode } from '../domain/asset-code.ts';
import type { Clock } from '../domain/clock.ts';
import { FIATS, type Fiat } from '../domain/money.ts';
import { nativeAsset } from '../domain/networks.ts';
import { evmFamily } from '../rails/evm/family.ts';
import { createChainlinkSource, ETHEREUM_FEEDS, ETHEREUM_FEEDS_CHAIN_ID } from '../rates/chainlink.ts';
import { fixedOver, fixedRates } from '../rates/fixed.ts';
import { createHttpClient, type OnDate } from '../rates/http.ts';
import { createLiveRates, type LiveRates } from '../rates/live.ts';
import type { PriceSource, RateSource } from '../rates/source.ts';
import { sourceOwner, WEB_SOURCES, webSources } from '../rates/web-sources.ts';
import { startLoop } from '../workers/loop.ts';
import type { Problems } from '../domain/problems.ts';

/** Well below the smallest RATE_MAX_AGE_SECONDS, so that a price stays fresh if one round fails. */
const REFRESH_MS = 20_000;
const SOURCE_TIMEOUT_MS = 5_000;
const BACK_OFF_MS = 20_000;

export interface Prices {
  readonly rates: RateSource;
  /** The age of each needed pair's price, or the time that it has had none. */
  ages(): readonly { readonly pair: string; readonly ageMs: number }[];
  /** Resolves when each source was asked once, and has answered, failed or timed out. */
  readonly asked: Promise<void>;
  stop(): Promise<void>;
}

/**
 * The prices of live mode: fixed ones from the operator, and market prices for the rest, kept fresh in this process. If
 * no network is followed, no market is asked, because nothing is quoted.
 */
export function startPrices(config: Config, problems: Problems, clock: ServiceClock): Prices {
  const market = openMarket(config, problems, {
    clock: clock.now,
    onDate: (host, at, uncertainMs) => clock.note({ source: host, earliest: at, latest: at + uncertainMs, weight: 1 }),
  });
  if (market === null)
    return {
      rates: fixedRates(config.fixedRates),
      ages: () => [],
      asked: Promise.resolve(),
      stop: async () => {},
    };
  const { live } = market;
  const asked = Promise.withResolvers<void>();
  const loop = startLoop({
    name: 'prices',
    restMs: REFRESH_MS,
    problems,
    work: async () => {
      await live.refresh();
      asked.resolve();
      return false;
    },
  });
  return {
    rates: fixedOver(config.fixedRates, live),
    ages: priceAges(live, neededAssets(config), clock.now),
    asked: asked.promise,
    stop: async () => {
      live.close();
      await loop.stop();
      await market.close();
    },
  };
}

/** Asks once for the prices of this moment: fixed ones from the operator, and market prices for the rest. */
export async function pricesNow(config: Config, problems: Problems): Promise<RateSource> {
  const market = openMarket(config, problems, { clock: Date.now });
  if (market === null) return fixedRates(config.fixedRates);
  try {
    await market.live.refresh();
    return fixedOver(config.fixedRates, market.live);
  } finally {
    market.live.close();
    await market.close();
  }
}

/** Opens the market without asking any source yet; null: there is no source to ask. */
function openMarket(
  config: Config,
  problems: Problems,
  { clock, onDate }: { readonly clock: Clock; readonly onDate?: OnDate },
): { readonly live: LiveRates; readonly close: () => Promise<void> } | null {
  if (config.networks.length === 0 || config.rateSources.length === 0) return null;
  const http = createHttpClient(onDate === undefined ? {} : { onDate });
  const chainlink = chainlinkSource(config, problems);
  const wanted = WEB_SOURCES.filter(({ name }) => config.rateSources.includes(sourceOwner(name)));
  const live = createLiveRates({
    sources: [...webSources(wanted, http.fetchText), ...(chainlink === null ? [] : [chainlink.source])],
    clock,
    maxAgeMs: config.rateMaxAgeMs,
    timeoutMs: SOURCE_TIMEOUT_MS,
    backOffMs: BACK_OFF_MS,
    problems,
  });
  return { live, close: async () => void (await Promise.all([http.close(), chainlink?.close()])) };
}

/** The assets that can be paid here and have no fixed price. */
function neededAssets({ networks, fixedRates: fixed }: Config): readonly AssetCode[] {
  const assets = networks.flatMap((one): readonly (AssetCode | null)[] => [
    nativeAsset(one.network),
    ...(one.family === 'evm' ? one.tokens.keys() : []),
  ]);
  return [...new Set(assets.filter((asset) => asset !== null))].filter((asset) => !fixed.has(asset));
}

/**
 * Reports a needed pair from the start, and a fiat currency only once it has had a price, because few shops need all of
 * them.
 */
function priceAges(live: LiveRates, needed: readonly AssetCode[], clock: () => number): Prices['ages'] {
  const startedAt = clock();
  const pricedAt = new Map<AssetCode | Fiat, number>(needed.map((asset) => [asset, startedAt]));
  return () => {
    for (const code of [...needed, ...FIATS]) {
      const at = code === 'USD' ? null : live.pricedAt(code);
      if (at !== null) pricedAt.set(code, at);
    }
    return [...pricedAt].map(([code, at]) => ({ pair: `${code}-USD`, ageMs: Math.max(0, clock() - at) }));
  };
}

/** Reads Chainlink's feeds, contracts on Ethereum's main chain, through the operator's node; null: not configured. */
function chainlinkSource(
  config: Config,
  problems: Problems,
): { readonly source: PriceSource; readonly close: () => Promise<void> } | null {
  const ethereum = config.networks.find((one) => one.family === 'evm' && one.chainId === ETHEREUM_FEEDS_CHAIN_ID);
  if (ethereum?.family !== 'evm' || !config.rateSources.includes('chainlink')) return null;
  const caller = evmFamily.createCaller(ethereum, { timeoutMs: SOURCE_TIMEOUT_MS, problems });
  return { source: createChainlinkSource({ call: caller.call, feeds: ETHEREUM_FEEDS }), close: caller.close };
}
