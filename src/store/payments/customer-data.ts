import { sql, type RawBuilder } from 'kysely';
import { firstUuidOf } from '../../domain/id.ts';
import { isFinal, PAYMENT_STATUSES } from '../../domain/status.ts';
import { FORGOTTEN, HAS_CUSTOMER_DATA, withoutCustomerData } from '../../wire/customer-data.ts';
import { publicPaymentId } from '../../domain/payment-kind.ts';
import type { PaymentApi } from '../../domain/payment.ts';
import { digestOfKey, isDigestOfKey } from '../projects/answers.ts';
import { deleteViewsAndLabels, forgetInAudit, mentions } from './customer-texts.ts';
import { clearRequests, eventsOfRequests } from './customer-requests.ts';
import { countBuyers, forgetBuyers } from './invoice-documents.ts';
import { affectedRows, timestamp, type Database, type Trx } from '../database.ts';
import { ADDRESS, HAS_ENDED_WITH_ADDRESS, IS_RUNNING } from './payment-keys.ts';

/**
 * The payments whose customers' data are chosen: one customer's, by e-mail address, or all ended ones made before a
 * time.
 */
export type CustomerChoice =
  | { readonly kind: 'email'; readonly email: string }
  | { readonly kind: 'before'; readonly before: number };

/** The number of rows with customers' data. */
export interface CustomerDataCounts {
  readonly payments: number;
  /** Events with customers' data in their bodies, which would be sent again on request. */
  readonly events: number;
  readonly notes: number;
  readonly refundReasons: number;
  /** The endpoints' answers to those events. */
  readonly answers: number;
  /** Issued invoices: their e-mail addresses are cleared, and they stay otherwise, because tax law wants them kept. */
  readonly invoices: number;
}

const FINAL_STATUSES = PAYMENT_STATUSES.filter(isFinal);

const HAS_FIELDS = sql`(p.customer_email is not null or p.customer_name is not null or p.description is not null
  or p.success_url is not null or p.cancel_url is not null
  or (p.metadata is not null and p.metadata - 'order_id' <> '{}'::jsonb)
  or p.shop_checkout is not null or p.shop_metadata::jsonb - 'orderId' <> '{}'::jsonb)`;
const HAS_NOTES = sql`exists (select from payment_notes n where n.payment_id = p.id)`;
const HAS_REASONS = sql`exists (select from refunds r where r.payment_id = p.id and r.reason is not null)`;

/** Payments whose customers' data can be deleted, as `p`. */
function chosen(projectId: string, choice: CustomerChoice): RawBuilder<unknown> {
  const mine = sql`p.project_id = ${projectId}`;
  if (choice.kind === 'email') {
    // The modes are named so that the indexes are used: of addresses for ended payments, of statuses for open ones.
    const has = sql`project_id = ${projectId}::uuid and mode = any ('{test,live}'::text[])
      and ${ADDRESS} = lower(${choice.email}::text)`;
    return sql`p.id in (select id from payments where ${has} and ${HAS_ENDED_WITH_ADDRESS}
      union all select id from payments where ${has} and ${IS_RUNNING})`;
  }
  return sql`${mine} and p.created_at < ${timestamp(choice.before)} and p.status = any (${FINAL_STATUSES}::text[])
    and (${HAS_FIELDS} or ${HAS_NOTES} or ${HAS_REASONS})`;
}

/**
 * Counts the data that {@link deleteCustomerData} would clear of the first `limit` payments, and whether there are
 * more.
 */
export async function countCustomerData(
  executor: Database | Trx,
  projectId: string,
  choice: CustomerChoice,
  limit: number,
): Promise<{ readonly counts: CustomerDataCounts; readonly hasMore: boolean }> {
  const { rows } = await sql<Omit<CustomerDataCounts, 'invoices'> & { readonly found: number }>`
    with found as materialized (
        select p.id from payments p where ${chosen(projectId, choice)} order by p.id limit ${limit + 1}),
      mine as materialized (select id from found order by id limit ${limit}),
      said as materialized (
        select e.id, e.body ~ ${HAS_CUSTOMER_DATA} as has_data from events e where e.payment_id in (select id from mine))
    select (select count(*)::integer from found) as found, (select count(*)::integer from mine) as payments, (select count(*)::integer from said where has_data) as events,
      (select count(*)::integer from payment_notes where payment_id in (select id from mine)) as notes,
      (select count(*)::integer from refunds where reason is not null and payment_id in (select id from mine)) as "refundReasons",
      (select count(*)::integer from delivery_attempts a join deliveries d on d.id = a.delivery_id
        where d.event_id in (select id from said) and a.response_body <> '') as answers`.execute(executor);
  const [row] = rows;
  if (row === undefined) throw new Error('A count returned no row.');
  const { found, ...counted } = row;
  const counts = { ...counted, invoices: await countBuyers(executor, projectId, choice) };
  return { counts, hasMore: found > counts.payments };
}

