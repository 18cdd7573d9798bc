import type { AssetCode } from '../domain/asset-code.ts';
import { pow10, divHalfUp, type Fiat } from '../domain/money.ts';
import type { PriceSource, SourcePrice } from './source.ts';

/** A price feed: USD for one unit, in a contract that a network of nodes writes to. */
export interface ChainlinkFeed {
  readonly code: AssetCode | Fiat;
  readonly address: string;
  /** The feed is written at least this often, and whenever the price has moved by its deviation threshold. */
  readonly heartbeatMs: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Feeds on Ethereum's main network: https://docs.chain.link/data-feeds/price-feeds/addresses */
export const ETHEREUM_FEEDS: readonly ChainlinkFeed[] = [
  { code: 'BTC', address: '0xF4030086522a5bEEa4988F8cA5B36dbC97BeE88c', heartbeatMs: HOUR_MS },
  { code: 'ETH', address: '0x5f4eC3Df9cbd43714FE2740f5E3616155c5b8419', heartbeatMs: HOUR_MS },
  { code: 'LTC', address: '0x6AF09DF7563C363B5763b9102712EbeD3b9e859B', heartbeatMs: HOUR_MS },
  { code: 'USDC', address: '0x8fFfFfd4AfB6115b954Bd326cbe7B4BA576818f6', heartbeatMs: DAY_MS },
  { code: 'USDT', address: '0x3E7d1eAB13ad0104d2750B8863b489D65364e32D', heartbeatMs: DAY_MS },
  { code: 'EUR', address: '0xb49f677943BC038e9857d61E7d053CaA2C1734C1', heartbeatMs: DAY_MS },
  { code: 'GBP', address: '0x5c0Ab2d9b5a7ed9f470386e82BB36A3613cDd4b5', heartbeatMs: DAY_MS },
  { code: 'CHF', address: '0x449d117117838fFA61263B61dA6301AA2a88B13A', heartbeatMs: DAY_MS },
  { code: 'JPY', address: '0xBcE206caE7f0ec07b545EddE332A47C2F75bbeb3', heartbeatMs: DAY_MS },
  { code: 'AUD', address: '0x77F9710E7d0A19669A13c055F62cd80d313dF022', heartbeatMs: DAY_MS },
  { code: 'CAD', address: '0xa34317DB73e77d453b1B8d04550c44D10e981C8e', heartbeatMs: DAY_MS },
];

/** The chain of `ETHEREUM_FEEDS`; on other chains their addresses have no meaning. */
export const ETHEREUM_FEEDS_CHAIN_ID = 1;

/** Feeds change about once an hour; they are polled every minute, so as not to use up a hosted node's limits. */
const EVERY_MS = 60_000;

/** "There may be a slight delay for the latest round to get onchain" after the heartbeat, say the feeds' documents. */
const HEARTBEAT_GRACE_MS = 5 * 60_000;

/** The first four bytes of the Keccak-256 of `latestRoundData()` and `decimals()`. */
const LATEST_ROUND_DATA = '0xfeaf968c';
const DECIMALS = '0x313ce567';

export interface ChainlinkOptions {
  /** `eth_call` on the latest block of the feeds' chain: the returned bytes as 0x hex. */
  readonly call: (to: string, data: string) => Promise<string>;
  readonly feeds: readonly ChainlinkFeed[];
}

/**
 * Feeds read from an EVM node. They are references: within its heartbeat and threshold a feed may be behind the market.
 * A feed that fails does not affect the others.
 */
export function createChainlinkSource({ call, feeds }: ChainlinkOptions): PriceSource {
  const decimals = new Map<string, number>();

  async function read(feed: ChainlinkFeed): Promise<SourcePrice> {
    const scale = decimals.get(feed.address) ?? decodeDecimals(await call(feed.address, DECIMALS));
    decimals.set(feed.address, scale);
    const round = decodeRound(await call(feed.address, LATEST_ROUND_DATA));
    const price = divHalfUp(round.answer * pow10(8), pow10(scale));
    if (price === 0n) throw new Error('the price is 0');
    const { code, heartbeatMs } = feed;
    return { code, price, unit: 'USD', at: round.updatedAt, referenceForMs: heartbeatMs + HEARTBEAT_GRACE_MS };
  }

  return {
    name: 'chainlink',
    everyMs: EVERY_MS,
    read: async () => {
      const prices: SourcePrice[] = [];
      const problems: string[] = [];
      const results = await Promise.allSettled(feeds.map(read));
      for (const [index, result] of results.entries()) {
        if (result.status === 'fulfilled') prices.push(result.value);
        else problems.push(`${feeds[index]?.code}: ${messageOf(result.reason)}`);
      }
      const problem = problems.length === 0 ? null : problems.join('; ');
      if (prices.length === 0) throw new Error(problem ?? 'there are no feeds');
      return { prices, problem };
    },
  };
}

/** The relevant part of the result of `latestRoundData()`. Throws if a consumer must not use it. */
function decodeRound(bytes: string): { readonly answer: bigint; readonly updatedAt: number } {
  const [roundId, answer, , updatedAtSeconds, answeredInRound] = words(bytes, 5);
  if (
    roundId === undefined ||
    answer === undefined ||
    updatedAtSeconds === undefined ||
    answeredInRound === undefined
  ) {
    throw new Error('there is no feed at its address');
  }
  if (BigInt.asIntN(256, answer) <= 0n) throw new Error('the answer is not above 0');
  if (updatedAtSeconds === 0n) throw new Error('the round is not complete');
  if (answeredInRound < roundId) throw new Error('the answer is carried over from an earlier round');
  return { answer, updatedAt: Number(updatedAtSeconds) * 1000 };
}

function decodeDecimals(bytes: string): number {
  const [decimals] = words(bytes, 1);
  if (decimals === undefined) throw new Error('there is no feed at its address');
  if (decimals > 36n) throw new Error('it has more than 36 decimals');
  return Number(decimals);
}

/**
 * The 32-byte words of ABI-encoded bytes; empty if there are not `count` words. An address without code returns `0x`.
 */
function words(bytes: string, count: number): readonly bigint[] {
  if (!new RegExp(`^0x[0-9a-f]{${count * 64}}$`, 'i').test(bytes)) return [];
  return Array.from({ length: count }, (_, index) => BigInt(`0x${bytes.slice(2 + index * 64, 66 + index * 64)}`));
}

function messageOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : 'failed';
}
