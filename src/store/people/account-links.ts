import { timestamp, type Database, type Trx } from '../database.ts';
import { fields, toRow, type Stored } from '../rows.ts';

/** A one-time link, found by the SHA-256 of its token. */
export type AccountLink = Omit<Stored<'account_links'>, 'tokenHash' | 'createdAt'>;

export async function insertLink(
  trx: Trx,
  tokenHash: Buffer,
  link: Omit<AccountLink, 'usedAt'>,
  now: number,
): Promise<void> {
  await trx
    .insertInto('account_links')
    .values(toRow('account_links', { ...link, tokenHash, createdAt: now, usedAt: null }))
    .execute();
}

export async function findLink(executor: Database | Trx, tokenHash: Buffer): Promise<AccountLink | null> {
  const row = await executor
    .selectFrom('account_links')
    .select(fields('account_links', { without: ['token_hash', 'created_at'] }))
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst();
  return row ?? null;
}

/** Uses up an open link; false if it was used before or has expired. */
export async function useLink(trx: Trx, tokenHash: Buffer, now: number): Promise<boolean> {
  const row = await trx
    .updateTable('account_links')
    .set({ used_at: new Date(now) })
    .where('token_hash', '=', tokenHash)
    .where('used_at', 'is', null)
    .where('expires_at', '>', timestamp(now))
    .returning('purpose')
    .executeTakeFirst();
  return row !== undefined;
}

/** Closes a person's open links. */
export async function closeLinks(trx: Trx, personId: string, now: number): Promise<void> {
  await trx
    .updateTable('account_links')
    .set({ used_at: new Date(now) })
    .where('person_id', '=', personId)
    .where('used_at', 'is', null)
    .execute();
}
