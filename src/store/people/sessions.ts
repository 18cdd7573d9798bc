import { sql } from 'kysely';
import { affectedRows, timestamp, type Database, type Trx } from '../database.ts';
import { notifySessions } from '../notifications.ts';
import { fields, toChanges, toRow, type Stored } from '../rows.ts';
import type { ChallengeUse } from '../schema/people.ts';

type Row = Omit<Stored<'sessions'>, 'tokenHash'>;

/** The session of one browser. */
export interface Session extends Omit<Row, 'challenge' | 'challengeFor' | 'challengeUntil'> {
  /** The WebAuthn challenge that awaits its answer. */
  readonly challenge: { readonly text: string; readonly use: ChallengeUse; readonly until: number } | null;
}

const SESSION = fields('sessions', { without: ['token_hash'] });
const NO_CHALLENGE = { challenge: null, challengeFor: null, challengeUntil: null };

function sessionFromRow({ challenge: text, challengeFor: use, challengeUntil: until, ...session }: Row): Session {
  return { ...session, challenge: text === null || use === null || until === null ? null : { text, use, until } };
}

export async function insertSession(trx: Trx, tokenHash: Buffer, session: Omit<Session, 'challenge'>): Promise<void> {
  await trx
    .insertInto('sessions')
    .values(toRow('sessions', { ...session, ...NO_CHALLENGE, tokenHash }))
    .execute();
  await trx
    .updateTable('people')
    .set({ last_seen_at: new Date(session.signedInAt) })
    .where('id', '=', session.personId)
    .execute();
}

export async function findSession(executor: Database | Trx, tokenHash: Buffer): Promise<Session | null> {
  const row = await executor
    .selectFrom('sessions')
    .select(SESSION)
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst();
  return row === undefined ? null : sessionFromRow(row);
}

/** Records a session's use and its client's address. */
export async function touchSession(db: Database, id: string, now: number, ip: string): Promise<void> {
  await sql`
    with touched as (
      update sessions set last_used_at = greatest(last_used_at, ${timestamp(now)}), ip = ${ip} where id = ${id} returning person_id
    )
    update people set last_seen_at = ${timestamp(now)} from touched where people.id = touched.person_id`.execute(db);
}

/** Replaces a session's token. False if the session has ended in the meantime. */
export async function renewSession(trx: Trx, id: string, tokenHash: Buffer, provedAt: number): Promise<boolean> {
  const row = await trx
    .updateTable('sessions')
    .set(toChanges('sessions', { ...NO_CHALLENGE, tokenHash, provedAt }))
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

export async function setChallenge(
  db: Database,
  id: string,
  { text: challenge, use: challengeFor, until: challengeUntil }: NonNullable<Session['challenge']>,
): Promise<void> {
  await db
    .updateTable('sessions')
    .set(toChanges('sessions', { challenge, challengeFor, challengeUntil }))
    .where('id', '=', id)
    .execute();
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
  const rows = await executor
    .selectFrom('sessions')
    .select(SESSION)
    .where('person_id', '=', personId)
    .orderBy('id', 'desc')
    .execute();
  return rows.map(sessionFromRow);
}

/** Ends one session of a person; false if there is no such session. */
export async function deleteSession(trx: Trx, personId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('sessions')
    .where('id', '=', id)
    .where('person_id', '=', personId)
    .executeTakeFirst();
  await notifySessions(trx, personId);
  return numDeletedRows > 0n;
}

/** Ends all sessions of a person except `kept`, and sign-ins that wait for their second step. */
export async function deleteSessions(trx: Trx, personId: string, kept: string | null = null): Promise<void> {
  const own = trx.deleteFrom('sessions').where('person_id', '=', personId);
  await (kept === null ? own : own.where('id', '!=', kept)).execute();
  await trx.deleteFrom('sign_ins').where('person_id', '=', personId).execute();
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
