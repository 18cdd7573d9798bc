import type { Database, Trx } from '../database.ts';
import { timestamp } from '../database.ts';
import type { LinkPurpose } from '../schema/people.ts';
import type { NewRow } from '../tables.ts';

/** A one-time link, found by the SHA-256 of its token. */
export interface AccountLink {
  readonly purpose: LinkPurpose;
  /** Null at set-up. */
  readonly personId: string | null;
  readonly expiresAt: number;
  readonly usedAt: number | null;
}

export async function insertLink(
  trx: Trx,
  tokenHash: Buffer,
  link: Omit<AccountLink, 'usedAt'>,
  now: number,
): Promise<void> {
  await trx
    .insertInto('account_links')
    .values({
      token_hash: tokenHash,
      purpose: link.purpose,
      person_id: link.personId,
      created_at: new Date(now),
      expires_at: new Date(link.expiresAt),
    } satisfies NewRow<'account_links', 'used_at'>)
    .execute();
}

export async function findLink(executor: Database | Trx, tokenHash: Buffer): Promise<AccountLink | null> {
  const row = await executor
    .selectFrom('account_links')
    .select(['purpose', 'person_id', 'expires_at', 'used_at'])
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst();
  return row === undefined
    ? null
    : { purpose: row.purpose, personId: row.person_id, expiresAt: row.expires_at, usedAt: row.used_at };
}

/** Uses an open link up; false when somebody else was first, or its hour is over. */
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
