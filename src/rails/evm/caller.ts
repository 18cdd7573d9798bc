import { decodeBytes, decodeQuantity, encodeNumber, resultOf } from './decode.ts';
import { createEvmPool, type EvmPoolOptions } from './pool.ts';
import { balanceCall, createEvmReader, type EvmReader } from './reader.ts';

/** A balance of an address: in a token, or (null) in the chain's own coin; in the smallest unit. */
export interface Holding {
  readonly token: string | null;
  readonly units: bigint;
}

/** Queries a chain without following it. */
export interface EvmCaller extends EvmReader {
  /** The result of a contract call: `0x` and hex. */
  readonly call: (to: string, data: string) => Promise<string>;
  /**
   * The balance of each address in the coin and in these tokens, in the order of the addresses, zero included. After
   * the block of this height, by default the newest.
   */
  readonly holdings: (
    addresses: readonly string[],
    tokens: readonly string[],
    height?: number,
  ) => Promise<readonly (readonly Holding[])[]>;
  readonly hasCode: (address: string) => Promise<boolean>;
  /** The price of one unit of gas in wei. */
  readonly gasPrice: () => Promise<bigint>;
  readonly close: () => Promise<void>;
}

const ADDRESSES_PER_BATCH = 50;

/** Throws RangeError if a URL is not usable; its methods throw `ChainUnavailableError` if no node answers. */
export function createEvmCaller(options: EvmPoolOptions): EvmCaller {
  const pool = createEvmPool(options);

  async function holdingsOf(
    addresses: readonly string[],
    tokens: readonly string[],
    height: number | undefined,
  ): Promise<readonly Holding[][]> {
    const block = height === undefined ? 'latest' : encodeNumber(height);
    const kinds = [null, ...tokens];
    const calls = addresses.flatMap((address) => kinds.map((token) => balanceCall(address, token, block)));
    return pool.askAll(calls, (results) =>
      addresses.map((_, at) =>
        kinds.map((token, kind) => ({
          token,
          units: decodeQuantity(resultOf(results[at * kinds.length + kind]), 'the balance'),
        })),
      ),
    );
  }

  return {
    call: (to, data) => pool.ask('eth_call', [{ to, data }, 'latest'], (answer) => decodeBytes(answer, 'the result')),
    holdings: async (addresses, tokens, height) => {
      const all: (readonly Holding[])[] = [];
      for (let start = 0; start < addresses.length; start += ADDRESSES_PER_BATCH) {
        all.push(...(await holdingsOf(addresses.slice(start, start + ADDRESSES_PER_BATCH), tokens, height)));
      }
      return all;
    },
    hasCode: (address) =>
      pool.ask('eth_getCode', [address, 'latest'], (answer) => decodeBytes(answer, 'the code') !== '0x'),
    gasPrice: () => pool.ask('eth_gasPrice', [], (answer) => decodeQuantity(answer, 'the gas price')),
    ...createEvmReader(pool),
    close: pool.close,
  };
}
