import { MalformedAnswerError } from './decode.ts';
import { NodeBusyError, NodeError, type RpcCall, type RpcNode, type RpcResult } from './node.ts';

/** Hosted nodes accept from 10 to 1,000 calls in one batch. */
const LARGEST_BATCH = 100;
/** How many calls run at once on a node that accepts no batches. */
const SINGLE_CONCURRENCY = 16;
/**
 * HTTP statuses of requests that a node always refuses, unlike a missing password, an exhausted limit or a fault of the
 * server.
 */
const REFUSED_STATUS = /^HTTP status (400|405|413|415|422|501)\b/;

/**
 * The same node with batches of any length: split into the size that it accepts, or sent as single calls if it accepts
 * none. The accepted size is learnt from refusals and remembered.
 */
export function withAnyBatch(node: RpcNode): RpcNode {
  let batchSize = LARGEST_BATCH;

  async function callAll(calls: readonly RpcCall[]): Promise<readonly RpcResult[]> {
    for (let size = batchSize; ; size = Math.floor(size / 4)) {
      if (size <= 1 || calls.length <= 1) {
        const results = await callOneByOne(node, calls);
        // If a node fails every call, that says nothing about batches.
        if (calls.length > 1 && results.some((result) => result.kind === 'ok')) batchSize = Math.min(batchSize, 1);
        return results;
      }
      try {
        const results = await callInParts(node, calls, size);
        batchSize = Math.min(batchSize, size);
        return results;
      } catch (fault) {
        if (!isRefusal(fault)) throw fault;
      }
    }
  }

  return { ...node, callAll };
}

async function callInParts(node: RpcNode, calls: readonly RpcCall[], size: number): Promise<readonly RpcResult[]> {
  const results: RpcResult[] = [];
  for (let start = 0; start < calls.length; start += size) {
    results.push(...(await node.callAll(calls.slice(start, start + size))));
  }
  return results;
}

async function callOneByOne(node: RpcNode, calls: readonly RpcCall[]): Promise<readonly RpcResult[]> {
  const results: RpcResult[] = [];
  for (let start = 0; start < calls.length; start += SINGLE_CONCURRENCY) {
    const part = calls.slice(start, start + SINGLE_CONCURRENCY);
    results.push(...(await Promise.all(part.map((call) => callOnce(node, call)))));
  }
  return results;
}

async function callOnce(node: RpcNode, { method, params }: RpcCall): Promise<RpcResult> {
  try {
    return { kind: 'ok', result: await node.call(method, params) };
  } catch (fault) {
    if (fault instanceof NodeError && fault.code !== undefined)
      return { kind: 'error', code: fault.code, error: fault };
    throw fault;
  }
}

function isRefusal(fault: unknown): boolean {
  if (fault instanceof MalformedAnswerError) return true;
  if (!(fault instanceof NodeError) || fault instanceof NodeBusyError) return false;
  return fault.code !== undefined || REFUSED_STATUS.test(fault.message);
}
