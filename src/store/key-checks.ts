import type { Database, Trx } from './database.ts';
import { insertRows } from './rows.ts';

/** The key of webhook secrets and one-time codes. */
const SEALING = 'sealing';

/**
 * A text sealed by the database's key, which another key cannot open; null if no key was used on this database yet.
 * `lock`: until the transaction ends, no other key becomes the database's (`share`), or also nobody seals (`update`).
 */
export async function findKeyCheck(
  executor: Database | Trx,
  lock: 'none' | 'share' | 'update' = 'none',
): Promise<Buffer | null> {
  const found = executor.selectFrom('key_checks').select('sealed').where('name', '=', SEALING);
  const locked = { none: found, share: found.forShare(), update: found.forUpdate() }[lock];
  return (await locked.executeTakeFirst())?.sealed ?? null;
}

/** Keeps the check of a database's first key. If several processes begin at once, one of them saves it. */
export async function saveFirstKeyCheck(db: Database, sealed: Buffer): Promise<void> {
  await insertRows(db, 'key_checks', [{ name: SEALING, sealed }], { conflict: {} });
}

/** Replaces the database's key check by another key's. */
export async function replaceKeyCheck(executor: Database | Trx, sealed: Buffer): Promise<void> {
  const conflict = { by: ['name'], set: { sealed } } as const;
  await insertRows(executor, 'key_checks', [{ name: SEALING, sealed }], { conflict });
}
