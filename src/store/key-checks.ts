import type { Database, Trx } from './database.ts';
import { toRow } from './rows.ts';

/** The key of webhook secrets and one-time codes. */
const SEALING = 'sealing';

/** A text sealed by the database's key, which another key cannot open; null if no key was used on this database yet. */
export async function findKeyCheck(db: Database): Promise<Buffer | null> {
  const row = await db.selectFrom('key_checks').select('sealed').where('name', '=', SEALING).executeTakeFirst();
  return row?.sealed ?? null;
}

/** Keeps the check of a database's first key. If several processes begin at once, one of them saves it. */
export async function saveFirstKeyCheck(db: Database, sealed: Buffer): Promise<void> {
  await db
    .insertInto('key_checks')
    .values(toRow('key_checks', { name: SEALING, sealed }))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Replaces the database's key check by another key's. */
export async function replaceKeyCheck(executor: Database | Trx, sealed: Buffer): Promise<void> {
  await executor
    .insertInto('key_checks')
    .values(toRow('key_checks', { name: SEALING, sealed }))
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ sealed }))
    .execute();
}
