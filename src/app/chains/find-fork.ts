import { settingOf, type Network } from '../../domain/networks.ts';
import type { ChainBlock, ChainSource } from '../../rails/chain.ts';
import { knownBlock, oldestKnownBlock, readCursor, type Cursor } from '../../store/chain.ts';
import type { App } from '../context.ts';

/**
 * The last block taken in that the chain still has, when the node's chain is another from there on; null while there is
 * nothing to roll back. `next` is the node's block after the cursor, if it has one. Throws when no block is common.
 */
export async function findFork(
  app: App,
  source: ChainSource,
  cursor: Cursor,
  next: ChainBlock | null,
): Promise<Cursor | null> {
  const { network } = source;
  const head = next ?? (await source.head());
  // Without a next block a higher head is one that came this moment.
  if (next === null && head.height > cursor.height) return null;
  const atHead = next === null ? await knownBlock(app.db, network, head.height) : null;
  if (next === null && (atHead === null || atHead.hash === head.hash)) return null;

  const oldest = await oldestKnownBlock(app.db, network);
  // Hashes only: a pruned node no longer has the blocks that lie as far back as this.
  const base = oldest === null ? null : await source.hashAt(oldest.height);
  if (oldest !== null && base !== null && base !== oldest.hash) throw noCommonBlock(network, oldest);
  for (let height = Math.min(head.height, cursor.height); ; height -= 1) {
    const known = await knownBlock(app.db, network, height);
    if (known === null) {
      // Another worker may have rolled back meanwhile, and forgotten the blocks that this one goes by.
      const present = await readCursor(app.db, network);
      if (present?.height !== cursor.height || present.hash !== cursor.hash) return null;
      throw noCommonBlock(network, { height: height + 1 });
    }
    if ((await source.hashAt(height)) !== known.hash) continue;
    // The cursor's own block is still there: two nodes disagree. A branch shorter than ours may yet be dropped itself.
    return height === cursor.height || head.height < cursor.height ? null : known;
  }
}

/** The node follows another chain than the one that was followed so far. */
export class OtherChainError extends Error {
  override readonly name = 'OtherChainError';
}

function noCommonBlock(network: Network, oldest: Pick<Cursor, 'height'>): OtherChainError {
  return new OtherChainError(
    `The ${network} node is on another chain than the one followed so far: not even block ${oldest.height} is the same. ` +
      `Nothing was changed. Set ${settingOf(network, 'RPC_URL')} to a node of the chain that was followed.`,
  );
}
