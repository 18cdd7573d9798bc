import { timestamp, type Database, type Trx } from '../database.ts';
import type { NewRow } from '../tables.ts';

/** A sign-in that waits for its second step, or for a passkey that says who it is. */
export interface SignIn {
  /** Null: nobody yet. */
  readonly personId: string | null;
  readonly challenge: string | null;
}

export async function insertSignIn(
  executor: Database | Trx,
  tokenHash: Buffer,
  signIn: SignIn,
  now: number,
): Promise<void> {
  await executor
    .insertInto('sign_ins')
    .values({
      token_hash: tokenHash,
      person_id: signIn.personId,
      challenge: signIn.challenge,
      created_at: new Date(now),
    } satisfies NewRow<'sign_ins'>)
    .execute();
}

/** The one that was begun after `since`; null when there is none any more. */
export async function findSignIn(executor: Database | Trx, tokenHash: Buffer, since: number): Promise<SignIn | null> {
  const row = await executor
    .selectFrom('sign_ins')
    .select(['person_id', 'challenge'])
    .where('token_hash', '=', tokenHash)
    .where('created_at', '>', timestamp(since))
    .executeTakeFirst();
  return row === undefined ? null : { personId: row.person_id, challenge: row.challenge };
}

/** Sets or, with null, takes the challenge; answers the one before. */
export async function setSignInChallenge(db: Database, tokenHash: Buffer, challenge: string | null): Promise<void> {
  await db.updateTable('sign_ins').set({ challenge }).where('token_hash', '=', tokenHash).execute();
}

/** Ends it; false when somebody else did. */
export async function deleteSignIn(executor: Database | Trx, tokenHash: Buffer): Promise<boolean> {
  const { numDeletedRows } = await executor
    .deleteFrom('sign_ins')
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Whose browser it is, by the hash of its token; null for one that nobody signed in with. */
export async function findKnownBrowser(executor: Database | Trx, tokenHash: Buffer): Promise<string | null> {
  const row = await executor
    .selectFrom('known_browsers')
    .select('person_id')
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst();
  return row?.person_id ?? null;
}

export async function saveKnownBrowser(trx: Trx, tokenHash: Buffer, personId: string, now: number): Promise<void> {
  const used = new Date(now);
  await trx
    .insertInto('known_browsers')
    .values({ token_hash: tokenHash, person_id: personId, last_used_at: used } satisfies NewRow<'known_browsers'>)
    .onConflict((conflict) => conflict.column('token_hash').doUpdateSet({ person_id: personId, last_used_at: used }))
    .execute();
}

/** Forgets the browsers of a person, except the one with this token's hash. */
export async function forgetKnownBrowsers(trx: Trx, personId: string, kept: Buffer | null = null): Promise<void> {
  const own = trx.deleteFrom('known_browsers').where('person_id', '=', personId);
  await (kept === null ? own : own.where('token_hash', '!=', kept)).execute();
}
