import type { Trx } from '../store/database.ts';
import type { App } from './context.ts';
import type { Happening } from './observer.ts';

const TOLD = Symbol('told after the commit');

/** An open transaction in which things happen that are told. */
export type ObservedTrx = Trx & { readonly [TOLD]: Happening[] };

/** Does `work` in one transaction, and tells what happened in it after the commit: what was undone never happened. */
export async function inTransaction<Result>(
  app: Pick<App, 'db' | 'observer'>,
  work: (trx: ObservedTrx) => Promise<Result>,
): Promise<Result> {
  const happenings: Happening[] = [];
  const result = await app.db.transaction().execute((trx) => work(Object.assign(trx, { [TOLD]: happenings })));
  for (const happening of happenings) app.observer?.(happening);
  return result;
}

/** To be told when the transaction is committed. */
export function tellAfterCommit(trx: ObservedTrx, ...happenings: readonly Happening[]): void {
  trx[TOLD].push(...happenings);
}