/** How many payments made before a time are still open: their data are needed, and stay. */
export async function countOpenBefore(executor: Database | Trx, projectId: string, before: number): Promise<number> {
  const { rows } = await sql<{ open: number }>`
    select count(*)::integer as open from payments p where p.project_id = ${projectId}
      and p.created_at < ${timestamp(before)} and p.status <> all (${FINAL_STATUSES}::text[])`.execute(executor);
  return rows[0]?.open ?? 0;
}

interface Chosen {
  readonly id: string;
  readonly api: PaymentApi;
  readonly email: string | null;
}

/**
 * Clears the data that customers gave with up to `limit` payments, including all copies. Data that the books need
 * stays: amounts, addresses, hashes, times and order numbers.
 *
 * @param after the last payment of the call before; null at first
 * @returns the cleared counts, and the payment to continue after; null if there are no more
 */
export async function deleteCustomerData(
  trx: Trx,
  projectId: string,
  choice: CustomerChoice,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<{ readonly counts: CustomerDataCounts; readonly auditEntries: number; readonly next: string | null }> {
  // Locked: a simultaneous change of a payment either ends before, or reads the cleared row.
  const { rows } = await sql<Chosen>`
    select p.id, p.surface as api, p.customer_email as email from payments p
    where ${chosen(projectId, choice)} ${after === null ? sql`` : sql`and p.id > ${after}`}
    order by p.id limit ${limit} for update`.execute(trx);
  if (after === null) await clearCalls(trx, projectId, choice);
  const invoices = after === null ? await forgetBuyers(trx, projectId, choice) : 0;
  const ids = rows.map(({ id }) => id);
  const email = choice.kind === 'email' ? choice.email.toLowerCase() : null;
  const emails = email === null ? emailsOf(rows) : [email];
  await deleteViewsAndLabels(trx, projectId, emails);
  const names = rows.map((row) => publicPaymentId(row));
  const auditEntries = await forgetInAudit(trx, projectId, { paymentIds: ids, names, emails, email });
  await clearPayments(trx, ids);
  const notes = await affectedRows(trx, sql`delete from payment_notes where payment_id = any (${ids}::uuid[])`);
  const refundReasons = await affectedRows(
    trx,
    sql`update refunds set reason = null where payment_id = any (${ids}::uuid[]) and reason is not null`,
  );
  await clearMarks(trx, projectId, ids);
  const requests = await clearRequests(trx, ids);
  const meant: MeantEvents = { payments: ids, events: await eventsOfRequests(trx, projectId, requests) };
  const events = await clearEvents(trx, meant);
  await clearIdempotentAnswers(trx, projectId, [...names, ...requests], emails);
  // The last step, because it keeps all records of attempts waiting. Attempts recorded before it are cleared; those
  // recorded after it read the cleared events (docs/decisions/0225).
  await sql`lock table delivery_attempts in share row exclusive mode`.execute(trx);
  const answers = await clearAnswers(trx, meant);
  const counts = { payments: rows.length, events, notes, refundReasons, answers, invoices };
  return { counts, auditEntries, next: rows.length < limit ? null : (ids.at(-1) ?? null) };
}

function emailsOf(rows: readonly Chosen[]): readonly string[] {
  return [...new Set(rows.flatMap(({ email }) => (email === null ? [] : [email.toLowerCase()])))];
}

async function clearPayments(trx: Trx, ids: readonly string[]): Promise<void> {
  await sql`
    update payments set customer_email = null, customer_name = null, description = null, success_url = null,
      cancel_url = null,
      -- The shop's own number of the order may be here alone.
      metadata = case when metadata ? 'order_id' then jsonb_set('{}', '{order_id}', metadata -> 'order_id') end,
      shop_checkout = null,
      shop_metadata = case when shop_metadata::jsonb ? 'orderId'
        then jsonb_set('{}', '{orderId}', shop_metadata::jsonb -> 'orderId')::text
        when shop_metadata is not null then '{}' end
    where id = any (${ids}::uuid[])`.execute(trx);
}

async function clearMarks(trx: Trx, projectId: string, ids: readonly string[]): Promise<void> {
  await sql`
    update attention_marks set note = null where project_id = ${projectId} and note is not null and subject in (
      select id::text from unnest(${ids}::uuid[]) id
      union all select id::text from refunds where payment_id = any (${ids}::uuid[]))`.execute(trx);
}

/** Events of some payments, and others. */
interface MeantEvents {
  readonly payments: readonly string[];
  readonly events: readonly string[];
}

const isMeant = ({ payments, events }: MeantEvents): RawBuilder<unknown> =>
  sql`(e.payment_id = any (${payments}::uuid[]) or e.id = any (${events}::uuid[]))`;

/** Clears answers with their headers; returns how many had a body. */
async function clearAnswers(trx: Trx, meant: MeantEvents): Promise<number> {
  const { rows } = await sql<{ said: number }>`
    select count(*)::integer as said from events e join deliveries d on d.event_id = e.id
      join delivery_attempts a on a.delivery_id = d.id
    where ${isMeant(meant)} and a.response_body <> ''`.execute(trx);
  await sql`
    update delivery_attempts a set response_body = null, response_headers = null from deliveries d, events e
    where ${isMeant(meant)} and d.event_id = e.id and a.delivery_id = d.id
      and (a.response_body is not null or a.response_headers is not null)`.execute(trx);
  return rows[0]?.said ?? 0;
}

/**
 * Clears bodies and the request ids that shops chose; returns how many bodies had customers' data, counted as above.
 */
async function clearEvents(trx: Trx, meant: MeantEvents): Promise<number> {
  const { rows } = await sql<{ id: string; body: string; hasData: boolean }>`
    select id, body, body ~ ${HAS_CUSTOMER_DATA} as "hasData" from events e
    where ${isMeant(meant)}`.execute(trx);
  await sql`
    update events e set request_id = null where ${isMeant(meant)} and ${hasAddress(sql`request_id`)}`.execute(trx);
  const changed = rows.flatMap(({ id, body: before }) => {
    const body = withoutCustomerData(before);
    return body === before ? [] : [{ id, body }];
  });
  if (changed.length > 0) {
    await sql`
      update events e set body = n.body from json_to_recordset(${JSON.stringify(changed)}::json) as n (id uuid, body text)
      where e.id = n.id`.execute(trx);
  }
  return rows.filter(({ hasData }) => hasData).length;
}

/**
 * Clears answers that would be replayed to a repeated request; they are kept for a day. Their keys, which shops choose
 * freely, become digests, so that a repeated request still creates nothing twice.
 */
async function clearIdempotentAnswers(
  trx: Trx,
  projectId: string,
  names: readonly string[],
  emails: readonly string[],
): Promise<void> {
  const ids = new Set(names);
  if (ids.size === 0 && emails.length === 0) return;
  // The candidates among all answers of a day.
  const { rows: kept } = await sql<{ mode: string; route: string; key: string; response: string }>`
    select mode, route, key, response from idempotency_keys where project_id = ${projectId} and (
      substring(response from '"id":"([^"]+)"') in (select unnest(${names}::text[]))
      or substring(response from '"payment":"([^"]+)"') in (select unnest(${names}::text[]))
      or key ~* '@|%40')`.execute(trx);
  const changed = kept.flatMap(({ key, response: before, ...of }) => {
    const isOne = [...before.matchAll(/"(?:id|payment)":"([^"]+)"/g)].some(([, id = '']) => ids.has(id));
    if (!isOne && !mentions(key, emails)) return [];
    const response = isOne ? withoutCustomerData(before) : before;
    return [{ ...of, key, digest: isDigestOfKey(key) ? key : digestOfKey(key), response }];
  });
  if (changed.length === 0) return;
  const list = sql`json_to_recordset(${JSON.stringify(changed)}::json)
    as n (mode text, route text, key text, digest text, response text)`;
  // A process of an older version does not know of digests, and may have answered the same key again.
  await sql`
    delete from idempotency_keys k using ${list}
    where k.project_id = ${projectId} and n.digest <> n.key and (k.mode, k.route, k.key) = (n.mode, n.route, n.digest)`.execute(
    trx,
  );
  await sql`
    update idempotency_keys k set key = n.digest, response = n.response from ${list}
    where k.project_id = ${projectId} and (k.mode, k.route, k.key) = (n.mode, n.route, n.key)`.execute(trx);
}

/**
 * Clears calls of the APIs: refusals may quote the request, and paths and the shops' own request ids may contain an
 * address.
 */
async function clearCalls(trx: Trx, projectId: string, choice: CustomerChoice): Promise<void> {
  const isOne = choice.kind === 'email';
  const meant = (column: RawBuilder<unknown>) =>
    isOne ? has(column, [choice.email, encodeURIComponent(choice.email)]) : hasAddress(column);
  const [refusal, path, anyId] = [
    isOne ? meant(sql`error`) : sql`true`,
    meant(sql`path`),
    meant(sql`array_to_string(request_ids, ' ')`),
  ];
  // The ids begin with the time.
  const before = isOne ? sql`true` : sql`last_id < ${firstUuidOf(choice.before)}::uuid`;
  // Citus computes no text of an array in an update's own condition.
  await sql`
    with found as materialized (
      select mode, last_id, case when ${refusal} then null else error end as error,
        case when ${path} then ${FORGOTTEN} else path end as path,
        case when ${anyId} then array(
          select case when ${meant(sql`one.id`)} then ${FORGOTTEN} else one.id end
          from unnest(request_ids) with ordinality as one (id, place) order by one.place) else request_ids end as ids
      from api_requests
      where project_id = ${projectId} and ${before} and (error is not null and ${refusal} or ${path} or ${anyId})
      for update
    )
    update api_requests r set error = found.error, path = found.path, request_ids = found.ids from found
    where r.project_id = ${projectId} and r.mode = found.mode and r.last_id = found.last_id`.execute(trx);
}

function hasAddress(column: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`${column} ~* '@|%40'`;
}

/** Whether a column contains one of these texts, ignoring case. */
function has(column: RawBuilder<unknown>, texts: readonly string[]): RawBuilder<unknown> {
  const each = texts.map((text) => sql`position(lower(${text}) in lower(${column})) > 0`);
  return sql`(${sql.join(each, sql` or `)})`;
}
