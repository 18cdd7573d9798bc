import { sql } from 'kysely';
import type { MailContent } from '../../domain/mail-content.ts';
import { NOTIFICATIONS, type Notification } from '../../domain/notification.ts';
import { affectedRows, timestamp, type Database, type Trx } from '../database.ts';
import { toRow } from '../rows.ts';
import type { MailOutcome } from '../schema/mails.ts';

/** A mail to one person. */
export interface NewMail {
  readonly id: string;
  readonly personId: string;
  /** A second mail to the same person with the same key is left out. */
  readonly mailKey: string;
  readonly content: MailContent;
  readonly giveUpAt: number;
}

/** Saves mails to be sent, except to people who have one with the same key. */
export async function insertMails(trx: Trx, mails: readonly NewMail[], now: number): Promise<void> {
  if (mails.length === 0) return;
  const waiting = { createdAt: now, nextAttemptAt: now, attempts: 0, outcome: null, endedAt: null, problem: null };
  const rows = mails.map((mail) => toRow('mails', { ...mail, ...waiting, kind: mail.content.kind }));
  await trx
    .insertInto('mails')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['person_id', 'occasion']).doNothing())
    .execute();
}

/** A mail claimed by this process, to be sent and recorded before its lease ends. */
export interface DueMail {
  readonly id: string;
  readonly personId: string;
  readonly content: MailContent;
  readonly createdAt: number;
  readonly giveUpAt: number;
  /** The number of attempts, this one included. */
  readonly attempts: number;
  readonly leaseUntil: number;
}

/** Claims mails that are due, the longest waiting first; returns them in the order in which they were saved. */
export async function claimMails(
  db: Database,
  { now, leaseUntil, limit }: { readonly now: number; readonly leaseUntil: number; readonly limit: number },
): Promise<readonly DueMail[]> {
  const { rows } = await sql<Omit<DueMail, 'leaseUntil'>>`
    update mails set next_attempt_at = ${timestamp(leaseUntil)}, attempts = attempts + 1
    where id = any (array(
      select id from mails where next_attempt_at <= ${timestamp(now)} order by next_attempt_at, id
      limit ${limit} for update skip locked))
    returning id, person_id as "personId", content, created_at as "createdAt", give_up_at as "giveUpAt", attempts`.execute(
    db,
  );
  return rows
    .map((row) => ({ ...row, leaseUntil }))
    .toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
}

/** Ends a mail, unless the lease was lost. */
export async function endMail(
  db: Database,
  { id, leaseUntil }: DueMail,
  ended: { readonly outcome: MailOutcome; readonly problem: string | null; readonly at: number },
): Promise<void> {
  await db
    .updateTable('mails')
    .set({
      next_attempt_at: null,
      content: '{}',
      outcome: ended.outcome,
      problem: ended.problem,
      ended_at: new Date(ended.at),
    })
    .where('id', '=', id)
    .where('next_attempt_at', '=', timestamp(leaseUntil))
    .execute();
}

/** Schedules another attempt of a mail, unless the lease was lost. */
export async function retryMail(db: Database, { id, leaseUntil }: DueMail, at: number, problem: string): Promise<void> {
  await db
    .updateTable('mails')
    .set({ next_attempt_at: new Date(at), problem })
    .where('id', '=', id)
    .where('next_attempt_at', '=', timestamp(leaseUntil))
    .execute();
}

/** The people who got, or will get, the mail with a key. */
export async function recipientsOf(executor: Database | Trx, mailKey: string): Promise<readonly string[]> {
  const rows = await executor
    .selectFrom('mails')
    .select('person_id')
    .where('occasion', '=', mailKey)
    .where((where) => where.or([where('outcome', 'is', null), where('outcome', '!=', 'dropped')]))
    .execute();
  return rows.map((row) => row.person_id);
}

/** Whether the person was invited again since. */
export async function hasNewerInvitation(db: Database | Trx, { id, personId }: DueMail): Promise<boolean> {
  const row = await db
    .selectFrom('mails')
    .select('id')
    .where('person_id', '=', personId)
    .where('kind', '=', 'invitation')
    .where('id', '>', id)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export async function insertUnsubscribe(
  trx: Trx,
  tokenHash: Buffer,
  {
    personId,
    notification,
    now,
  }: { readonly personId: string; readonly notification: Notification; readonly now: number },
): Promise<void> {
  await trx
    .insertInto('mail_unsubscribes')
    .values(toRow('mail_unsubscribes', { tokenHash, personId, notification, createdAt: now, usedAt: null }))
    .execute();
}

/** The notification that a token of a mail switches off. */
export interface Unsubscribe {
  readonly personId: string;
  readonly notification: Notification;
  readonly usedAt: number | null;
}

export async function findUnsubscribe(executor: Database | Trx, tokenHash: Buffer): Promise<Unsubscribe | null> {
  const row = await executor
    .selectFrom('mail_unsubscribes')
    .select(['person_id as personId', 'notification', 'used_at as usedAt'])
    .where('token_hash', '=', tokenHash)
    // Former versions gave out links that switched off mails about changed wallets.
    .where('notification', 'in', NOTIFICATIONS)
    .executeTakeFirst();
  return row ?? null;
}

/** Uses up a token; false if it was used before. */
export async function useUnsubscribe(trx: Trx, tokenHash: Buffer, now: number): Promise<boolean> {
  const row = await trx
    .updateTable('mail_unsubscribes')
    .set({ used_at: new Date(now) })
    .where('token_hash', '=', tokenHash)
    .where('used_at', 'is', null)
    .returning('person_id')
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Deletes mails that ended before a time, occurrences that had ended before it, and tokens unused for a long time;
 * returns the largest number of deleted rows of one kind.
 */
export async function purgeMails(
  db: Database,
  before: { readonly ended: number; readonly tokens: number },
  limit: number,
): Promise<number> {
  const purges = [
    sql`delete from mails where id in (
      select id from mails where ended_at < ${timestamp(before.ended)} limit ${limit})`,
    sql`delete from attention_occurrences where id in (
      select id from attention_occurrences where ended_at < ${timestamp(before.ended)} limit ${limit})`,
    sql`delete from mail_unsubscribes where token_hash in (
      select token_hash from mail_unsubscribes where created_at < ${timestamp(before.tokens)} limit ${limit})`,
  ];
  return Math.max(...(await Promise.all(purges.map((purge) => affectedRows(db, purge)))));
}
