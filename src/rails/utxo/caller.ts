import { NodeError } from '../rpc/node.ts';
import { decodeObject, MalformedAnswerError } from '../rpc/decode.ts';
import type { RpcPool } from '../rpc/pool.ts';
import { createUtxoPool, type UtxoPoolOptions } from './pool.ts';

/** One output of a transaction, as nodes write it. */
export interface Outpoint {
  readonly txid: string;
  readonly vout: number;
}

/** Asks a chain of Bitcoin's family how things are now, without following it. */
export interface UtxoCaller {
  /** Which of these outputs are unspent, in their order; what waits in the mempool counts as spent already. */
  readonly unspent: (outpoints: readonly Outpoint[]) => Promise<readonly boolean[]>;
  /** What a transaction should pay per 1,000 virtual bytes to be mined within six blocks, in the smallest units. */
  readonly feeUnitsPerKvb: () => Promise<bigint>;
  /** A transaction in hex; null where the node no longer has its block. */
  readonly rawTransaction: (txid: string, blockHash: string) => Promise<string | null>;
  readonly close: () => Promise<void>;
}

/** Error code of Bitcoin Core (`rpc/protocol.h`). */
const NOT_FOUND = -5;
const TARGET_BLOCKS = 6;
/** What nodes pass on at all, 1 satoshi a byte, ten times over: where the node has seen too little to estimate. */
const FALLBACK_UNITS_PER_KVB = 10_000n;

/** Throws RangeError when a URL is not usable; its methods throw `ChainUnavailableError` when no node answers. */
export function createUtxoCaller(options: UtxoPoolOptions): UtxoCaller {
  const pool = createUtxoPool(options);
  return {
    unspent: (outpoints) =>
      pool.askAll(
        outpoints.map(({ txid, vout }) => ({ method: 'gettxout', params: [txid, vout, true] })),
        (results) =>
          results.map((result) => {
            if (result.kind === 'error') throw new NodeError(result.error.message, result.code);
            return result.result !== null;
          }),
      ),
    feeUnitsPerKvb: () => pool.ask('estimatesmartfee', [TARGET_BLOCKS], decodeFee),
    rawTransaction: (txid, blockHash) => rawTransaction(pool, txid, blockHash),
    close: pool.close,
  };
}

/** The rate is in whole coins; without enough blocks to judge by there is none. */
function decodeFee(answer: unknown): bigint {
  const rate = decodeObject(answer, 'the fee estimate')['feerate'];
  if (rate === undefined) return FALLBACK_UNITS_PER_KVB;
  if (typeof rate !== 'number' || !(rate > 0 && rate < 1)) throw new MalformedAnswerError('feerate', 'a rate in coins');
  return BigInt(Math.round(rate * 1e8));
}

async function rawTransaction(pool: RpcPool, txid: string, blockHash: string): Promise<string | null> {
  return pool.askAll([{ method: 'getrawtransaction', params: [txid, false, blockHash] }], ([result]) => {
    if (result?.kind === 'error' && result.code === NOT_FOUND) return null;
    if (result?.kind === 'error') throw new NodeError(result.error.message, result.code);
    if (result === undefined) throw new MalformedAnswerError('the batch', 'as long as what was asked');
    if (typeof result.result !== 'string') throw new MalformedAnswerError('the transaction', 'hex');
    return result.result;
  });
}
