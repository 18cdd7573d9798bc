import type { SendOutcome } from '../chain.ts';
import { MalformedAnswerError } from '../rpc/decode.ts';
import type { RpcResult } from '../rpc/node.ts';
import type { RpcPool } from '../rpc/pool.ts';

/** The fee was checked against MAX_FEE_RATE, which may allow more than the node's own limit. */
const NO_MAX_FEE = 0;
/** Error codes of Bitcoin Core (`rpc/protocol.h`): cannot be decoded, inputs are missing, refused by the rules. */
const REFUSALS: readonly unknown[] = [-22, -25, -26];
const ALREADY_IN_CHAIN = -27;

/**
 * Hands a signed transaction, in hex, to a node, which relays it. A transaction that the node already has, waiting or
 * in a block, counts as sent. `reason` is in the node's words.
 */
export function sendTransaction(pool: RpcPool, hex: string): Promise<SendOutcome> {
  return pool.askAll([{ method: 'sendrawtransaction', params: [hex, NO_MAX_FEE] }], ([result]) => decodeSent(result));
}

/** The verdict on the transaction; any other error counts as the node's fault. */
function decodeSent(result: RpcResult | undefined): SendOutcome {
  if (result === undefined) throw new MalformedAnswerError('the batch', 'as long as the request');
  if (result.kind === 'ok' || result.code === ALREADY_IN_CHAIN) return { kind: 'sent' };
  if (!REFUSALS.includes(result.code)) throw result.error;
  return { kind: 'refused', reason: result.error.message.replace(/^JSON-RPC error -?\d+: /, '') };
}
