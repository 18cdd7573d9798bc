import { settingOf, type Network } from '../../domain/networks.ts';
import type { ChainBlock, ChainSource } from '../../rails/chain.ts';
import { knownBlock, oldestKnownBlock, readCursor, type Cursor } from '../../store/chains/chain.ts';
import type { App } from '../context.ts';

/**
 * The last known block that is still on the node's chain, if the chains differ from there on; null while there is
 * nothing to roll back. `next` is the node's block after the cursor, if it has one. Throws when no known block is on
 * the node's chain.
 */
export async function findFork(
  app: App,
  source: ChainSource,
  cursor: Cursor,
  next: ChainBlock | null,
): Promise<Cursor | null> {
  const { network } = source;
  const head = next ?? (await source.head());
  // No next block but a higher head: a block arrived just now.
  if (next === null && head.height > cursor.height) return null;
  const atHead = next === null ? await knownBlock(app.db, network, head.height) : null;
  if (next === null && (atHead === null || atHead.hash === head.hash)) return null;

  const oldest = await oldestKnownBlock(app.db, network);
  // Only hashes are read: a pruned node no longer has blocks this old.
  const base = oldest === null ? null : await source.hashAt(oldest.height);
  if (oldest !== null && base !== null && base !== oldest.hash) throw noCommonBlock(network, oldest);
  for (let height = Math.min(head.height, cursor.height); ; height -= 1) {
    const savedBlock = await knownBlock(app.db, network, height);
    if (savedBlock === null) {
      // Another worker may have rolled back meanwhile and deleted the blocks compared here.
      const present = await readCursor(app.db, network);
      if (present?.height !== cursor.height || present.hash !== cursor.hash) return null;
      throw noCommonBlock(network, { height: height + 1 });
    }
    if ((await source.hashAt(height)) !== savedBlock.hash) continue;
    // The cursor's own block is still there: two nodes disagree. A branch shorter than ours may be dropped itself.
    if (height === cursor.height || head.height < cursor.height) return null;
    return (await isBranch(app, source, savedBlock)) ? savedBlock : null;
  }
}

/**
 * Whether a different block follows this one on the node, so that a single answer of another chain rolls nothing back.
 * The nodes are asked again which chain they are on, because two chains may share their first blocks.
 */
async function isBranch(app: App, source: ChainSource, fork: Cursor): Promise<boolean> {
  await source.checkNodes();
  const ours = await knownBlock(app.db, source.network, fork.height + 1);
  const theirs = await source.block(fork.height + 1);
  return theirs !== null && theirs.parentHash === fork.hash && theirs.hash !== ours?.hash;
}

/** The node follows another chain than the one followed so far. */
export class OtherChainError extends Error {
  override readonly name = 'OtherChainError';
}

function noCommonBlock(network: Network, oldest: Pick<Cursor, 'height'>): OtherChainError {
  return new OtherChainError(
    `The ${network} node follows a different chain than before, because even block ${oldest.height} is different. ` +
      `Nothing was changed. Set ${settingOf(network, 'RPC_URL')} to a node of the previous chain.`,
  );
}

/** The blocks up to the first one whose parent is not its predecessor: the chain changed while they were read. */
export function linked(blocks: readonly ChainBlock[]): readonly ChainBlock[] {
  const broken = blocks.findIndex((block, index) => {
    const before = index === 0 ? undefined : blocks[index - 1];
    return before !== undefined && (block.parentHash !== before.hash || block.height !== before.height + 1);
  });
  return broken < 0 ? blocks : blocks.slice(0, broken);
}
