import { OUTAGE_STATUSES } from '../../domain/shop-message.ts';
import { inTransaction } from '../in-transaction.ts';
import type { App } from '../context.ts';
import { recordAttempts, type AttemptRecord } from '../../store/webhooks/delivery-attempts.ts';
import { endLanes, lanesOf, lockLanes, moveOn, strayLanes } from '../../store/webhooks/message-queue.ts';

/**
 * Records attempts to deliver messages, and lets the next ones about the same invoices go: in one transaction, so that
 * no message is sent before the one ahead of it is known to have ended.
 */
export async function recordMessages(app: App, records: readonly AttemptRecord[]): Promise<void> {
  await inTransaction(app, async (trx) => {
    const lanes = await lanesOf(
      trx,
      records.map(({ deliveryId }) => deliveryId),
    );
    if (lanes.length > 0) await lockLanes(trx, lanes);
    await recordAttempts(trx, records, { isFlushed: true });
    if (lanes.length === 0) return;
    const failed = records.flatMap(({ deliveryId: id, next, response }) =>
      next.kind === 'again' ? [{ id, nextAttemptAt: next.at, isShopDown: isDown(response?.status ?? null) }] : [],
    );
    await moveOn(trx, lanes, { failed, now: app.clock() });
  });
}

/** Whether the shop as a whole gave no answer. */
function isDown(status: number | null): boolean {
  return status === null || OUTAGE_STATUSES.includes(status);
}

/** The most lanes that are put right at once. */
const MAX_STRAY = 1_000;

/** Moves on what nobody else would: rare, see `strayLanes`. */
export async function moveStrayMessages(app: App): Promise<void> {
  const { stuck, closed } = await strayLanes(app.db, MAX_STRAY);
  for (const endpointId of closed) await inTransaction(app, (trx) => endLanes(trx, endpointId));
  if (stuck.length === 0) return;
  await inTransaction(app, async (trx) => {
    await lockLanes(trx, stuck);
    await moveOn(trx, stuck, { failed: [], now: app.clock() });
  });
}
