import { sql } from 'kysely';
import type { SavedCustomerMail, SavedInvoiceMail, SavedMail } from '../../domain/mail-content.ts';
import { NOTIFICATIONS, type Notification, USUAL_CHOICES, type MailLanguage } from '../../domain/notification.ts';
import { affectedRows, timestamp, type Database, type Trx } from '../database.ts';
import { salt } from '../own-schema.ts';
import { above, findRow, hasRow, insertRows, oneOf, updateRows, findRows, NOT_NULL, type Stored } from '../rows.ts';
import type { MailOutcome } from '../schema/mails.ts';
import type { Membership } from '../../domain/role.ts';

/** Facts of every mail that is to be saved. */
interface NewMailFacts {
  readonly id: string;
  /** A second mail to the same recipient with the same key is left out. */
  readonly mailKey: string;
  readonly giveUpAt: number;
  /** How long the mail waits before it is sent; 0 by default. */
  readonly delayMs?: number;
}

/** A mail to one person, to the customer of a payment, or to the buyer of a payment request's invoice. */
export type NewMail = NewMailFacts &
  (
    | { readonly personId: string; readonly content: SavedMail }
    | { readonly paymentId: string; readonly content: SavedCustomerMail }
    | { readonly requestId: string; readonly content: SavedInvoiceMail }
  );

/** The number of rows of one statement, which takes 65,535 values at most. */
const MAX_ROWS = 2_000;

/** Saves mails to be sent, except to recipients who have one with the same key. */
export async function insertMails(trx: Trx, mails: readonly NewMail[], now: number): Promise<void> {
  const waiting = { createdAt: now, attempts: 0, outcome: null, endedAt: null, problem: null };
  const rows = mails.map(({ delayMs = 0, ...mail }) => ({
    personId: null,
    paymentId: null,
    requestId: null,
    ...mail,
    ...waiting,
    nextAttemptAt: now + delayMs,
    kind: mail.content.kind,
  }));
  for (let start = 0; start < rows.length; start += MAX_ROWS) {
    await insertRows(trx, 'mails', rows.slice(start, start + MAX_ROWS), { conflict: {} });
  }
}

/**
 * The recipient and the key, with a space between them, of each saved mail with one of these keys; only of mails to the
 * customers of these payments if they are given.
 */
export async function keysOfMails(
  executor: Database | Trx,
  keys: readonly string[],
  paymentIds?: readonly string[],
): Promise<ReadonlySet<string>> {
  if (keys.length === 0) return new Set();
  const of = paymentIds === undefined ? {} : { paymentId: oneOf(paymentIds) };
  const rows = await findRows(executor, 'mails', { mailKey: oneOf(keys), ...of });
  return new Set(rows.map(({ personId, paymentId, mailKey }) => `${personId ?? paymentId} ${mailKey}`));
}

/** The mails about the invoice of a payment request, the oldest first, of the time in which mails are kept. */
export async function mailsOfRequest(executor: Database | Trx, requestId: string): Promise<readonly MailOfInvoice[]> {
  const rows = await findRows(executor, 'mails', { requestId }, { order: ['id'] });
  return rows as readonly MailOfInvoice[];
}

/** A mail about an invoice; the content is emptied once it ended. */
export type MailOfInvoice = Omit<Stored<'mails'>, 'kind'> & { readonly kind: SavedInvoiceMail['kind'] };

interface DueMailFacts {
  readonly id: string;
  readonly createdAt: number;
  readonly giveUpAt: number;
  /** The number of attempts, this one included. */
  readonly attempts: number;
  readonly leaseUntil: number;
}

export interface DuePersonMail extends DueMailFacts {
  readonly personId: string;
  readonly paymentId: null;
  readonly requestId: null;
  readonly content: SavedMail;
}

export interface DueCustomerMail extends DueMailFacts {
  readonly personId: null;
  readonly paymentId: string;
  readonly requestId: null;
  readonly content: SavedCustomerMail;
}

export interface DueInvoiceMail extends DueMailFacts {
  readonly personId: null;
  readonly paymentId: null;
  readonly requestId: string;
  readonly content: SavedInvoiceMail;
}

/** A mail claimed by this process, to be sent and recorded before its lease ends. */
export type DueMail = DuePersonMail | DueCustomerMail | DueInvoiceMail;

