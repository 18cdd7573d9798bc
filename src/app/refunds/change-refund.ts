import type { Mode } from '../../domain/permission.ts';
import type { Refund } from '../../domain/refund.ts';
import { findRefund, lockRefund, setRefundAddress } from '../../store/refunds/refunds.ts';
import type { App } from '../context.ts';
import { refundView } from '../../wire/refund.ts';
import { matchingAddress } from '../../rails/address.ts';
import { refundAddress } from './refund-address.ts';
import {
  awaitPoll,
  isPaidOnChain,
  keepUncompared,
  unreadMoney,
  type AwaitPoll,
  type UnreadMoney,
} from './unread-money.ts';
import { type RefundOutcome, applyToRefund, auditedRefund } from './save-refund.ts';
import type { Trx } from '../../store/database.ts';
import { growthTracedAgain } from '../../store/refunds/refund-balances.ts';
import { beingPaid, payoutOf } from '../../store/refunds/refund-payouts.ts';
import { recordPeoplesAudit } from '../audit.ts';
import { inTransactionOnce, type IdempotencyRequest } from '../idempotency.ts';
import { rejected } from '../rejected.ts';
import { refusedAs, type RefundRefusal } from './refund-money.ts';
import { encodeId } from '../../domain/id.ts';

/** Selects a refund for a client. Fields left out do not restrict. */
interface RefundScope {
  readonly id: string;
  readonly projectId?: string;
  readonly mode?: Mode;
}

function isWithin({ projectId, mode }: Refund, scope: RefundScope): boolean {
  return (
    (scope.projectId === undefined || scope.projectId === projectId) &&
    (scope.mode === undefined || scope.mode === mode)
  );
}

/** A refund that the client may see. */
export async function readRefund(app: App, scope: Required<RefundScope>): Promise<Refund | null> {
  const refund = await findRefund(app.db, scope.id);
  return refund !== null && isWithin(refund, scope) ? refund : null;
}

/** Saves the address that the customer entered on the claim page. */
export function claimRefund(app: App, id: string, address: string): Promise<RefundOutcome> {
  return inTransactionOnce(app, null, async (trx) => {
    const refund = await lockRefund(trx, id);
    if (refund === null) return { kind: 'not_found' };
    if (refund.status !== 'pending' || refund.address !== null) {
      const message = refund.address === null ? 'This refund is closed.' : 'This refund already has an address.';
      return { kind: 'refused', param: 'address', message };
    }
    const checked = await refundAddress(app, trx, refund, address);
    if (checked.kind !== 'ok') return checked;
    const claimed = claimedRefund(app, refund, checked.address);
    await setRefundAddress(trx, claimed, matchingAddress(refund.network, checked.address));
    await keepUncompared(app, trx, claimed);
    return { kind: 'done', refund: claimed, body: JSON.stringify(refundView(claimed, app.links)) };
  });
}

/** A live refund keeps the time until which it must be paid; the sandbox pays soon. */
function claimedRefund(app: App, refund: Refund, address: string): Refund {
  const claimed = { ...refund, address };
  const rail = app.railFor(refund.mode);
  if (rail.kind !== 'sandbox') return claimed;
  return { ...claimed, dueAt: app.clock() + rail.refundOutcome(claimed).afterMs };
}

/**
 * Cancels a refund that is not being paid. Refused once its payout was seen, mined or not, and, unless forced, if its
 * network cannot be read up to the node's newest block now, or while the nodes are asked who made its balance grow.
 */
export async function cancelRefund(
  app: App,
  scope: RefundScope & { readonly isForced?: boolean },
  idempotency: IdempotencyRequest | null = null,
  poll: AwaitPoll = awaitPoll,
): Promise<RefundOutcome> {
  const { isForced = false } = scope;
  const isReadToHead = isForced || (await readToHead(app, scope, poll));
  return inTransactionOnce(app, idempotency, async (trx) => {
    const refund = await lockRefund(trx, scope.id);
    if (refund === null || !isWithin(refund, scope)) return { kind: 'not_found' };
    if (refund.status === 'pending') {
      const unread = isForced ? null : await unreadMoney(app, trx, refund, isReadToHead);
      const growth = isForced ? null : await growthTracedAgain(trx, refund.id);
      const refused = await payoutRefusal(trx, refund);
      if (refused !== null) return refused;
      if (unread !== null) return unreadRefusal(refund, unread);
      if (growth !== null) return growthRefusal(refund, growth);
    }
    const outcome = await applyToRefund(app, trx, refund, { kind: 'failed', reason: 'cancelled' }, idempotency);
    if (outcome.kind === 'done') await recordPeoplesAudit(app, trx, auditedRefund('refund.cancel', outcome.refund));
    return outcome;
  });
}

/** Before the refund is locked, because the follower needs that lock. Waits only where the answer matters. */
async function readToHead(app: App, scope: RefundScope, poll: AwaitPoll): Promise<boolean> {
  const refund = await findRefund(app.db, scope.id);
  if (refund === null || !isWithin(refund, scope)) return false;
  if (refund.status !== 'pending' || !isPaidOnChain(app, refund)) return false;
  return !(await beingPaid(app.db, [refund.id])).has(refund.id) && poll(app, refund.network);
}

/**
 * A separate statement after the lock, so that it sees what the chain's follower saved before; the follower saves
 * nothing while the lock is held.
 */
async function payoutRefusal(trx: Trx, { id }: Refund): Promise<RefundRefusal | null> {
  if (!(await beingPaid(trx, [id])).has(id)) return null;
  const payout = await payoutOf(trx, id);
  const hash = payout?.transactionHash ?? '';
  return refusedAs(null, rejected(payout?.state === 'block' ? 'refund_paid' : 'refund_being_paid', { hash }));
}

/** Until the blocks and transactions that may pay the refund are read, nobody knows whether they do. */
function unreadRefusal({ id, network }: Refund, unread: UnreadMoney): RefundRefusal {
  return refusedAs(null, rejected(`refund_unread_${unread}`, { network, refund: encodeId('refund', id) }));
}

function growthRefusal({ id, address }: Refund, height: number): RefundRefusal {
  const values = { address: address ?? '', height, refund: encodeId('refund', id) };
  return refusedAs(null, rejected('refund_untraced', values));
}
