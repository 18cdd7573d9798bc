import { readFileSync } from 'node:fs';
import solc from 'solc';
import { encodeFunctionData, getAddress, parseAbi } from 'viem';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ANVIL_ACCOUNT, startAnvil, type Anvil } from '../../test/anvil.ts';
import { createChainlinkSource, ETHEREUM_FEEDS, ETHEREUM_FEEDS_CHAIN_ID } from './chainlink.ts';
import { createLiveRates } from './live.ts';
import type { PriceSource, SourceAnswer } from './source.ts';
import { NO_REPORTS } from '../domain/problems.ts';

const ABI = parseAbi([
  'function setDecimals(uint8 newDecimals)',
  'function setRound(uint80 newRoundId, int256 newAnswer, uint256 newUpdatedAt, uint80 newAnsweredInRound)',
]);
const UPDATED_AT_SECONDS = 1_800_000_000n;
const MINUTE_MS = 60_000;

let anvil: Anvil;
let code: string;

beforeAll(async () => {
  code = compileAggregator();
  anvil = await startAnvil({ chainId: ETHEREUM_FEEDS_CHAIN_ID });
});

afterAll(() => anvil.stop());

function compileAggregator(): string {
  const content = readFileSync(new URL('../../test/contracts/Aggregator.sol', import.meta.url), 'utf8');
  const input = {
    language: 'Solidity',
    sources: { 'Aggregator.sol': { content } },
    settings: { outputSelection: { '*': { '*': ['evm.deployedBytecode.object'] } } },
  };
  const output: unknown = JSON.parse(solc.compile(JSON.stringify(input)));
  const object = /"object":"([0-9a-f]+)"/.exec(JSON.stringify(output))?.[1];
  if (object === undefined) throw new Error(`Aggregator.sol does not compile: ${JSON.stringify(output)}`);
  return `0x${object}`;
}

function addressOf(code: string): string {
  const feed = ETHEREUM_FEEDS.find((each) => each.code === code);
  if (feed === undefined) throw new Error(`there is no feed for ${code}`);
  return feed.address;
}

async function send(to: string, data: string): Promise<void> {
  await anvil.rpc('eth_sendTransaction', [{ from: ANVIL_ACCOUNT, to, data }]);
  // The answer comes before the block that the transaction is in.
  await anvil.mine(1);
}

/** Puts a feed where the real one is on the main network. */
async function report(
  asset: string,
  answer: bigint,
  round: { roundId?: bigint; answeredInRound?: bigint; updatedAtSeconds?: bigint; decimals?: number } = {},
): Promise<void> {
  const { roundId = 7n, answeredInRound = 7n, updatedAtSeconds = UPDATED_AT_SECONDS, decimals = 8 } = round;
  const address = addressOf(asset);
  await anvil.rpc('anvil_setCode', [address, code]);
  await send(address, encodeFunctionData({ abi: ABI, functionName: 'setDecimals', args: [decimals] }));
  const args = [roundId, answer, updatedAtSeconds, answeredInRound] as const;
  await send(address, encodeFunctionData({ abi: ABI, functionName: 'setRound', args }));
}

function sourceOn(...assets: readonly string[]): PriceSource {
  const feeds = ETHEREUM_FEEDS.filter((feed) => assets.includes(feed.code));
  return createChainlinkSource({
    call: async (to, data) => String(await anvil.rpc('eth_call', [{ to, data }, 'latest'])),
    feeds,
  });
}

function read(...assets: readonly string[]): Promise<SourceAnswer> {
  return sourceOn(...assets).read(new AbortController().signal);
}

it('reads the price of a feed with the time it was written and the heartbeat it is written at', async () => {
  await report('BTC', 6_012_345_678_901n);
  await expect(read('BTC')).resolves.toEqual({
    prices: [
      {
        code: 'BTC',
        price: 6_012_345_678_901n,
        unit: 'USD',
        at: Number(UPDATED_AT_SECONDS) * 1000,
        referenceForMs: 65 * MINUTE_MS,
      },
    ],
    problem: null,
  });
});

it('heeds the decimals of the feed', async () => {
  await report('ETH', 3_000_123_456_789_012_345_678n, { decimals: 18 });
  const { prices } = await read('ETH');
  expect(prices[0]?.price).toBe(300_012_345_679n);
});

it.each([
  ['zero', 0n, {}, 'the answer is not above 0'],
  ['negative', -1n, {}, 'the answer is not above 0'],
  ['of a round that is not complete', 100_000_000n, { updatedAtSeconds: 0n }, 'the round is not complete'],
  ['carried over from an earlier round', 100_000_000n, { answeredInRound: 6n }, 'carried over'],
])('refuses an answer that is %s', async (_what, answer, round, message) => {
  await report('USDC', answer, round);
  await expect(read('USDC')).rejects.toThrow(
    `USDC: ${message === 'carried over' ? 'the answer is carried over' : message}`,
  );
});

it('uses the other feeds if one is missing, and says which', async () => {
  await report('EUR', 110_000_000n);
  const { prices, problem } = await read('EUR', 'GBP');
  expect(prices.map(({ code }) => code)).toEqual(['EUR']);
  expect(problem).toBe('GBP: there is no feed at its address');
});

it('fails on a chain that has none of the feeds', async () => {
  await expect(read('CHF', 'JPY')).rejects.toThrow('CHF: there is no feed at its address');
});

it('confirms a single market within the heartbeat, and not after', async () => {
  await report('LTC', 8_000_000_000n);
  const exchange: PriceSource = {
    name: 'exchange',
    everyMs: 0,
    read: async () => ({
      prices: [{ code: 'LTC', price: 8_010_000_000n, unit: 'USD', at: null, referenceForMs: null }],
      problem: null,
    }),
  };
  let now = Number(UPDATED_AT_SECONDS) * 1000 + 65 * MINUTE_MS;
  const limits = { maxAgeMs: 2 * MINUTE_MS, timeoutMs: 5_000, backOffMs: 20_000 };
  const rates = createLiveRates({
    sources: [exchange, sourceOn('LTC')],
    clock: () => now,
    problems: NO_REPORTS,
    ...limits,
  });
  await rates.refresh();
  expect(rates.usdPrice('LTC')).toBe(8_010_000_000n);
  now += 1;
  expect(rates.usdPrice('LTC')).toBeNull();
});

it('names every feed by an address whose checksum is right', () => {
  for (const { address } of ETHEREUM_FEEDS) expect(getAddress(address.toLowerCase())).toBe(address);
});
