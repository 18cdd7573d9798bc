import { MalformedAnswerError } from '../rpc/decode.ts';
import { NodeError, NotKeptError, type RpcResult } from '../rpc/node.ts';
import type { RpcPool } from '../rpc/pool.ts';

/** A transaction and the block that it is in; null while unmined. */
export interface LocatedTransaction {
  readonly txid: string;
  readonly blockHash: string | null;
}

/** Error codes of Bitcoin Core (`rpc/protocol.h`). */
const NOT_FOUND = -5;
const MISC_ERROR = -1;
const METHOD_NOT_FOUND = -32_601;

/**
 * Whole transactions in hex, in the requested order; null if every node says that it does not have the transaction any
 * more.
 */
export async function rawTransactions(
  pool: RpcPool,
  wanted: readonly LocatedTransaction[],
): Promise<readonly (string | null)[]> {
  if (wanted.length === 0) return [];
  const calls = wanted.map(({ txid, blockHash }) => ({
    method: 'getrawtransaction',
    params: blockHash === null ? [txid] : [txid, false, blockHash],
  }));
  const found = await pool.askAll(calls, (results) => wanted.map((_, place) => decodeRaw(results[place])));
  const raws: (string | null)[] = [];
  // Some nodes may be pruned while others are not.
  for (const [place, raw] of found.entries()) {
    raws.push(raw ?? (await fromAnother(pool, calls.slice(place, place + 1))));
  }
  return raws;
}

async function fromAnother(pool: RpcPool, calls: Parameters<RpcPool['askAll']>[0]): Promise<string | null> {
  try {
    return await pool.askAll(calls, ([result]) => {
      const raw = decodeRaw(result);
      // A node without the block is healthy: the next one is asked, and this one is not reported.
      if (raw === null) throw new NotKeptError('the node does not have the block');
      return raw;
    });
  } catch (fault) {
    if (fault instanceof NotKeptError) return null;
    throw fault;
  }
}

function decodeRaw(result: RpcResult | undefined): string | null {
  if (result === undefined) throw new MalformedAnswerError('the batch', 'as long as the request');
  if (result.kind === 'error') {
    if (isMissing(result)) return null;
    throw new NodeError(result.error.message, result.code);
  }
  if (typeof result.result !== 'string') throw new MalformedAnswerError('the transaction', 'hex');
  return result.result;
}

/** The node does not have the block or the transaction, has pruned the block, or returns no transactions at all. */
function isMissing({ code, error }: Extract<RpcResult, { kind: 'error' }>): boolean {
  return (
    code === NOT_FOUND ||
    code === METHOD_NOT_FOUND ||
    (code === MISC_ERROR && /block not available/i.test(error.message))
  );
}
