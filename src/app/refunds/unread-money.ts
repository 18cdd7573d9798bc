import { setTimeout } from 'node:timers/promises';
import { familyFacts, type Network } from '../../domain/networks.ts';
import type { Refund } from '../../domain/refund.ts';
import { networkStates, readAtHead, readCursor, readPolls, requestPoll } from '../../store/chains/chain.ts';
import type { Database, Trx } from '../../store/database.ts';
import { isUncompared, saveUncompared } from '../../store/refunds/refund-balances.ts';
import type { App } from '../context.ts';

/** For a warning: how long ago a network's newest block may have been read. NODE_POLL_MS is at most a minute. */
const MAX_HEAD_AGE_MS = 90_000;
const UNDER_WAY_MS = 30_000;
/** A cancellation waits this long at most for the poll, which takes a second, and some more while a node hangs. */
const MAX_POLL_MS = 15_000;
const POLL_REST_MS = 100;

/** Transactions that may pay a refund and were not read yet: waiting to be mined, or in the newest blocks. */
export type UnreadMoney = 'waiting' | 'blocks';

/** Whether a network was read up to its node's newest block by a poll that began after this was called. */
export type AwaitPoll = (app: App, network: Network) => Promise<boolean>;

/**
 * Has the chain's follower poll the nodes now, and waits for that. Polls are counted, because the clocks of two
 * processes differ. `monotonic` measures in ms how long it took.
 */
export const awaitPoll = async (
  app: App,
  network: Network,
  withinMs = MAX_POLL_MS,
  monotonic: () => number = () => performance.now(),
): Promise<boolean> => {
  const until = monotonic() + withinMs;
  const wanted = await requestPoll(app.db, network);
  while (monotonic() < until) {
    const polls = await readPolls(app.db, network);
    if (wanted === null || polls === null) return false;
    if (polls.done >= wanted) return true;
    if (polls.problem !== null) return false;
    await setTimeout(POLL_REST_MS);
  }
  return false;
};

/** Whether transactions of a chain can pay the refund. */
export function isPaidOnChain(app: App, { address, mode }: Refund): boolean {
  return address !== null && app.railFor(mode).kind !== 'sandbox';
}

/**
 * The unread money that may pay a refund; null if there is none. Call this before reading the payouts: money that is
 * read in between is then among them.
 */
export async function unreadMoney(
  app: App,
  executor: Database | Trx,
  refund: Refund,
  isReadToHead: boolean,
): Promise<UnreadMoney | null> {
  if (!isPaidOnChain(app, refund)) return null;
  if (await isUncompared(executor, refund.id)) return 'waiting';
  return isReadToHead ? null : 'blocks';
}

/**
 * The unread money to warn a person of who is about to pay a refund. Where only blocks are read, the next block is
 * nearly always under way: while the newest one is recent there is no warning, because nobody heeds a warning that
 * comes and goes.
 */
export async function unreadBeforePaying(app: App, refund: Refund): Promise<UnreadMoney | null> {
  const { network } = refund;
  const { seesWaiting } = familyFacts(network);
  const at = await readAtHead(app.db, network);
  const cursor = await readCursor(app.db, network);
  const isRecent = at !== null && at >= app.clock() - MAX_HEAD_AGE_MS;
  const isBehind = await hasHigherNode(app, network, cursor?.height ?? 0);
  const unread = await unreadMoney(app, app.db, refund, isRecent && !isBehind);
  if (unread !== 'blocks' || seesWaiting || (at !== null && !isRecent)) return unread;
  const isOfNow = cursor !== null && Math.abs(app.clock() - cursor.blockAt) <= UNDER_WAY_MS;
  return isOfNow ? null : unread;
}

/** Whether a node knows a block that was not read, as when the one that blocks are read from lags. */
async function hasHigherNode(app: App, network: Network, read: number): Promise<boolean> {
  const { nodes } = await networkStates(app.db);
  const since = app.clock() - MAX_HEAD_AGE_MS;
  return nodes.some((node) => node.network === network && node.checkedAt >= since && (node.height ?? 0) > read);
}

/** Records that a refund has its address from now on, so that waiting transactions are compared with it. */
export async function keepUncompared(app: App, trx: Trx, refund: Refund): Promise<void> {
  const { id, network } = refund;
  if (isPaidOnChain(app, refund) && familyFacts(network).seesWaiting) await saveUncompared(trx, id, network);
}
