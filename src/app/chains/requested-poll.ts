import { NETWORK_FACTS } from '../../domain/networks.ts';
import type { ChainSource, NodeReport } from '../../rails/chain.ts';
import { knownBlock, readCursor, readPolls, savePollDone, type Cursor } from '../../store/chains/chain.ts';
import type { App } from '../context.ts';
import { isMainChain } from '../explorer.ts';

/** A node that takes longer to say how far it is does not count. */
const HEIGHT_MS = 3_000;
/** How long a height that a node told counts though no node tells it any more, as when the best one went away. */
const TOLD_MS = 10 * 60_000;
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
  let highest = { height: 0, at: 0 };

  function heard(reports: readonly NodeReport[]): void {
    const now = app.clock();
    const told = newestOf(reports) ?? 0;
    const isOver = highest.at <= now - TOLD_MS || highest.at > now;
    if (told >= highest.height || isOver) highest = { height: told, at: now };
  }

  /** Every node is asked: the one that answers other calls may lag. Null while none knows at least what was read. */
  async function heightToRead(): Promise<number | null> {
    const cursor = await readCursor(app.db, network);
    const reports = await source.checkNodes(HEIGHT_MS);
    heard(reports);
    const told = newestOf(reports);
    return told === null || told < (cursor?.height ?? 0) ? null : highest.height;
  }

  return {
    /** The poll that was requested last, if it is not done yet; null too while no node says how far it is. */
    next: async (): Promise<RequestedPoll | null> => {
      const polls = await readPolls(app.db, network);
      if (polls === null || polls.wanted === polls.done) return null;
      // Asked once, because a chain may grow faster than a node that lags.
      if (open?.number === polls.wanted) return open;
      const height = await heightToRead();
      open = height === null ? null : { number: polls.wanted, height };
      return open;
    },

    /** Takes in what nodes told, whoever asked them. */
    heard,

    /** Called after a rollback: what nodes told before may be of the branch that they left. */
    rolledBack: (): void => {
      open = null;
      highest = { height: 0, at: 0 };
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

function newestOf(reports: readonly NodeReport[]): number | null {
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
