import { sql } from 'kysely';
import { affectedRows, timestamp, type Database, type Trx } from '../database.ts';
import { notifySessions } from '../notifications.ts';
import { deleteRows, findRow, findRows, insertRows, not, updateRows, type Stored, above } from '../rows.ts';
import type { ChallengeUse } from '../schema/people.ts';

type Row = Omit<Stored<'sessions'>, 'tokenHash'>;

/** The session of one browser. */
export interface Session extends Omit<Row, 'challenge' | 'challengeFor' | 'challengeUntil'> {
  /** The WebAuthn challenge that awaits its answer. */
  readonly challenge: { readonly text: string; readonly use: ChallengeUse; readonly until: number } | null;
}

const SESSION = { without: ['token_hash'] } as const;
const NO_CHALLENGE = { challenge: null, challengeFor: null, challengeUntil: null };

function sessionFromRow({ challenge: text, challengeFor: use, challengeUntil: until, ...session }: Row): Session {
  return { ...session, challenge: text === null || use === null || until === null ? null : { text, use, until } };
}

export async function insertSession(trx: Trx, tokenHash: Buffer, session: Omit<Session, 'challenge'>): Promise<void> {
  await insertRows(trx, 'sessions', [{ ...session, ...NO_CHALLENGE, tokenHash }]);
  await updateRows(trx, 'people', { id: session.personId }, { lastSeenAt: session.signedInAt });
}

export async function findSession(executor: Database | Trx, tokenHash: Buffer): Promise<Session | null> {
  const row = await findRow(executor, 'sessions', { tokenHash }, SESSION);
  return row && sessionFromRow(row);
}

/** Records a session's use and its client's address. Locks the person first, like whatever ends sessions. */
export async function touchSession(db: Database, id: string, now: number, ip: string): Promise<void> {
  await sql`
    with person as (
      select p.id from people p where p.id = (select person_id from sessions where id = ${id}) for no key update
    ), touched as (
      update sessions set last_used_at = greatest(last_used_at, ${timestamp(now)}), ip = ${ip}
      from person where sessions.id = ${id} and sessions.person_id = person.id returning person_id
    )
    update people set last_seen_at = ${timestamp(now)} from touched where people.id = touched.person_id`.execute(db);
}

/** Replaces a session's token. False if the session has ended in the meantime. */
export async function renewSession(trx: Trx, id: string, tokenHash: Buffer, provedAt: number): Promise<boolean> {
  return (await updateRows(trx, 'sessions', { id }, { ...NO_CHALLENGE, tokenHash, provedAt })) > 0;
}

export async function setChallenge(
  db: Database,
  id: string,
  { text: challenge, use: challengeFor, until: challengeUntil }: NonNullable<Session['challenge']>,
): Promise<void> {
  await updateRows(db, 'sessions', { id }, { challenge, challengeFor, challengeUntil });
}

/** Returns and deletes the challenge, so that it is answered only once; null if there is none for this use. */
export async function takeChallenge(db: Database, id: string, use: ChallengeUse, now: number): Promise<string | null> {
  const { rows } = await sql<{ challenge: string }>`
    with before as (select id, challenge from sessions
      where id = ${id} and challenge_for = ${use} and challenge_until > ${timestamp(now)} for update)
    update sessions set challenge = null, challenge_for = null, challenge_until = null
    from before where sessions.id = before.id returning before.challenge as challenge`.execute(db);
  return rows[0]?.challenge ?? null;
}

/** A person's sessions, newest first. */
export async function listSessions(executor: Database | Trx, personId: string): Promise<readonly Session[]> {
  return (await findRows(executor, 'sessions', { personId }, { ...SESSION, order: ['id desc'] })).map(sessionFromRow);
}

/** Ends one session of a person; false if there is no such session. */
export async function deleteSession(trx: Trx, personId: string, id: string): Promise<boolean> {
  const deleted = await deleteRows(trx, 'sessions', { id, personId });
  await notifySessions(trx, personId);
  return deleted > 0;
}

/** Ends all sessions of a person except `kept`, and sign-ins that wait for their second step. */
export async function deleteSessions(trx: Trx, personId: string, kept: string | null = null): Promise<void> {
  await deleteRows(trx, 'sessions', { personId, ...(kept === null ? {} : { id: not(kept) }) });
  await deleteRows(trx, 'sign_ins', { personId });
  await notifySessions(trx, personId);
}

