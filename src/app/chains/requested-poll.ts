import { NETWORK_FACTS } from '../../domain/networks.ts';
import type { ChainSource } from '../../rails/chain.ts';
import { readCursor, readPolls, savePollDone, type Cursor } from '../../store/chains/chain.ts';
import type { App } from '../context.ts';
import { isMainChain } from '../explorer.ts';

/** A newest block older than this says that the node has lost its network. */
const MAX_AGE = { leastMs: 60_000, blocks: 20 } as const;

/** A poll for which somebody waits. */
export interface RequestedPoll {
  readonly number: number;
  /** The height of the newest block of any node. */
  readonly height: number;
}

/**
 * The poll that was requested last, if it is not done yet. Every node is asked, because the one that answers the other
 * calls may be some blocks behind. Null too if no node answers.
 */
export async function requestedPoll({ db }: App, source: ChainSource): Promise<RequestedPoll | null> {
  const polls = await readPolls(db, source.network);
  if (polls === null || polls.wanted === polls.done) return null;
  const heights = (await source.checkNodes()).flatMap(({ height }) => (height === null ? [] : [height]));
  return heights.length === 0 ? null : { number: polls.wanted, height: Math.max(...heights) };
}

/** Ends a poll if its blocks were read, and a node that does not say so itself seems to have its network. */
export async function endPoll(app: App, source: ChainSource, poll: RequestedPoll | null): Promise<void> {
  if (poll === null) return;
  const cursor = await readCursor(app.db, source.network);
  if (cursor === null || cursor.height < poll.height) return;
  if (source.mempool !== null || isRecent(app, source, cursor)) {
    await savePollDone(app.db, source.network, poll.number);
  }
}

/** Chains of tests make blocks when they like. */
function isRecent(app: App, { network, native }: ChainSource, { blockAt }: Cursor): boolean {
  const asset = native?.asset;
  if (asset === undefined || !isMainChain(app.railFor('live'), { asset, network })) return true;
  const maxAgeMs = Math.max(MAX_AGE.leastMs, MAX_AGE.blocks * NETWORK_FACTS[network].blockMs);
  return blockAt >= app.clock() - maxAgeMs;
}
