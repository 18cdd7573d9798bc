import { newId } from '../../src/app/context.ts';
import { matchingAddress } from '../../src/rails/address.ts';
import { encodeId } from '../../src/domain/id.ts';
import type { Payment } from '../../src/domain/payment.ts';
import { REFUND_LIFETIME_MS, type Refund } from '../../src/domain/refund.ts';
import type { RefundStage } from '../../src/domain/refund-stage.ts';
import { dropPayouts, savePayouts, takeBackPayoutsAbove } from '../../src/store/refunds/refund-payouts.ts';
import { insertRefund } from '../../src/store/refunds/refunds.ts';
import type { TestApp } from '../harness.ts';

export const REFUND_ADDRESS = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const HEIGHT = 900_000;

/** The database, and the clock of what is saved there. */
type Where = Pick<TestApp, 'db' | 'clock' | 'random'>;

let hashes = 0;

/** The hash of a transaction of its own. */
export function nextHash(): string {
  return (hashes += 1).toString(16).padStart(64, '0');
}

/** Saves a live refund of a payment in Bitcoin in a stage, with what is on the chain there; its public id. */
export async function saveRefund(
  app: Where,
  payment: Pick<Payment, 'id' | 'projectId' | 'api'>,
  stage: RefundStage,
  {
    hash = nextHash(),
    isGone = false,
    ...facts
  }: Partial<Refund> & { readonly hash?: string; readonly isGone?: boolean } = {},
): Promise<string> {
  app.clock.advance(1);
  const now = app.clock();
  const isEnded = stage === 'completed' || stage === 'failed';
  const refund: Refund = {
    id: newId(app, now),
    projectId: payment.projectId,
    mode: 'live',
    paymentId: payment.id,
    paymentApi: payment.api,
    status: isEnded ? stage : 'pending',
    amountMinor: 1_000n,
    currency: 'USD',
    asset: 'BTC',
    network: 'bitcoin',
    decimals: 8,
    units: 16_666n,
    address: stage === 'waiting_for_address' ? null : REFUND_ADDRESS,
    reason: null,
    failureReason: stage === 'failed' ? 'unpaid' : null,
    transactionHash: stage === 'completed' ? hash : null,
    createdAt: now,
    completedAt: stage === 'completed' ? now : null,
    dueAt: isEnded ? null : now + REFUND_LIFETIME_MS,
    ...facts,
  };
  const { id: refundId, network, asset, address } = refund;
  const payout = { refundId, network, transactionHash: hash, asset, index: 0, spends: [], isGuess: false };
  await app.db.transaction().execute(async (trx) => {
    await insertRefund(trx, refund, address === null ? null : matchingAddress(network, address));
    if (stage !== 'seen' && stage !== 'reorged') return;
    const blockHeight = stage === 'reorged' ? HEIGHT + 1 : isGone ? null : HEIGHT;
    await savePayouts(trx, [{ ...payout, blockHeight }], now);
    if (stage !== 'reorged') return;
    await takeBackPayoutsAbove(trx, network, HEIGHT, now);
    if (isGone) await dropPayouts(trx, network, [hash], now);
  });
  return encodeId('refund', refundId);
}

/** The network is read up to two blocks above that of what was {@link saveRefund}d as seen. */
export async function saveCursor(app: Pick<Where, 'db' | 'clock'>): Promise<void> {
  const at = new Date(app.clock());
  await app.db
    .insertInto('chain_cursors')
    .values({ network: 'bitcoin', height: HEIGHT + 2, hash: 'ab', block_at: at, updated_at: at })
    .execute();
}
