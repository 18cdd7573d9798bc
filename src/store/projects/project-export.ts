import { sql, type RawBuilder } from 'kysely';
import type { Client } from 'pg';
import { copyOut } from '../backups/copy.ts';
import { inlined, onConnection } from '../one-connection.ts';
import { AS_IT_IS } from '../reports/copy-file.ts';
import { liftLimits } from '../backups/snapshot.ts';
import { TABLES, type Tables } from '../tables.ts';

/** One kind of line in the file. */
interface ExportedTable {
  readonly record: string;
  readonly table: keyof Tables;
  /** The condition that selects a project's rows of the table, which is called `r`. */
  readonly of: (projectId: string) => RawBuilder<unknown>;
  readonly order: string;
}

const own = (projectId: string) => sql`r.project_id = ${projectId}`;
const ofPayment = (projectId: string) =>
  sql`exists (select from payments p where p.id = r.payment_id and p.project_id = ${projectId})`;
const ofRefund = (projectId: string) =>
  sql`exists (select from refunds f where f.id = r.refund_id and f.project_id = ${projectId})`;

/**
 * The content of a project's file, in this order. Data that is kept for a limited time, such as deliveries and calls,
 * and derived data are left out.
 */
export const EXPORTED_TABLES: readonly ExportedTable[] = [
  { record: 'project', table: 'projects', of: (id) => sql`r.id = ${id}`, order: 'id' },
  { record: 'key', table: 'api_keys', of: own, order: 'id' },
  { record: 'webhook_endpoint', table: 'webhook_endpoints', of: own, order: 'id' },
  { record: 'customer_mails', table: 'project_customer_mails', of: own, order: 'project_id' },
  { record: 'wallet', table: 'wallets', of: own, order: 'id' },
  { record: 'wallet_change', table: 'wallet_changes', of: own, order: 'id' },
  // Private views belong to their owners.
  { record: 'view', table: 'saved_views', of: (id) => sql`${own(id)} and r.shared`, order: 'id' },
  { record: 'label', table: 'labels', of: own, order: 'id' },
  { record: 'payment_request', table: 'payment_requests', of: own, order: 'id' },
  { record: 'invoice_settings', table: 'invoice_settings', of: own, order: 'project_id' },
  { record: 'invoice_document', table: 'invoice_documents', of: own, order: 'mode, year, counter' },
  { record: 'payment', table: 'payments', of: own, order: 'id' },
  { record: 'till_sale', table: 'till_sales', of: own, order: 'payment_id' },
  { record: 'payment_label', table: 'payment_labels', of: ofPayment, order: 'payment_id, label_id' },
  { record: 'note', table: 'payment_notes', of: ofPayment, order: 'id' },
  { record: 'status_change', table: 'payment_arrows', of: ofPayment, order: 'id' },
  { record: 'quote', table: 'payment_quotes', of: ofPayment, order: 'id' },
  { record: 'address', table: 'payment_addresses', of: ofPayment, order: 'address' },
  { record: 'transfer', table: 'transfers', of: ofPayment, order: 'first_seen_at, transaction_hash, output_index' },
  { record: 'refund', table: 'refunds', of: own, order: 'id' },
  { record: 'payout', table: 'refund_payouts', of: ofRefund, order: 'refund_id, transaction_hash, output_index' },
  {
    record: 'waiting_payout',
    table: 'waiting_payouts',
    of: ofRefund,
    order: 'refund_id, transaction_hash, output_index',
  },
  { record: 'sent_payout', table: 'sent_payouts', of: ofRefund, order: 'refund_id, sent_at, transaction_hash' },
  { record: 'sweep', table: 'sweeps', of: own, order: 'id' },
  { record: 'sweep_transfer', table: 'sweep_transfers', of: own, order: 'sweep_id, deposit_address, token' },
  { record: 'mark', table: 'attention_marks', of: own, order: 'mode, kind, subject, occurrence' },
  { record: 'event', table: 'events', of: own, order: 'id' },
  { record: 'event_position', table: 'event_positions', of: own, order: 'mode, position' },
  { record: 'audit', table: 'audit_log', of: own, order: 'id' },
];

/** Bytes are secrets, hashes of secrets and pictures: none of them is exported, nor will later columns of bytes be. */
function columnsOf(table: keyof Tables): readonly (readonly [name: string, isBig: boolean])[] {
  return Object.entries(TABLES[table]).flatMap(([name, { sqlType }]) =>
    sqlType === 'bytea' ? [] : [[name, sqlType === 'bigint' || sqlType === 'numeric'] as const],
  );
}

/** The expression that writes a column of the table, which is called `r`. */
function written(table: keyof Tables, name: string, isBig: boolean): RawBuilder<unknown> {
  const column = sql`r.${sql.ref(name)}`;
  // Some URLs carry a token in their query.
  const isSecret = table === 'webhook_endpoints' && name === 'url';
  const value = isSecret ? sql`regexp_replace(regexp_replace(${column}, '#.*', ''), '[?].+', '?…')` : column;
  return isBig ? sql`${value}::text as ${sql.ref(name)}` : sql`${value} as ${sql.ref(name)}`;
}

/**
 * Passes on a file of a project's permanent records, from one snapshot: a JSON object a line, with its `record`, in the
 * order of {@link EXPORTED_TABLES}. Amounts are texts, exact to the last digit. The last line counts the others by
 * their record, so that a truncated file is recognized.
 *
 * @returns the number of lines before the last
 */
export async function copyProject(
  client: Client,
  projectId: string,
  take: (piece: Buffer) => Promise<void>,
): Promise<number> {
  await client.query('begin isolation level repeatable read, read only');
  await liftLimits(client);
  await client.query(`set local time zone 'UTC'`);
  const counts: Record<string, number> = {};
  let lines = 0;
  for (const { record, table, of, order } of EXPORTED_TABLES) {
    const fields = columnsOf(table).map(([name, isBig]) => written(table, name, isBig));
    const query = sql`select row_to_json(l)::text from (
      select ${sql.lit(record)} as record, ${sql.join(fields)} from ${sql.table(table)} r
      where ${of(projectId)} order by ${sql.raw(order)}) l`;
    const text = inlined(client, query.compile(onConnection(client)));
    const rows = await copyOut(client, `copy (${text}) to stdout with (${AS_IT_IS})`, take);
    counts[record] = rows;
    lines += rows;
  }
  await client.query('commit');
  await take(Buffer.from(`${JSON.stringify({ record: 'end', counts })}\n`));
  return lines;
}
