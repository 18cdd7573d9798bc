import { recordAttempts } from '../../store/webhooks/delivery-attempts.ts';
import { createBatcher } from '../batch.ts';
import type { App } from '../context.ts';
import { wasRolledBack } from '../idempotency.ts';
import { closeGone, type Attempted } from './attempt-delivery.ts';
import { MAX_HELD } from './held-deliveries.ts';

type Recorded = { readonly kind: 'recorded' } | { readonly kind: 'fault'; readonly error: unknown };

export type Recorder = ReturnType<typeof createRecorder>;

/**
 * Saves attempts that end together in one statement, one statement at a time: fewer, larger statements cost the
 * database less.
 */
export function createRecorder(app: App) {
  return createBatcher<Attempted, Recorded>({ maxInFlight: 1, maxBatch: 200, maxWaiting: MAX_HELD }, async (batch) => {
    const outcomes = await recordTogether(app, batch);
    await closeGone(app, batch);
    return outcomes;
  });
}

/** One record that the database refuses must not fail the others: then each is saved alone. */
async function recordTogether(app: App, batch: readonly Attempted[]): Promise<readonly Recorded[]> {
  const records = batch.map((attempted) => attempted.record);
  try {
    await recordAttempts(app.db, records);
    return records.map(() => ({ kind: 'recorded' }));
  } catch (error) {
    if (records.length === 1 || !wasRolledBack(error)) throw error;
  }
  const outcomes: Recorded[] = [];
  for (const record of records) {
    outcomes.push(
      await recordAttempts(app.db, [record]).then(
        () => ({ kind: 'recorded' as const }),
        (error: unknown) => ({ kind: 'fault' as const, error }),
      ),
    );
  }
  return outcomes;
}
