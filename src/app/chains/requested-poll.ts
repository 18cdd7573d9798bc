import type { ChainSource } from '../../rails/chain.ts';
import { readCursor, readPolls, savePollDone } from '../../store/chains/chain.ts';
import type { App } from '../context.ts';

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

/** Ends a poll if its blocks were read. */
export async function endPoll({ db }: App, { network }: ChainSource, poll: RequestedPoll | null): Promise<void> {
  if (poll === null) return;
  const cursor = await readCursor(db, network);
  if (cursor !== null && cursor.height >= poll.height) await savePollDone(db, network, poll.number);
}
