import type { RpcCall } from '../rpc/node.ts';
import { decodeBytes, decodeQuantity, resultOf } from './decode.ts';
import { createEvmPool, type EvmPoolOptions } from './pool.ts';

/** A balance of an address: in a token, or (null) in the chain's own coin; in the smallest unit. */
export interface Holding {
  readonly token: string | null;
  readonly units: bigint;
}

/** Queries the newest block of a chain without following it. */
export interface EvmCaller {
  /** What a contract call returns: `0x` and hex. */
  readonly call: (to: string, data: string) => Promise<string>;
  /** The balance of each address in the coin and in these tokens, in the order of the addresses; none is left out. */
  readonly holdings: (
    addresses: readonly string[],
    tokens: readonly string[],
  ) => Promise<readonly (readonly Holding[])[]>;
  readonly hasCode: (address: string) => Promise<boolean>;
  /** The price of one unit of gas in wei. */
  readonly gasPrice: () => Promise<bigint>;
  readonly close: () => Promise<void>;
}

/** `balanceOf(address)` of ERC-20. */
const BALANCE_OF = '0x70a08231';
const ADDRESSES_PER_BATCH = 50;

/** Throws RangeError if a URL is not usable; its methods throw `ChainUnavailableError` if no node answers. */
export function createEvmCaller(options: EvmPoolOptions): EvmCaller {
  const pool = createEvmPool(options);

  async function holdingsOf(addresses: readonly string[], tokens: readonly string[]): Promise<readonly Holding[][]> {
    const kinds = [null, ...tokens];
    const calls = addresses.flatMap((address) => kinds.map((token) => balanceCall(address, token)));
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
    holdings: async (addresses, tokens) => {
      const all: (readonly Holding[])[] = [];
      for (let start = 0; start < addresses.length; start += ADDRESSES_PER_BATCH) {
        all.push(...(await holdingsOf(addresses.slice(start, start + ADDRESSES_PER_BATCH), tokens)));
      }
      return all;
    },
    hasCode: (address) =>
      pool.ask('eth_getCode', [address, 'latest'], (answer) => decodeBytes(answer, 'the code') !== '0x'),
    gasPrice: () => pool.ask('eth_gasPrice', [], (answer) => decodeQuantity(answer, 'the gas price')),
    close: pool.close,
  };
}

function balanceCall(address: string, token: string | null): RpcCall {
  if (token === null) return { method: 'eth_getBalance', params: [address, 'latest'] };
  const data = BALANCE_OF + address.slice(2).toLowerCase().padStart(64, '0');
  return { method: 'eth_call', params: [{ to: token, data }, 'latest'] };
}
