import type { TransactionLocation } from '../chain.ts';
import { decodeObject } from '../rpc/decode.ts';
import type { Answers, RpcPool } from '../rpc/pool.ts';
import { decodeAddress, decodeNumber } from './decode.ts';

interface KnownTransaction {
  readonly from: string;
  readonly nonce: number;
  /** Null: unmined. */
  readonly height: number | null;
}

/**
 * The places of transactions, according to all nodes that answer. A transaction that none of them has may wait at a
 * node that does not answer: it is `nowhere` only once every node says so. Throws `ChainUnavailableError` if none
 * answers.
 */
export async function locateTransactions(
  pool: RpcPool,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, TransactionLocation>> {
  const found = new Map<string, TransactionLocation>();
  for (const hash of hashes) {
    const known = await pool.askEvery('eth_getTransactionByHash', [hash], decodeTransaction);
    found.set(hash, await locationOf(pool, known));
  }
  return found;
}

async function locationOf(
  pool: RpcPool,
  { answers, isComplete }: Answers<KnownTransaction | null>,
): Promise<TransactionLocation> {
  const transactions = answers.filter((answer) => answer !== null);
  const waiting = transactions.find(({ height }) => height === null);
  if (waiting !== undefined) {
    // A pool may keep transactions that can never be mined, because another transaction of the sender used their nonce.
    const used = await pool.ask('eth_getTransactionCount', [waiting.from, 'latest'], (answer) =>
      decodeNumber(answer, 'the transaction count'),
    );
    if (used <= waiting.nonce) return { kind: 'waiting' };
  }
  const heights = transactions.flatMap(({ height }) => (height === null ? [] : [height]));
  if (heights.length > 0) return { kind: 'block', height: Math.max(...heights) };
  return { kind: isComplete ? 'nowhere' : 'waiting' };
}

function decodeTransaction(answer: unknown): KnownTransaction | null {
  if (answer === null) return null;
  const transaction = decodeObject(answer, 'the transaction');
  const number = transaction['blockNumber'] ?? null;
  return {
    from: decodeAddress(transaction['from'], 'transaction.from'),
    nonce: decodeNumber(transaction['nonce'], 'transaction.nonce'),
    height: number === null ? null : decodeNumber(number, 'transaction.blockNumber'),
  };
}
