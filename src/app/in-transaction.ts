import type { Trx } from '../store/database.ts';
import type { App } from './context.ts';
import type { Activity } from './observer.ts';

const EMITTED = Symbol('told after the commit');

/** An open transaction in which things happen that are told. */
export type ObservedTrx = Trx & { readonly [EMITTED]: Activity[] };

/** Does `work` in one transaction, and tells what happened in it after the commit: what was undone never happened. */
export async function inTransaction<Result>(
  app: Pick<App, 'db' | 'observer'>,
  work: (trx: ObservedTrx) => Promise<Result>,
): Promise<Result> {
  const activities: Activity[] = [];
  const result = await app.db.transaction().execute((trx) => work(Object.assign(trx, { [EMITTED]: activities })));
  for (const activity of activities) app.observer?.(activity);
  return result;
}

/** To be told when the transaction is committed. */
export function emitAfterCommit(trx: ObservedTrx, ...activities: readonly Activity[]): void {
  trx[EMITTED].push(...activities);
}
