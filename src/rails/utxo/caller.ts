import { NodeError, type RpcResult } from '../rpc/node.ts';
import { decodeObject, MalformedAnswerError } from '../rpc/decode.ts';
import { createUtxoPool, decodeHeight, type UtxoPoolOptions } from './pool.ts';
import { rawTransactions, type LocatedTransaction } from './raw-transactions.ts';

/** One output of a transaction, as nodes write it. */
export interface Outpoint {
  readonly txid: string;
  readonly vout: number;
}

/** An output that can be spent, or will be. */
export interface UnspentOutput {
  /** 0: its transaction waits in the mempool. */
  readonly confirmations: number;
  /** A miner's reward. */
  readonly coinbase: boolean;
}

/** Asks a chain of Bitcoin's family how things are now, without following it. */
export interface UtxoCaller {
  /**
   * These outputs in their order, null where one is spent. What waits in the mempool counts as spent already, unless
   * `inBlocks` asks for what blocks alone say.
   */
  readonly unspent: (
    outpoints: readonly Outpoint[],
    options?: { readonly inBlocks: boolean },
  ) => Promise<readonly (UnspentOutput | null)[]>;
  /**
   * What a transaction should pay per 1,000 virtual bytes to be mined within six blocks, in the smallest units; never
   * less than the node's mempool takes.
   */
  readonly feeUnitsPerKvb: () => Promise<bigint>;
  /** Transactions in hex, in their order; null where no node has the block of one any more. */
  readonly rawTransactions: (wanted: readonly LocatedTransaction[]) => Promise<readonly (string | null)[]>;
  /** The height of the newest block. */
  readonly height: () => Promise<number>;
  readonly close: () => Promise<void>;
}

const TARGET_BLOCKS = 6;
/** What nodes pass on at all, 1 satoshi a byte, ten times over: where the node has seen too little to estimate. */
const FALLBACK_UNITS_PER_KVB = 10_000n;
/** Litecoin's supply in coins, four times Bitcoin's: no rate can be more. */
const MAX_COINS = 84_000_000;

/** Throws RangeError when a URL is not usable; its methods throw `ChainUnavailableError` when no node answers. */
export function createUtxoCaller(options: UtxoPoolOptions): UtxoCaller {
  const pool = createUtxoPool(options);
  return {
    unspent: async (outpoints, { inBlocks } = { inBlocks: false }) =>
      outpoints.length === 0
        ? []
        : pool.askAll(
            outpoints.map(({ txid, vout }) => ({ method: 'gettxout', params: [txid, vout, !inBlocks] })),
            (results) => results.map((result) => decodeOutput(valueOf(result))),
          ),
    feeUnitsPerKvb: () =>
      pool.askAll(
        [
          { method: 'estimatesmartfee', params: [TARGET_BLOCKS] },
          { method: 'getmempoolinfo', params: [] },
        ],
        ([estimate, mempool]) => {
          const wanted = decodeRate(valueOf(estimate), 'feerate') ?? FALLBACK_UNITS_PER_KVB;
          const least = decodeRate(valueOf(mempool), 'mempoolminfee') ?? 0n;
          return wanted > least ? wanted : least;
        },
      ),
    rawTransactions: (wanted) => rawTransactions(pool, wanted),
    height: () => pool.ask('getblockcount', [], (answer) => decodeHeight(answer, 'the newest height')),
    close: pool.close,
  };
}

/** What a call of a batch came to; its error is the node's fault. */
function valueOf(result: RpcResult | undefined): unknown {
  if (result === undefined) throw new MalformedAnswerError('the batch', 'as long as what was asked');
  if (result.kind === 'error') throw new NodeError(result.error.message, result.code);
  return result.result;
}

function decodeOutput(answer: unknown): UnspentOutput | null {
  if (answer === null) return null;
  const output = decodeObject(answer, 'the output');
  return {
    confirmations: decodeHeight(output['confirmations'], 'the number of confirmations'),
    coinbase: output['coinbase'] === true,
  };
}

/** A rate in whole coins; null where the node states none, such as without enough blocks to judge by. */
function decodeRate(answer: unknown, name: string): bigint | null {
  const rate = decodeObject(answer, 'what the node says of fees')[name];
  if (rate === undefined) return null;
  if (typeof rate !== 'number' || !(rate >= 0 && rate <= MAX_COINS)) {
    throw new MalformedAnswerError(name, 'a rate in coins');
  }
  return BigInt(Math.round(rate * 1e8));
}
