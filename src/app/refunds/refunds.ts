import type { Network } from '../../domain/networks.ts';
import type { RefundEventType } from '../../domain/event-type.ts';
import { encodeId } from '../../domain/id.ts';
import type { Payment, Surface } from '../../domain/payment.ts';
import type { Mode } from '../../domain/permission.ts';
import { refundTransition, sizeRefund, type Refund, type RefundObservation } from '../../domain/refund.ts';
import { nextDueAt } from '../../domain/transition.ts';
import { refundView } from '../../domain/views.ts';
import { matchingAddress } from '../../rails/address.ts';
import { readAtHead, readCursor, readSeenUpTo } from '../../store/chain.ts';
import type { Trx } from '../../store/database.ts';
import { saveChanges } from '../../store/save-changes.ts';
import { lockPayments } from '../../store/payments.ts';
import {
  findRefund,
  insertRefund,
  lockDueRefunds,
  lockRefund,
  refundedMoney,
  setRefundAddress,
  updateRefund,
} from '../../store/refunds.ts';
import { beingPaid, payoutOf, refundsPaidBy, refundsTakenBack } from '../../store/refund-payouts.ts';
import { newId, type App } from '../context.ts';
import { newEvent } from '../events.ts';
import { answerRow, isAnswerConflict, withIdempotency, type IdempotencyRequest, type Replay } from '../idempotency.ts';
import { countEvents } from '../observer.ts';
import { checkRefundAddress } from './refund-address.ts';
import { refundMoney, type RefundRefusal } from './refund-money.ts';
import { forgetStalePayouts } from './refund-payouts.ts';
import { dustRefusal, sizeRefusal, wantedUnits, type WantedRefund } from './refund-size.ts';

/** A checked request for a refund. */
export interface NewRefund {
  readonly projectId: string;
  readonly mode: Mode;
  readonly surface: Surface;
  readonly paymentId: string;
  readonly wanted: WantedRefund;
  /** What is to be given back, where that is not what the payment is quoted in. `network`: the quote's unless said. */
  readonly token?: { readonly asset: string; readonly network: string | null } | null;
  readonly address: string | null;
  readonly reason: string | null;
}

export type RefundOutcome =
  | { readonly kind: 'done'; readonly refund: Refund; readonly body: string }
  | RefundRefusal
  | Replay;

const FINAL = new Set<Payment['status']>(['completed', 'expired', 'failed', 'cancelled']);

/** Promises money back: checked against what was received under the payment's lock, so that the sum never exceeds it. */
export function createRefund(
  app: App,
  request: NewRefund,
  idempotency: IdempotencyRequest | null,
): Promise<RefundOutcome> {
  return inTransaction(app, idempotency, async (trx) => {
    const [payment] = await lockPayments(trx, [request.paymentId]);
    const own =
      payment?.projectId === request.projectId && payment.mode === request.mode && payment.surface === request.surface;
    if (payment === undefined || !own) return { kind: 'not_found' };
    const now = app.clock();
    const drafted = await draftRefund(app, trx, payment, request, now);
    if (drafted.kind !== 'ok') return drafted;
    await insertRefund(trx, drafted.refund, watchedAddress(drafted.refund));
    return saved(app, trx, payment, drafted.refund, 'refund.created', now, idempotency);
  });
}

async function draftRefund(
  app: App,
  trx: Trx,
  payment: Payment,
  request: NewRefund,
  now: number,
): Promise<{ readonly kind: 'ok'; readonly refund: Refund } | RefundRefusal> {
  const blame = payment.surface === 'order' ? 'order_id' : 'transaction_id';
  if (!FINAL.has(payment.status)) {
    const message = `${blame} names a payment that is still ${payment.status}; only a completed, expired, failed or cancelled one can be refunded.`;
    return { kind: 'refused', param: blame, message };
  }
  const money = await refundMoney(app, trx, payment, request);
  if (money.kind !== 'ok') return money;
  const { quote } = money.received;
  const { projectId, mode } = payment;
  const target = { projectId, mode, network: quote.network, paymentId: payment.id };
  const checked = request.address === null ? null : await refundAddress(app, trx, target, request.address);
  if (checked !== null && checked.kind !== 'ok') return checked;
  const wanted = wantedUnits(request.wanted, quote.decimals);
  if (wanted !== null && 'kind' in wanted) return wanted;
  const taken = await refundedMoney(trx, payment.id, quote);
  const size = sizeRefund(money.received, taken, wanted);
  if (size.kind !== 'ok') return sizeRefusal(money.received, wanted, size);
  const dust = payment.mode === 'live' ? dustRefusal(quote, size.units, wanted) : null;
  if (dust !== null) return dust;
  const id = newId(app, now);
  const outcome = app.railFor(payment.mode).refundOutcome({ id, network: quote.network, reason: request.reason });
  const refund: Refund = {
    id,
    projectId: payment.projectId,
    mode: payment.mode,
    paymentId: payment.id,
    paymentSurface: payment.surface,
    status: 'pending',
    amountMinor: size.amountMinor,
    currency: payment.currency,
    asset: quote.asset,
    network: quote.network,
    decimals: quote.decimals,
    units: size.units,
    address: checked?.address ?? null,
    reason: request.reason,
    failureReason: null,
    transactionHash: null,
    createdAt: now,
    completedAt: null,
    dueAt: now + outcome.afterMs,
  };
  return { kind: 'ok', refund };
}

