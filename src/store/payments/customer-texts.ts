import { sql } from 'kysely';
import { encodeId } from '../../domain/id.ts';
import { FORGOTTEN } from '../../wire/customer-data.ts';
import type { Trx } from '../database.ts';

/** Whether a text, or a query with escapes, contains one of these addresses, which are in lower case. */
export function mentions(text: string, emails: readonly string[]): boolean {
  const words = [text, ...new URLSearchParams(text).values()].join('\n').toLowerCase();
  return emails.some((email) => words.includes(email));
}

/** Deletes views that search for one of these customers, and labels that name them, from all payments. */
export async function deleteViewsAndLabels(trx: Trx, projectId: string, emails: readonly string[]): Promise<void> {
  if (emails.length === 0) return;
  const { rows: views } = await sql<{ id: string; name: string; query: string }>`
    select id, name, query from saved_views where project_id = ${projectId}`.execute(trx);
  const searching = views.filter(({ name, query }) => mentions(name, emails) || mentions(query, emails));
  if (searching.length > 0) {
    await sql`delete from saved_views where id = any (${searching.map(({ id }) => id)}::uuid[])`.execute(trx);
  }
  // Locked, so that nobody adds one to a payment meanwhile.
  const { rows: labels } = await sql<{ id: string; name: string }>`
    select id, name from labels where project_id = ${projectId} order by id for update`.execute(trx);
  const naming = labels.flatMap(({ id, name }) => (mentions(name, emails) ? [id] : []));
  if (naming.length === 0) return;
  await sql`delete from payment_labels where label_id = any (${naming}::uuid[])`.execute(trx);
  await sql`delete from labels where id = any (${naming}::uuid[])`.execute(trx);
}

interface Entry {
  readonly id: string;
  readonly action: string;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

/** The fields of entries that people filled with their own words; the trigger lists the same. */
function textFields(action: string): readonly string[] {
  if (action.endsWith('.export')) return ['label', 'search'];
  if (action.startsWith('view.')) return ['name', 'query'];
  return action.startsWith('refund.') ? ['reason'] : ['label'];
}

/** The customers whose texts the audit log forgets. */
interface Forgotten {
  readonly paymentIds: readonly string[];
  /** The payments' names in the log. */
  readonly names: readonly string[];
  /** E-mail addresses in lower case. */
  readonly emails: readonly string[];
  /** The one requested customer, whose payments may have been cleared before; null: all customers of some days. */
  readonly email: string | null;
}

/**
 * Replaces texts of customers in entries of the audit log: in all entries of these payments and their refunds, and in
 * other entries those that contain the addresses. Returns how many entries were changed.
 */
export async function forgetInAudit(
  trx: Trx,
  projectId: string,
  { paymentIds, names, emails, email }: Forgotten,
): Promise<number> {
  const { rows: refunds } = await sql<{ id: string }>`
    select id from refunds where payment_id = any (${paymentIds}::uuid[])`.execute(trx);
  const refundNames = refunds.map(({ id }) => encodeId('refund', id));
  const { rows: own } = await sql<Entry>`
    select id, action, before, after from audit_log where project_id = ${projectId}
      and ((subject_kind = 'payment' and subject_id = any (${names}::text[]) and action like 'payment.label%')
        or (subject_kind = 'refund' and subject_id = any (${refundNames}::text[])))`.execute(trx);
  const { rows: others } = await sql<Entry>`
    select id, action, before, after from audit_log where project_id = ${projectId}
      and (action like 'view.%' or action like '%.export'
        or (${email}::text is not null and (action like 'refund.%' or action like 'payment.label%')
          and position(lower(${email}) in lower(concat(before, after))) > 0))`.execute(trx);
  const changes = new Map([
    ...others.map((entry) => [entry.id, forget(entry, (text) => mentions(text, emails))] as const),
    ...own.map((entry) => [entry.id, forget(entry, () => true)] as const),
  ]);
  const changed = [...changes].flatMap(([id, change]) => (change === null ? [] : [{ id, ...change }]));
  if (changed.length > 0) {
    await sql`
      update audit_log a set before = a.before || n.before, after = a.after || n.after
      from json_to_recordset(${JSON.stringify(changed)}::json) as n (id uuid, before jsonb, after jsonb)
      where a.id = n.id`.execute(trx);
  }
  return changed.length;
}

/** The values to write over an entry's; null if none change. */
function forget(
  { action, before, after }: Entry,
  isMeant: (text: string) => boolean,
): { readonly before: object; readonly after: object } | null {
  const fields = textFields(action);
  const over = (values: Entry['before']) =>
    Object.fromEntries(
      Object.entries(values ?? {}).flatMap(([field, value]) =>
        fields.includes(field) && typeof value === 'string' && value !== FORGOTTEN && isMeant(value)
          ? [[field, FORGOTTEN]]
          : [],
      ),
    );
  const change = { before: over(before), after: over(after) };
  return Object.keys(change.before).length + Object.keys(change.after).length === 0 ? null : change;
}