/** Claims mails that are due, the longest waiting first; returns them in the order in which they were saved. */
export async function claimMails(
  db: Database,
  { now, leaseUntil, limit }: { readonly now: number; readonly leaseUntil: number; readonly limit: number },
): Promise<readonly DueMail[]> {
  const { rows } = await sql<DueMail>`
    update mails set next_attempt_at = ${timestamp(leaseUntil)}, attempts = attempts + 1
    where id = any (array(
      select id from mails where next_attempt_at <= ${timestamp(now)} order by next_attempt_at, id
      limit ${limit} for update skip locked))
    returning id, person_id as "personId", payment_id as "paymentId", payment_request_id as "requestId", content, created_at as "createdAt", give_up_at as "giveUpAt", attempts`.execute(
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
  const { outcome, problem, at: endedAt } = ended;
  const changes = { nextAttemptAt: null, content: {}, outcome, problem, endedAt };
  await updateRows(db, 'mails', { id, nextAttemptAt: leaseUntil }, changes);
}

/** Schedules another attempt of a mail, unless the lease was lost. */
export async function retryMail(db: Database, { id, leaseUntil }: DueMail, at: number, problem: string): Promise<void> {
  await updateRows(db, 'mails', { id, nextAttemptAt: leaseUntil }, { nextAttemptAt: at, problem });
}

/** The people who got, or will get, the mail with a key. */
export async function recipientsOf(executor: Database | Trx, mailKey: string): Promise<readonly string[]> {
  const rows = await executor
    .selectFrom('mails')
    .select('person_id')
    .where('occasion', '=', mailKey)
    .where((where) => where.or([where('outcome', 'is', null), where('outcome', '!=', 'dropped')]))
    .execute();
  return rows.flatMap(({ person_id: personId }) => (personId === null ? [] : [personId]));
}

/** Whether the person was invited again since. */
export async function hasNewerInvitation(db: Database | Trx, { id, personId }: DuePersonMail): Promise<boolean> {
  return hasRow(db, 'mails', { personId, kind: 'invitation', id: above(id) });
}

export async function insertUnsubscribe(
  trx: Trx,
  tokenHash: Buffer,
  { now, ...of }: Omit<Unsubscribe, 'usedAt'> & { readonly now: number },
): Promise<void> {
  const row = { tokenHash, ...of, createdAt: now, usedAt: null };
  await insertRows(trx, 'mail_unsubscribes', [row]);
}

/** The notification that a token of a mail switches off. */
export interface Unsubscribe {
  readonly personId: string;
  readonly notification: Notification;
  /** Null: the kind is not of one project. */
  readonly projectId: string | null;
  readonly usedAt: number | null;
}

export async function findUnsubscribe(executor: Database | Trx, tokenHash: Buffer): Promise<Unsubscribe | null> {
  // Former versions gave out links that switched off mails about changed wallets.
  const wanted = { tokenHash, notification: oneOf(NOTIFICATIONS) };
  return findRow(executor, 'mail_unsubscribes', wanted, { without: ['token_hash', 'created_at'] });
}

/** Uses up a token; false if it was used before. */
export async function useUnsubscribe(trx: Trx, tokenHash: Buffer, now: number): Promise<boolean> {
  return (await updateRows(trx, 'mail_unsubscribes', { tokenHash, usedAt: null }, { usedAt: now })) > 0;
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

/** The choices of a person, and the progress of their mails. */
export type SavedChoices = Omit<Stored<'notification_choices'>, 'personId'>;

/** A person who may get mails. */
export interface MailReader {
  readonly id: string;
  readonly email: string;
  readonly memberships: readonly Membership[];
  readonly choices: SavedChoices;
}

export const NOTHING_SAVED: SavedChoices = {
  ...USUAL_CHOICES,
  attentionSeen: 0n,
  attentionMailedAt: null,
  dailyMade: null,
  weeklyMade: null,
};

/** The choices of a person; null if they made none yet. */
export async function findChoices(executor: Database | Trx, personId: string): Promise<SavedChoices | null> {
  return findRow(executor, 'notification_choices', { personId }, { without: ['person_id'] });
}

/**
 * Locks a person's choices until the transaction ends, so that the second of two simultaneous changes sees the first.
 */
export async function lockChoices(trx: Trx, personId: string): Promise<SavedChoices> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`cointill choices ${personId}`}, 0) # ${salt})`.execute(
    trx,
  );
  return (await findChoices(trx, personId)) ?? NOTHING_SAVED;
}

export async function saveChoices(trx: Trx, personId: string, choices: SavedChoices): Promise<void> {
  const row = { ...choices, personId };
  await insertRows(trx, 'notification_choices', [row], { conflict: { by: ['personId'], set: row } });
}

/** Keeps the language of a person's browser, unless they have a language already. */
export async function rememberLanguage(trx: Trx, personId: string, language: MailLanguage | null): Promise<void> {
  if (language === null) return;
  const choices = await lockChoices(trx, personId);
  if (choices.language === null) await saveChoices(trx, personId, { ...choices, language });
}

/** Everybody with an account that is not deactivated, with roles and choices. */
export async function mailReaders(executor: Database | Trx): Promise<readonly MailReader[]> {
  const [people, memberships, saved] = await Promise.all([
    findRows(executor, 'people', { joinedAt: NOT_NULL, deactivatedAt: null }, { order: ['id'] }),
    findRows(executor, 'memberships', {}, { order: ['id'] }),
    findRows(executor, 'notification_choices', {}),
  ]);
  const rolesOf = Map.groupBy(memberships, ({ personId }) => personId);
  const choicesOf = new Map(saved.map(({ personId, ...choices }) => [personId, choices]));
  return people.map(({ id, email }) => ({
    id,
    email,
    memberships: (rolesOf.get(id) ?? []).map(({ projectId, role }) => ({ projectId, role })),
    choices: choicesOf.get(id) ?? NOTHING_SAVED,
  }));
}