function watchedAddress({ network, address }: Refund): string | null {
  return address === null ? null : matchingAddress(network, address);
}

async function refundAddress(
  app: App,
  trx: Trx,
  refund: Parameters<typeof checkRefundAddress>[2],
  text: string,
): Promise<{ readonly kind: 'ok'; readonly address: string } | RefundRefusal> {
  const checked = await checkRefundAddress(app, trx, refund, text);
  if (checked.kind === 'ok') return checked;
  const { notYours, message } = checked;
  return { kind: 'refused', param: 'address', message: `address: ${message}`, ...(notYours && { notYours }) };
}

/** So long ago a network's newest block may have been read: NODE_POLL_MS is a minute at most. */
const MAX_HEAD_AGE_MS = 90_000;

/**
 * The merchant withdraws a refund that nothing pays yet: refused once its payout was seen, waiting or in a block, and while blocks
 * that may have it were not read yet, unless that is forced.
 */
export function cancelRefund(
  app: App,
  scope: { readonly id: string; readonly projectId?: string; readonly mode?: Mode; readonly isForced?: boolean },
  idempotency: IdempotencyRequest | null = null,
): Promise<RefundOutcome> {
  return inTransaction(app, idempotency, async (trx) => {
    const refund = await lockScoped(trx, scope);
    if (refund === null) return { kind: 'not_found' };
    const refused = refund.status === 'pending' ? await payoutRefusal(trx, refund) : null;
    if (refused !== null) return refused;
    const unread =
      refund.status === 'pending' && scope.isForced !== true ? await unreadRefusal(app, trx, refund) : null;
    if (unread !== null) return unread;
    return settle(app, trx, refund, { kind: 'failed', reason: 'cancelled' }, idempotency);
  });
}

/** A statement of its own, after the lock: what the chain's follower saved before it is seen, and it saves nothing more now. */
async function payoutRefusal(trx: Trx, { id }: Refund): Promise<RefundRefusal | null> {
  if (!(await beingPaid(trx, [id])).has(id)) return null;
  const payout = await payoutOf(trx, id);
  const hash = payout?.transactionHash ?? 'a transaction';
  const message =
    payout?.state === 'block'
      ? `The refund is paid by ${hash} and cannot be cancelled any more. It completes when that has enough confirmations.`
      : `The refund is being paid by ${hash}, which waits to be mined, and cannot be cancelled meanwhile. It completes when that is confirmed; if it is replaced or dropped, the refund can be cancelled then.`;
  return { kind: 'refused', param: null, message };
}

/** While the newest blocks were not read, nobody knows whether they have its payout. */
async function unreadRefusal(
  app: App,
  trx: Trx,
  { id, network, mode, address }: Refund,
): Promise<RefundRefusal | null> {
  if (address === null || app.railFor(mode).simulate !== null) return null;
  const at = await readAtHead(trx, network);
  if (at !== null && at >= app.clock() - MAX_HEAD_AGE_MS) return null;
  const message =
    `The newest ${network} blocks were not read yet, and may pay this refund, so that it cannot be cancelled now. Try again in a moment. ` +
    `If the node is away for long, make sure that nothing was sent, and use: cointill refund cancel ${encodeId('refund', id)} --force`;
  return { kind: 'refused', param: null, message };
}

/** The customer says on the claim page where the money is to go. */
export function claimRefund(app: App, id: string, address: string): Promise<RefundOutcome> {
  return inTransaction(app, null, async (trx) => {
    const refund = await lockRefund(trx, id);
    if (refund === null) return { kind: 'not_found' };
    if (refund.status !== 'pending' || refund.address !== null) {
      const message = refund.address === null ? 'This refund is closed.' : 'This refund already has an address.';
      return { kind: 'refused', param: 'address', message };
    }
    const checked = await refundAddress(app, trx, refund, address);
    if (checked.kind !== 'ok') return checked;
    const claimed = { ...refund, address: checked.address };
    await setRefundAddress(trx, claimed, matchingAddress(refund.network, checked.address));
    return { kind: 'done', refund: claimed, body: JSON.stringify(refundView(claimed, app.links)) };
  });
}

