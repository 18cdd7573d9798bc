import type { Database, Trx } from './database.ts';
import { toRow } from './rows.ts';

/** The key of webhook secrets and one-time codes. */
const SEALING = 'sealing';

/** A text sealed by the database's key, which another key cannot open; null: no key was used on this database yet. */
export async function findKeyCheck(db: Database): Promise<Buffer | null> {
  const row = await db.selectFrom('key_checks').select('sealed').where('name', '=', SEALING).executeTakeFirst();
  return row?.sealed ?? null;
}

/** Keeps the check of a database's first key. Of several processes that begin at once, one does. */
export async function saveFirstKeyCheck(db: Database, sealed: Buffer): Promise<void> {
  await db
    .insertInto('key_checks')
    .values(toRow('key_checks', { name: SEALING, sealed }))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Makes another key the database's. */
export async function replaceKeyCheck(executor: Database | Trx, sealed: Buffer): Promise<void> {
  await executor
    .insertInto('key_checks')
    .values(toRow('key_checks', { name: SEALING, sealed }))
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ sealed }))
    .execute();
}
