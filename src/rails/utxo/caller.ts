import type { SendOutcome } from '../chain.ts';
import { NodeError, type RpcResult } from '../rpc/node.ts';
import { decodeObject, MalformedAnswerError } from '../rpc/decode.ts';
import { createUtxoPool, decodeHeight, type UtxoPoolOptions } from './pool.ts';
import { rawTransactions, type LocatedTransaction } from './raw-transactions.ts';
import { sendTransaction } from './send-transaction.ts';

/** One output of a transaction, as nodes identify it. */
export interface Outpoint {
  readonly txid: string;
  readonly vout: number;
}

/** An output that can be spent, now or later. */
export interface UnspentOutput {
  /** 0 while its transaction is in the mempool. */
  readonly confirmations: number;
  /** Whether it is a miner's reward. */
  readonly coinbase: boolean;
}

/** Queries the current state of a chain of the UTXO family without following it. */
export interface UtxoCaller {
  /**
   * These outputs in their order, null if spent. A spending transaction in the mempool counts, unless `inBlocks`
   * restricts the answer to blocks.
   */
  readonly unspent: (
    outpoints: readonly Outpoint[],
    options?: { readonly inBlocks: boolean },
  ) => Promise<readonly (UnspentOutput | null)[]>;
  /**
   * The fee per 1,000 virtual bytes that gets a transaction mined within six blocks, in the smallest units; at least
   * what the node's mempool accepts.
   */
  readonly feeUnitsPerKvb: () => Promise<bigint>;
  /** Transactions in hex, in their order; null if no node has the transaction's block any more. */
  readonly rawTransactions: (wanted: readonly LocatedTransaction[]) => Promise<readonly (string | null)[]>;
  /** Hands a signed transaction, in hex, to a node, which relays it. */
  readonly send: (hex: string) => Promise<SendOutcome>;
  /** The height of the newest block. */
  readonly height: () => Promise<number>;
  readonly close: () => Promise<void>;
}

const TARGET_BLOCKS = 6;
/**
 * Ten times the minimum that nodes relay, 1 satoshi per byte: used when the node has seen too little for an estimate.
 */
const FALLBACK_UNITS_PER_KVB = 10_000n;
/** Litecoin's supply in coins, four times Bitcoin's: no rate can be higher. */
const MAX_COINS = 84_000_000;

/** Throws RangeError if a URL is not usable; its methods throw `ChainUnavailableError` if no node answers. */
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
    send: (hex) => sendTransaction(pool, hex),
    rawTransactions: (wanted) => rawTransactions(pool, wanted),
    height: () => pool.ask('getblockcount', [], (answer) => decodeHeight(answer, 'the newest height')),
    close: pool.close,
  };
}

/** The result of a call in a batch; its error counts as the node's fault. */
function valueOf(result: RpcResult | undefined): unknown {
  if (result === undefined) throw new MalformedAnswerError('the batch', 'as long as the request');
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

/** A rate in whole coins; null if the node states none, for example because it has seen too few blocks. */
function decodeRate(answer: unknown, name: string): bigint | null {
  const rate = decodeObject(answer, 'the fee rate')[name];
  if (rate === undefined) return null;
  if (typeof rate !== 'number' || !(rate >= 0 && rate <= MAX_COINS)) {
    throw new MalformedAnswerError(name, 'a rate in coins');
  }
  return BigInt(Math.round(rate * 1e8));
}
