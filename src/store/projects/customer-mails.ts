import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Database, Trx } from '../database.ts';
import { findRow, findRows, hasRow, insertRows, type Stored } from '../rows.ts';

/** Whether and how a project mails its customers. */
export type CustomerMailSettings = Stored<'project_customer_mails'>;

export async function findCustomerMails(
  executor: Database | Trx,
  projectId: string,
): Promise<CustomerMailSettings | null> {
  return findRow(executor, 'project_customer_mails', { projectId });
}

/** The projects that mail their customers. */
export async function projectsWithCustomerMails(executor: Database | Trx): Promise<readonly CustomerMailSettings[]> {
  return findRows(executor, 'project_customer_mails', { isOn: true });
}

export async function saveCustomerMails(trx: Trx, settings: CustomerMailSettings): Promise<void> {
  await insertRows(trx, 'project_customer_mails', [settings], { conflict: { by: ['projectId'], set: settings } });
}

/** Keeps the language in which a customer sees a payment's page. */
export async function savePaymentLanguage(db: Database, paymentId: string, language: string): Promise<void> {
  await insertRows(db, 'payment_languages', [{ paymentId, language }], {
    conflict: { by: ['paymentId'], set: { language } },
  });
}

/** The language in which the customer last saw the payment's page; null: unknown. */
export async function languageOfPayment(executor: Database | Trx, paymentId: string): Promise<string | null> {
  return (await findRow(executor, 'payment_languages', { paymentId }))?.language ?? null;
}

/** The customer of a project, as refusals name them. */
interface Customer {
  readonly projectId: string;
  readonly emailHash: Buffer;
}

/** The hash that stands for a customer's address in one project; upper and lower case are the same. */
export function customerOf(projectId: string, email: string): Customer {
  const emailHash = createHash('sha256').update(`${projectId} ${email.toLowerCase()}`).digest();
  return { projectId, emailHash };
}

/** Whether a customer wants no more mails about payments of the project. */
export async function hasRefused(executor: Database | Trx, customer: Customer): Promise<boolean> {
  return hasRow(executor, 'customer_refusals', customer);
}

/** The customer who holds the link of a mail; null: there is no such link. */
export async function findRefusalLink(executor: Database | Trx, tokenHash: Buffer): Promise<Customer | null> {
  return findRow(executor, 'customer_refusal_links', { tokenHash }, { without: ['token_hash', 'created_at'] });
}

export async function insertRefusalLink(
  executor: Database | Trx,
  tokenHash: Buffer,
  customer: Customer,
  now: number,
): Promise<void> {
  await insertRows(executor, 'customer_refusal_links', [{ ...customer, tokenHash, createdAt: now }]);
}

/** Mails the customer no more; a second time changes nothing. */
export async function refuse(executor: Database | Trx, customer: Customer, now: number): Promise<void> {
  await insertRows(executor, 'customer_refusals', [{ ...customer, refusedAt: now }], { conflict: {} });
}

/** Deletes links that are older than a time; returns how many. */
export async function purgeRefusalLinks(db: Database, before: number, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from customer_refusal_links where token_hash in (
      select token_hash from customer_refusal_links where created_at < ${new Date(before).toISOString()}::timestamptz
      limit ${limit})`.execute(db);
  return Number(numAffectedRows ?? 0n);
}
