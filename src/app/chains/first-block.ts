import type { BlockHeader, ChainSource } from '../../rails/chain.ts';
import { earliestIssue } from '../../store/wallets/watched-addresses.ts';
import type { App } from '../context.ts';

/**
 * How far below the head following starts: two epochs, past which Ethereum's blocks are final. If the chain is
 * reorganised right afterwards, the fork is above this block.
 */
const START_DEPTH = 64;
/** How far a block's timestamp and our clock may differ: Bitcoin allows timestamps up to two hours ahead. */
const CLOCK_MARGIN_MS = 2 * 60 * 60_000;

/**
 * The block from which a chain is followed: a final one, or the last one before the earliest address was handed out.
 * Null if the node has just reorganised that block away.
 */
export async function firstBlock(app: App, source: ChainSource): Promise<BlockHeader | null> {
  const { network } = source;
  const head = await source.head();
  const issuedAt = await earliestIssue(app.db, network);
  const top = Math.max(0, head.height - START_DEPTH);
  const height = issuedAt === null ? top : await lastHeightBefore(source, top, issuedAt - CLOCK_MARGIN_MS);
  return source.header(height);
}

/**
 * The last block up to `top` that is older than `at`, or 0. Reads only headers, because a pruned node may no longer
 * have the blocks.
 */
async function lastHeightBefore(source: ChainSource, top: number, at: number): Promise<number> {
  const isBefore = async (height: number): Promise<boolean> => {
    const block = await source.header(height);
    if (block === null) throw new Error(`The ${source.network} node does not have block ${height} below its head.`);
    return block.timeMs < at;
  };
  let low = top;
  let high = top;
  for (let step = START_DEPTH; low > 0 && !(await isBefore(low)); step *= 2) {
    high = low - 1;
    low = Math.max(0, low - step);
  }
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (await isBefore(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}
