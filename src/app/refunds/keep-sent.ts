import { encodeId } from '../../domain/id.ts';
import type { Network } from '../../domain/networks.ts';
import type { KnownPayout } from '../../domain/refund-payout.ts';
import type { Refund } from '../../domain/refund.ts';
import { sentence, type Sentence } from '../../domain/sentence.ts';
import { ChainUnavailableError, type ChainSource } from '../../rails/chain.ts';
import type { SignedTransaction } from '../../rails/utxo/signed.ts';
import { lockCursor } from '../../store/chains/chain.ts';
import type { Trx } from '../../store/database.ts';
import { wake } from '../../store/wake.ts';
import { beingPaid, dropPayouts, knownPayouts, makeCertain, savePayouts } from '../../store/refunds/refund-payouts.ts';
import { lockRefund } from '../../store/refunds/refunds.ts';
import {
  refundsOfSentPayout,
  refuseSentPayout,
  saveSentPayout,
  unminedSentPayouts,
  type SentTransaction,
} from '../../store/refunds/sent-payouts.ts';
import { recordPeoplesAudit } from '../audit.ts';
import type { App } from '../context.ts';
import { payingOutputs, type ShownTransaction } from './check-signed.ts';
import { auditedRefund } from './save-refund.ts';

export type Kept =
  | { readonly kind: 'kept' }
  /** The same transaction was kept before, and already pays the refunds. */
  | { readonly kind: 'known'; readonly payouts: readonly KnownPayout[] }
  /** A refund was cancelled or is being paid meanwhile. */
  | { readonly kind: 'refused'; readonly message: Sentence };

/** How many transactions are sent again in a round. */
const MAX_AGAIN = 100;

/**
 * Keeps a signed transaction before it is sent: from here on it pays its refunds, so that none of them is cancelled,
 * expires or is shown for signing meanwhile, and it is sent even if the process ends now.
 */
export function keepSent(
  app: App,
  shown: ShownTransaction,
  signed: SignedTransaction,
  transaction: SentTransaction,
): Promise<Kept> {
  const { network, hash } = transaction;
  const { refunds } = shown;
  const ids = refunds.map(({ id }) => id);
  return app.db.transaction().execute(async (trx): Promise<Kept> => {
    // One process at a time writes payouts, like the chain's follower.
    await lockCursor(trx, network);
    const locked: Refund[] = [];
    for (const id of ids.toSorted()) {
      const refund = await lockRefund(trx, id);
      if (refund?.status !== 'pending') return changed(id);
      locked.push(refund);
    }
    const [paid] = await beingPaid(trx, ids);
    if (paid !== undefined) {
      const payouts = payoutsBy(await knownPayouts(trx, ids), ids, hash);
      return payouts.length > 0 ? { kind: 'known', payouts } : changed(paid);
    }
    const now = app.clock();
    await saveSentPayout(trx, ids, transaction, now);
    const spends = signed.inputs.map(({ txid, vout }) => `${txid}:${vout}`);
    const payouts = [...payingOutputs(shown, signed.outputs)].flatMap(([index, refundId]) => {
      const asset = locked.find(({ id }) => id === refundId)?.asset;
      const row = { refundId, network, transactionHash: hash, index, spends, blockHeight: null, isGuess: false };
      return asset === undefined ? [] : [{ ...row, asset }];
    });
    await savePayouts(trx, payouts, now);
    for (const refund of locked) await auditSent(app, trx, refund, hash);
    return { kind: 'kept' };
  });
}

/** The transaction's payouts of these refunds if it pays all of them and is not dropped; otherwise none. */
export function payoutsBy(
  known: readonly KnownPayout[],
  refundIds: readonly string[],
  hash: string,
): readonly KnownPayout[] {
  const own = known.filter(({ transactionHash, state }) => transactionHash === hash && state !== 'dropped');
  return refundIds.every((id) => own.some(({ refundId }) => refundId === id)) ? own : [];
}

function changed(id: string): Kept {
  return { kind: 'refused', message: sentence('refund_just_changed', { refund: encodeId('refund', id) }) };
}

/**
 * Records a wallet's report that it sent this transaction for a refund. From here on it pays the refund, which cannot
 * be cancelled and made anew until a block shows the transaction or no node knows it.
 */
export function keepReported(app: App, refund: Refund, hash: string): Promise<Kept> {
  const { id, network, asset } = refund;
  return app.db.transaction().execute(async (trx): Promise<Kept> => {
    await lockCursor(trx, network);
    const locked = await lockRefund(trx, id);
    if (locked === null) return changed(id);
    await saveSentPayout(trx, [id], { network, hash, bytes: null }, app.clock());
    await makeCertain(trx, { refundId: id, network, transactionHash: hash });
    const known = (await knownPayouts(trx, [id])).find(({ transactionHash }) => transactionHash === hash);
    if (known?.state !== 'block') {
      // The place in its block is unknown. Below zero it differs from all places, and by refund.
      const index = known?.index ?? -(await refundsOfSentPayout(trx, network, hash)).length;
      const row = { refundId: id, network, asset, transactionHash: hash, index, spends: [] };
      await savePayouts(trx, [{ ...row, blockHeight: null, isGuess: false }], app.clock());
    }
    await auditSent(app, trx, locked, hash);
    return { kind: 'kept' };
  });
}

async function auditSent(app: App, trx: Trx, refund: Refund, hash: string): Promise<void> {
  const change = auditedRefund('refund.send', refund);
  await recordPeoplesAudit(app, trx, { ...change, after: { ...change.after, transaction_hash: hash } });
  await wake(trx, ['payments', refund.paymentId]);
}

/** Undoes `keepSent` after the node refused the transaction: its refunds can be signed again. */
export async function takeBackSent(
  app: Pick<App, 'db' | 'clock'>,
  network: Network,
  hash: string,
  reason: string,
): Promise<void> {
  await app.db.transaction().execute(async (trx) => {
    await lockCursor(trx, network);
    await refuseSentPayout(trx, network, hash, reason);
    await dropPayouts(trx, network, [hash], app.clock());
    for (const { paymentId } of await refundsOfSentPayout(trx, network, hash)) await wake(trx, ['payments', paymentId]);
  });
}

/**
 * Sends again the kept transactions that are neither in a block nor in the mempool (`waiting`): the process ended
 * before it sent them, no node answered, or the node lost its mempool.
 */
export async function sendAgain(app: App, source: ChainSource, waiting: ReadonlySet<string>): Promise<void> {
  const { network, spending } = source;
  if (spending === undefined || spending === null) return;
  const missing = (await unminedSentPayouts(app.db, network, MAX_AGAIN)).filter(({ hash }) => !waiting.has(hash));
  try {
    for (const { hash, hex } of missing) {
      const outcome = await spending.send(hex);
      if (outcome.kind === 'refused') await takeBackSent(app, network, hash, outcome.reason);
    }
  } catch (error) {
    // The sender was already told that no node accepts the transaction; blocks are followed nevertheless.
    if (!(error instanceof ChainUnavailableError)) throw error;
  }
}