/** Ends the refunds whose time has come, as their rail says. Returns how many it took. */
export async function runDueRefunds(app: App, limit: number): Promise<number> {
  return app.db.transaction().execute(async (trx) => {
    const refunds = await lockDueRefunds(trx, app.clock(), await readSeenUpTo(trx), limit);
    // All at once and in the order of their ids, as every locker of several payments does.
    await lockPayments(trx, [...new Set(refunds.map((refund) => refund.paymentId))]);
    // Anew: one may have been seen paid while its lock was waited for.
    const paid = await beingPaid(
      trx,
      refunds.map(({ id }) => id),
    );
    for (const refund of refunds.filter(({ id }) => !paid.has(id))) {
      const { observation } = app.railFor(refund.mode).refundOutcome(refund);
      await settle(app, trx, refund, observation, null);
    }
    return refunds.length;
  });
}

/**
 * Completed refunds whose payout a reorganisation took back wait again. Called where the node's chain was followed to its end,
 * so that one whose payout is in the new blocks as well stays completed.
 */
export async function reopenRefunds(app: App, network: Network): Promise<void> {
  for (const id of await refundsTakenBack(app.db, network)) {
    await inTransaction(app, null, async (trx) => {
      const refund = await lockRefund(trx, id);
      const isTakenBack = (await refundsTakenBack(trx, network)).includes(id);
      if (refund === null || !isTakenBack) return { kind: 'not_found' };
      return settle(app, trx, refund, { kind: 'taken_back' }, null);
    });
  }
}

/** Completes the refunds of a network whose payout is deep enough by now. */
export async function settlePayouts(app: App, network: Network): Promise<void> {
  await forgetStalePayouts(app, network, app.clock());
  const cursor = await readCursor(app.db, network);
  for (const { refundId, transactionHash } of await refundsPaidBy(app.db, network, cursor?.height ?? 0)) {
    await inTransaction(app, null, async (trx) => {
      const refund = await lockRefund(trx, refundId);
      return refund === null
        ? { kind: 'not_found' }
        : settle(app, trx, refund, { kind: 'paid', transactionHash }, null);
    });
  }
}

async function settle(
  app: App,
  trx: Trx,
  refund: Refund,
  observation: RefundObservation,
  idempotency: IdempotencyRequest | null,
): Promise<RefundOutcome> {
  const now = app.clock();
  const result = refundTransition(refund, observation, now);
  if (result.kind === 'refused') {
    return {
      kind: 'refused',
      param: null,
      message: `The refund is ${refund.status} already and cannot change any more.`,
    };
  }
  const [payment] = await lockPayments(trx, [refund.paymentId]);
  if (payment === undefined) throw new Error('A refund without its payment.');
  await updateRefund(trx, result.refund);
  const type = EVENT_OF[observation.kind];
  return saved(app, trx, payment, result.refund, type, now, idempotency);
}

const EVENT_OF = {
  paid: 'refund.completed',
  taken_back: 'refund.reorged',
  failed: 'refund.failed',
} as const satisfies Readonly<Record<RefundObservation['kind'], RefundEventType>>;

/** The refund's event counts on in its payment's sequence, so it is saved together with the payment. */
async function saved(
  app: App,
  trx: Trx,
  payment: Payment,
  refund: Refund,
  type: RefundEventType,
  now: number,
  idempotency: IdempotencyRequest | null,
): Promise<RefundOutcome> {
  const view = refundView(refund, app.links);
  const event = newEvent(app, payment, type, payment.lastSequence + 1, view, now);
  const body = JSON.stringify(view);
  const after = { ...payment, lastSequence: payment.lastSequence + 1 };
  const answers = idempotency === null ? [] : [answerRow(idempotency, body, now)];
  const dueAt = nextDueAt(after, app.policy);
  const change = { before: payment, after, dueAt, arrows: [], events: [event] };
  await saveChanges(trx, [change], 2, answers);
  countEvents(app, [change]);
  return { kind: 'done', refund, body };
}

async function lockScoped(
  trx: Trx,
  scope: { readonly id: string; readonly projectId?: string; readonly mode?: Mode },
): Promise<Refund | null> {
  const refund = await lockRefund(trx, scope.id);
  if (refund === null) return null;
  const own =
    (scope.projectId === undefined || scope.projectId === refund.projectId) &&
    (scope.mode === undefined || scope.mode === refund.mode);
  return own ? refund : null;
}

function inTransaction(
  app: App,
  idempotency: IdempotencyRequest | null,
  run: (trx: Trx) => Promise<RefundOutcome>,
): Promise<RefundOutcome> {
  return withIdempotency<RefundOutcome>(app, idempotency, async () => {
    try {
      return await app.db.transaction().execute(run);
    } catch (error) {
      if (isAnswerConflict(error)) return { kind: 'answer_conflict' as const };
      throw error;
    }
  });
}

/** A refund that the client may see. */
export async function readRefund(
  app: App,
  scope: { readonly id: string; readonly projectId: string; readonly mode: Mode },
): Promise<Refund | null> {
  const refund = await findRefund(app.db, scope.id);
  return refund !== null && refund.projectId === scope.projectId && refund.mode === scope.mode ? refund : null;
}