/** Purges up to `limit` expired rows of each kind; returns the largest number deleted of one kind. */
export async function purgeSignIns(
  db: Database,
  before: {
    readonly signedIn: number;
    readonly lastUsed: number;
    readonly signIns: number;
    readonly links: number;
    readonly browsers: number;
  },
  limit: number,
): Promise<number> {
  const purges = [
    sql`delete from sessions where id in (select id from sessions
      where signed_in_at < ${timestamp(before.signedIn)} or last_used_at < ${timestamp(before.lastUsed)} limit ${limit})`,
    sql`delete from sign_ins where token_hash in (select token_hash from sign_ins
      where created_at < ${timestamp(before.signIns)} limit ${limit})`,
    sql`delete from account_links where token_hash in (select token_hash from account_links
      where expires_at < ${timestamp(before.links)} limit ${limit})`,
    sql`delete from known_browsers where token_hash in (select token_hash from known_browsers
      where last_used_at < ${timestamp(before.browsers)} limit ${limit})`,
  ];
  return Math.max(...(await Promise.all(purges.map((purge) => affectedRows(db, purge)))));
}

/** A sign-in that waits for its second step, or for a passkey that identifies its person. */
export type SignIn = Pick<Stored<'sign_ins'>, 'personId' | 'challenge'>;

export async function insertSignIn(
  executor: Database | Trx,
  tokenHash: Buffer,
  signIn: SignIn,
  now: number,
): Promise<void> {
  await insertRows(executor, 'sign_ins', [{ ...signIn, tokenHash, createdAt: now }]);
}

/** The sign-in of a token, if it was begun after `since`; null if it has ended. */
export async function findSignIn(executor: Database | Trx, tokenHash: Buffer, since: number): Promise<SignIn | null> {
  const begun = { tokenHash, createdAt: above(since) };
  return findRow(executor, 'sign_ins', begun, { without: ['token_hash', 'created_at'] });
}

/** Sets the challenge of a sign-in; null removes it. */
export async function setSignInChallenge(db: Database, tokenHash: Buffer, challenge: string | null): Promise<void> {
  await updateRows(db, 'sign_ins', { tokenHash }, { challenge });
}

/** Ends a sign-in; false if it had ended already. */
export async function deleteSignIn(executor: Database | Trx, tokenHash: Buffer): Promise<boolean> {
  return (await deleteRows(executor, 'sign_ins', { tokenHash })) > 0;
}

/** The person who signed in with a browser, by the hash of its token; null if nobody did. */
export async function findKnownBrowser(executor: Database | Trx, tokenHash: Buffer): Promise<string | null> {
  return (await findRow(executor, 'known_browsers', { tokenHash }))?.personId ?? null;
}

export async function saveKnownBrowser(trx: Trx, tokenHash: Buffer, personId: string, now: number): Promise<void> {
  const row = { tokenHash, personId, lastUsedAt: now };
  await insertRows(trx, 'known_browsers', [row], { conflict: { by: ['tokenHash'], set: row } });
}

/** Forgets the browsers of a person, except the one with this token's hash. */
export async function forgetKnownBrowsers(trx: Trx, personId: string, kept: Buffer | null = null): Promise<void> {
  await deleteRows(trx, 'known_browsers', { personId, ...(kept === null ? {} : { tokenHash: not(kept) }) });
}

/** A one-time link, found by the SHA-256 of its token. */
export type AccountLink = Omit<Stored<'account_links'>, 'tokenHash' | 'createdAt'>;

export async function insertLink(
  trx: Trx,
  tokenHash: Buffer,
  link: Omit<AccountLink, 'usedAt'>,
  now: number,
): Promise<void> {
  await insertRows(trx, 'account_links', [{ ...link, tokenHash, createdAt: now, usedAt: null }]);
}

export async function findLink(executor: Database | Trx, tokenHash: Buffer): Promise<AccountLink | null> {
  return findRow(executor, 'account_links', { tokenHash }, { without: ['token_hash', 'created_at'] });
}

/** Uses up an open link; false if it was used before or has expired. */
export async function useLink(trx: Trx, tokenHash: Buffer, now: number): Promise<boolean> {
  const open = { tokenHash, usedAt: null, expiresAt: above(now) };
  return (await updateRows(trx, 'account_links', open, { usedAt: now })) > 0;
}

/** Closes a person's open links. */
export async function closeLinks(trx: Trx, personId: string, now: number): Promise<void> {
  await updateRows(trx, 'account_links', { personId, usedAt: null }, { usedAt: now });
}
