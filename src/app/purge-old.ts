import { purgeDeliveriesBefore } from '../store/deliveries.ts';
import { purgeAnswersBefore } from '../store/answers.ts';
import type { App } from './context.ts';
import { IDEMPOTENCY_LIFETIME_MS } from './idempotency.ts';

/** Deliveries are kept for 90 days. */
const DELIVERY_LIFETIME_MS = 90 * 24 * 60 * 60_000;
const BATCH_ROWS = 2_000;

/**
 * Deletes a batch of deliveries and idempotent answers that are older than their lifetime; true while there may be
 * more.
 */
export async function purgeOld(app: App): Promise<boolean> {
  const now = app.clock();
  const deliveries = await purgeDeliveriesBefore(app.db, now - DELIVERY_LIFETIME_MS, BATCH_ROWS);
  const answers = await purgeAnswersBefore(app.db, now - IDEMPOTENCY_LIFETIME_MS, BATCH_ROWS);
  return deliveries === BATCH_ROWS || answers === BATCH_ROWS;
}
