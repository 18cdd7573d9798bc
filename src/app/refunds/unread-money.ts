import { familyFacts } from '../../domain/networks.ts';
import type { Refund } from '../../domain/refund.ts';
import { readAtHead, readCursor } from '../../store/chains/chain.ts';
import type { Database, Trx } from '../../store/database.ts';
import { isUncompared, saveUncompared } from '../../store/refunds/refund-balances.ts';
import type { App } from '../context.ts';

/** How long ago a network's newest block may have been read: NODE_POLL_MS is at most a minute. */
const MAX_HEAD_AGE_MS = 90_000;
const UNDER_WAY_MS = 30_000;

/** Transactions that may pay a refund and were not read yet: waiting to be mined, or in the newest blocks. */
export interface UnreadMoney {
  readonly kind: 'waiting' | 'blocks';
  /** The begin of a sentence, without its full stop. */
  readonly text: string;
}

/**
 * The unread money that may pay a refund; null if there is none. Call this before reading the payouts: money that is
 * read in between is then among them.
 */
export async function unreadMoney(
  app: App,
  executor: Database | Trx,
  { id, network, mode, address }: Refund,
): Promise<UnreadMoney | null> {
  if (address === null || app.railFor(mode).kind === 'sandbox') return null;
  if (await isUncompared(executor, id)) {
    const text = `The ${network} transactions that wait to be mined were not read yet since this refund has its address, and may pay it already`;
    return { kind: 'waiting', text };
  }
  const at = await readAtHead(executor, network);
  if (at !== null && at >= app.clock() - MAX_HEAD_AGE_MS) return null;
  return { kind: 'blocks', text: `The newest ${network} blocks were not read yet, and may pay this refund` };
}

/**
 * The unread money to warn a person of who is about to pay a refund. Where only blocks are read, the next block is
 * nearly always under way: while the newest one is recent there is no warning, because nobody heeds a warning that
 * comes and goes.
 */
export async function unreadBeforePaying(app: App, refund: Refund): Promise<UnreadMoney | null> {
  const unread = await unreadMoney(app, app.db, refund);
  const { network } = refund;
  if (unread?.kind !== 'blocks' || familyFacts(network).seesWaiting) return unread;
  if ((await readAtHead(app.db, network)) !== null) return unread;
  const cursor = await readCursor(app.db, network);
  const isOfNow = cursor !== null && Math.abs(app.clock() - cursor.blockAt) <= UNDER_WAY_MS;
  return isOfNow ? null : unread;
}

/** Records that a refund has its address from now on, so that waiting transactions are compared with it. */
export async function keepUncompared(app: App, trx: Trx, { id, network, mode, address }: Refund): Promise<void> {
  if (address === null || app.railFor(mode).kind === 'sandbox' || !familyFacts(network).seesWaiting) return;
  await saveUncompared(trx, id, network);
}
