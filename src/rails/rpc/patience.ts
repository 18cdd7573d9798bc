import { setTimeout as sleep } from 'node:timers/promises';
import { NodeBusyError, NodeError, type RpcCall, type RpcNode, type RpcResult } from './node.ts';

/** While no node answers anything, a call ends after this many refusals in a row, of all nodes together. */
const TRIES = 6;
/** A call ends after this many refusals even if other calls are answered: a node may refuse one method forever. */
const MAX_TRIES = 20;
const FIRST_REST_MS = 50;
const MAX_REST_MS = 800;
/** The answers of a short batch may belong together, so that it is repeated as a whole. */
const SHORT_BATCH = 4;

/**
 * The same node, asked again within a call when it is too busy to answer; the `nodes` of a network share the tries. Of
 * a long batch only the refused calls are repeated. A node that refuses half of its calls slows a call by some tenths
 * of a second. A node that answers nothing at all is given up after a second and a half, and from then on asked once
 * per call, until it answers.
 */
export function withPatience(
  node: RpcNode,
  nodes: number,
  rest: (ms: number) => Promise<unknown> = (ms) => sleep(ms),
): RpcNode {
  const tries = Math.max(2, Math.ceil(TRIES / nodes));
  let answers = 0;
  let isSilent = false;

  async function patiently<T>(work: () => Promise<T>): Promise<T> {
    let refusals = 0;
    for (let tried = 1; ; tried += 1) {
      const before = answers;
      try {
        const answer = await work();
        answers += 1;
        isSilent = false;
        return answer;
      } catch (fault) {
        if (!(fault instanceof NodeBusyError)) {
          // An error of the call itself is an answer.
          if (fault instanceof NodeError && fault.code !== undefined) isSilent = false;
          throw fault;
        }
        refusals = answers === before ? refusals + 1 : 0;
        isSilent ||= refusals >= tries;
        if (isSilent || tried >= MAX_TRIES) throw fault;
        await rest(Math.min(MAX_REST_MS, FIRST_REST_MS * 2 ** Math.max(0, refusals - 1)));
      }
    }
  }

  async function callAll(calls: readonly RpcCall[]): Promise<readonly RpcResult[]> {
    const results: RpcResult[] = [];
    let open = calls.map((call, at) => ({ call, at }));
    try {
      await patiently(async () => {
        const replies = await node.callAll(open.map(({ call }) => call));
        for (const [place, { at }] of open.entries()) {
          const result = replies[place];
          if (result !== undefined) results[at] = result;
        }
        const refusals = replies.filter(isRefused);
        if (refusals.length < replies.length) answers += 1;
        if (calls.length > SHORT_BATCH) open = open.filter((_, place) => isRefused(replies[place]));
        if (refusals[0] !== undefined) throw refusals[0].error;
      });
    } catch (fault) {
      // The answers count; the errors of the other calls are among the results.
      if (!(fault instanceof NodeBusyError) || results.length < calls.length) throw fault;
    }
    return results;
  }

  return { ...node, call: (method, params) => patiently(() => node.call(method, params)), callAll };
}

function isRefused(result: RpcResult | undefined): result is Extract<RpcResult, { kind: 'error' }> {
  return result?.kind === 'error' && result.error instanceof NodeBusyError;
}
