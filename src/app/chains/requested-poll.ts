import { NETWORK_FACTS } from '../../domain/networks.ts';
import type { ChainSource } from '../../rails/chain.ts';
import { knownBlock, readCursor, readPolls, savePollDone, type Cursor } from '../../store/chains/chain.ts';
import type { App } from '../context.ts';
import { isMainChain } from '../explorer.ts';

/** A node that takes longer to say how far it is does not count. */
const HEIGHT_MS = 3_000;
/** A newest block older than this says that the node has lost its network. */
const MAX_AGE = { leastMs: 60_000, blocks: 20 } as const;

/** A poll for which somebody waits. */
export interface RequestedPoll {
  readonly number: number;
  /** The height of the newest block of any node after the poll was requested. */
  readonly height: number;
}

/** The polls of a network that are requested, and whether they are done. */
export function createRequestedPolls(app: App, source: ChainSource) {
  const { network } = source;
  let open: RequestedPoll | null = null;

  return {
    /** The poll that was requested last, if it is not done yet; null too while no node says how far it is. */
    next: async (): Promise<RequestedPoll | null> => {
      const polls = await readPolls(app.db, network);
      if (polls === null || polls.wanted === polls.done) return null;
      // Asked once, because a chain may grow faster than a node that lags.
      if (open?.number === polls.wanted) return open;
      const cursor = await readCursor(app.db, network);
      const height = await newestHeight(source);
      // Nodes that lag behind what was read do not know the newest block.
      const isKnown = height !== null && height >= (cursor?.height ?? 0);
      open = isKnown ? { number: polls.wanted, height } : null;
      return open;
    },

    /**
     * Ends a poll if everything that may pay a refund was read up to a cursor, its blocks are among that, and a node
     * that does not say so itself seems to have its network. Another process may have moved the cursor since.
     */
    end: async ({ number, height }: RequestedPoll, cursor: Cursor): Promise<void> => {
      if (cursor.height < height) return;
      if (source.mempool === null) {
        // The node may be on a branch whose blocks were not read, though they are no more.
        const known = await knownBlock(app.db, network, height);
        if (known === null || (await source.hashAt(height)) !== known.hash || !isRecent(app, source, cursor)) return;
      }
      await savePollDone(app.db, network, number, cursor.hash);
    },
  };
}

/** Every node is asked, because the one that answers the other calls may be some blocks behind. */
async function newestHeight(source: ChainSource): Promise<number | null> {
  const reports = await source.checkNodes(HEIGHT_MS);
  const heights = reports.flatMap(({ height }) => (height === null ? [] : [height]));
  return heights.length === 0 ? null : Math.max(...heights);
}

/** Chains of tests make blocks when they like. */
function isRecent(app: App, { network, native }: ChainSource, { blockAt }: Cursor): boolean {
  // All tokens of a network are on the same chain.
  const asset = native?.asset ?? 'USDT';
  if (!isMainChain(app.railFor('live'), { asset, network })) return true;
  const maxAgeMs = Math.max(MAX_AGE.leastMs, MAX_AGE.blocks * NETWORK_FACTS[network].blockMs);
  return blockAt >= app.clock() - maxAgeMs;
}
