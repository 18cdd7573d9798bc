import { timestamp, type Database, type Trx } from '../database.ts';
import { toRow, type Stored } from '../rows.ts';

/** A sign-in that waits for its second step, or for a passkey that identifies its person. */
export type SignIn = Pick<Stored<'sign_ins'>, 'personId' | 'challenge'>;

export async function insertSignIn(
  executor: Database | Trx,
  tokenHash: Buffer,
  signIn: SignIn,
  now: number,
): Promise<void> {
  await executor
    .insertInto('sign_ins')
    .values(toRow('sign_ins', { ...signIn, tokenHash, createdAt: now }))
    .execute();
}

/** The sign-in of a token, if it was begun after `since`; null if it has ended. */
export async function findSignIn(executor: Database | Trx, tokenHash: Buffer, since: number): Promise<SignIn | null> {
  const row = await executor
    .selectFrom('sign_ins')
    .select(['person_id as personId', 'challenge'])
    .where('token_hash', '=', tokenHash)
    .where('created_at', '>', timestamp(since))
    .executeTakeFirst();
  return row ?? null;
}

/** Sets the challenge of a sign-in; null removes it. */
export async function setSignInChallenge(db: Database, tokenHash: Buffer, challenge: string | null): Promise<void> {
  await db.updateTable('sign_ins').set({ challenge }).where('token_hash', '=', tokenHash).execute();
}

/** Ends a sign-in; false if it had ended already. */
export async function deleteSignIn(executor: Database | Trx, tokenHash: Buffer): Promise<boolean> {
  const { numDeletedRows } = await executor
    .deleteFrom('sign_ins')
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** The person who signed in with a browser, by the hash of its token; null if nobody did. */
export async function findKnownBrowser(executor: Database | Trx, tokenHash: Buffer): Promise<string | null> {
  const row = await executor
    .selectFrom('known_browsers')
    .select('person_id')
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst();
  return row?.person_id ?? null;
}

export async function saveKnownBrowser(trx: Trx, tokenHash: Buffer, personId: string, now: number): Promise<void> {
  const row = toRow('known_browsers', { tokenHash, personId, lastUsedAt: now });
  await trx
    .insertInto('known_browsers')
    .values(row)
    .onConflict((conflict) => conflict.column('token_hash').doUpdateSet(row))
    .execute();
}

/** Forgets the browsers of a person, except the one with this token's hash. */
export async function forgetKnownBrowsers(trx: Trx, personId: string, kept: Buffer | null = null): Promise<void> {
  const own = trx.deleteFrom('known_browsers').where('person_id', '=', personId);
  await (kept === null ? own : own.where('token_hash', '!=', kept)).execute();
}
