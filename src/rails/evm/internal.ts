import type { AssetCode } from '../../domain/asset-code.ts';
import { ChainUnavailableError, type BlockId, type NativeBalances } from '../chain.ts';
import { decodeObject, MalformedAnswerError } from '../rpc/decode.ts';
import { BUSY, TOO_SLOW, type RpcCall, type RpcResult } from '../rpc/node.ts';
import type { RpcPool } from '../rpc/pool.ts';
import { decodeHash, decodeQuantity, encodeNumber, resultOf } from './decode.ts';
import { decodeBalances, encodeBalanceCalls, MULTICALL_ADDRESS } from './multicall.ts';
import { decodeCallTraces, decodeParityTraces, type InternalPayment } from './traces.ts';

/**
 * Added to the number of an internal payment within its transaction, so that it never equals a log's index or a native
 * transfer's 0.
 */
const INTERNAL_INDEX_BASE = 1_000_000;
/** About 5,000 gas and 200 bytes of call data each: far below what nodes allow in one `eth_call`. */
const BALANCES_PER_CALL = 500;
const INVALID_PARAMS_CODE = -32_602;
/** A busy node is asked again: a payment that the trace misses is extra work for the merchant. */
const MAX_TRACE_ATTEMPTS = 3;
/** How long a method counts as missing that every node refused: one that starts up may have it a minute later. */
const MISSING_MS = 60_000;

/** Payments by contracts within the transactions of a block; null: no node traces them. */
export type TraceBlock = (block: BlockId) => Promise<readonly InternalPayment[] | null>;

/** Traces by the one of the two methods that a node supports. `monotonic` is in ms. */
export function createTracer(pool: RpcPool, monotonic: () => number = () => performance.now()): TraceBlock {
  const missingUntil = new Map<string, number>();

  /** Null: no node supports the first of these methods, or none gave a usable answer. */
  async function trace(
    calls: readonly [RpcCall, ...RpcCall[]],
    decode: (results: readonly RpcResult[]) => readonly InternalPayment[],
  ): Promise<readonly InternalPayment[] | null> {
    const [{ method }] = calls;
    const isMissing = (): boolean => monotonic() < (missingUntil.get(method) ?? 0);
    for (let attempt = 0; attempt < MAX_TRACE_ATTEMPTS && !isMissing(); attempt += 1) {
      try {
        // Sent as a batch, so that a node without the method is skipped for one that has it.
        return await pool.askAll(calls, decode);
      } catch (fault) {
        if (!(fault instanceof ChainUnavailableError)) throw fault;
        const reasons = fault.failures.map(({ reason }) => reason);
        const isRefusedByAll = reasons.every((reason) => /JSON-RPC error -(32601|32004):/.test(reason));
        if (isRefusedByAll) missingUntil.set(method, monotonic() + MISSING_MS);
        if (!reasons.some((reason) => reason.includes(TOO_SLOW) || reason.includes(BUSY))) break;
      }
    }
    return null;
  }

  function traceByHash({ hash }: BlockId): Promise<readonly InternalPayment[] | null> {
    const call = { method: 'debug_traceBlockByHash', params: [hash, { tracer: 'callTracer' }] };
    return trace([call], ([traces]) => decodeCallTraces(resultOf(traces)));
  }

  /** The traces of an empty block name no block, so the node must show which block it has at that height. */
  function traceByHeight({ height, hash }: BlockId): Promise<readonly InternalPayment[] | null> {
    const at = encodeNumber(height);
    const calls = [
      { method: 'trace_block', params: [at] },
      { method: 'eth_getBlockByNumber', params: [at, false] },
    ] as const;
    return trace(calls, ([traces, block]) => {
      const payments = decodeParityTraces(resultOf(traces), hash);
      if (decodeHash(decodeObject(resultOf(block), 'the block')['hash'], 'block.hash') !== hash) {
        throw new MalformedAnswerError('the block', 'the requested one');
      }
      return payments;
    });
  }

  return async (block) => (await traceByHash(block)) ?? (await traceByHeight(block));
}

/** Implements `NativeBalances`: balances by Multicall3 if the chain has it, payments by traces. */
export function createNativeBalances(pool: RpcPool, asset: AssetCode): NativeBalances {
  const trace = createTracer(pool);
  return {
    asset,
    balancesAt: async (addresses, block) => {
      const unique = [...new Set(addresses.map((address) => address.toLowerCase()))];
      const balances = new Map<string, bigint>();
      for (let start = 0; start < unique.length; start += BALANCES_PER_CALL) {
        const part = unique.slice(start, start + BALANCES_PER_CALL);
        const read = await readBalances(pool, part, block);
        for (const [position, address] of part.entries()) {
          const balance = read[position];
          if (balance === undefined) throw new MalformedAnswerError('the balances', 'as many as requested');
          balances.set(address, balance);
        }
      }
      return balances;
    },
    internalTransfers: async (block, addresses) => {
      const payments = await trace(block);
      return (
        payments
          ?.filter(({ address }) => addresses.has(address))
          .map(({ number, ...payment }) => ({ ...payment, index: INTERNAL_INDEX_BASE + number, asset })) ?? null
      );
    },
  };
}

/**
 * EIP-1898 names the block by hash. Nodes that do not support it are asked by height, and show which block they have
 * there.
 */
async function readBalances(pool: RpcPool, addresses: readonly string[], block: BlockId): Promise<readonly bigint[]> {
  const named = { blockHash: block.hash, requireCanonical: true };
  return (
    (await readBalancesAt(pool, addresses, named, null)) ??
    (await readBalancesAt(pool, addresses, encodeNumber(block.height), block)) ??
    []
  );
}

/** Null: the node does not accept a block's hash. `shown` is the block that it must have at a height. */
async function readBalancesAt(
  pool: RpcPool,
  addresses: readonly string[],
  at: unknown,
  shown: BlockId | null,
): Promise<readonly bigint[] | null> {
  const headers = shown === null ? [] : [{ method: 'eth_getBlockByNumber', params: [at, false] }];
  const check = (header: RpcResult | undefined): void => {
    if (shown === null) return;
    const { hash } = decodeObject(resultOf(header), 'the block');
    if (decodeHash(hash, 'block.hash') !== shown.hash) throw new MalformedAnswerError('the block', 'the requested one');
  };
  const multicall = {
    method: 'eth_call',
    params: [{ to: MULTICALL_ADDRESS, data: encodeBalanceCalls(addresses) }, at],
  };
  const balances = await pool.askAll([multicall, ...headers], ([result, header]) => {
    if (result && shown === null && isRefusal(result)) return null;
    check(header);
    return result && isNoMulticall(result) ? 'no_contract' : decodeBalances(resultOf(result), addresses.length);
  });
  if (balances !== 'no_contract') return balances;
  const calls = addresses.map((address) => ({ method: 'eth_getBalance', params: [address, at] }));
  return pool.askAll([...calls, ...headers], (results) => {
    check(results[calls.length]);
    return results.slice(0, calls.length).map((result) => decodeQuantity(resultOf(result), 'the balance'));
  });
}

function isRefusal(result: RpcResult): boolean {
  return result.kind === 'error' && result.code === INVALID_PARAMS_CODE;
}

/** Calling an address without code succeeds and returns nothing; a call may also need more gas than the node allows. */
function isNoMulticall(result: RpcResult): boolean {
  return result.kind === 'error' ? /revert|\bgas\b/i.test(result.error.message) : result.result === '0x';
}
