import type { Trx } from '../store/database.ts';
import type { App } from './context.ts';
import type { Activity } from './observer.ts';

const EMITTED = Symbol('emitted after the commit');

/** An open transaction that collects activities. */
export type ObservedTrx = Trx & { readonly [EMITTED]: Activity[] };

/**
 * Runs `work` in one transaction and emits its activities to the observer after the commit; if it is rolled back,
 * nothing is emitted.
 */
export async function inTransaction<Result>(
  app: Pick<App, 'db' | 'observer'>,
  work: (trx: ObservedTrx) => Promise<Result>,
): Promise<Result> {
  const activities: Activity[] = [];
  const result = await app.db.transaction().execute((trx) => work(Object.assign(trx, { [EMITTED]: activities })));
  for (const activity of activities) app.observer?.(activity);
  return result;
}

/** Emits activities once the transaction is committed. */
export function emitAfterCommit(trx: ObservedTrx, ...activities: readonly Activity[]): void {
  trx[EMITTED].push(...activities);
}
