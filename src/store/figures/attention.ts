import { sql, type RawBuilder } from 'kysely';
import type { AssetCode } from '../../domain/asset-code.ts';
import { SLOW } from '../../domain/attention.ts';
import type { Fiat } from '../../domain/money.ts';
import { NETWORK_FACTS, NETWORKS, type Network } from '../../domain/networks.ts';
import { PAYMENT_APIS, type PaymentApi } from '../../domain/payment.ts';
import { stepEvents } from '../../domain/payment-kind.ts';
import type { ProjectMode } from '../../domain/permission.ts';
import { isCounting, PAYMENT_STATUSES, type PaymentStatus } from '../../domain/status.ts';
import { timestamp, type Database, type Trx } from '../database.ts';
import { TAKES_MONEY } from '../refunds/refund-payouts.ts';
import { toRow, type Stored } from '../rows.ts';

export type PaymentFault =
  | 'reorged'
  | 'till_money_gone'
  | 'paid_late'
  | 'paid_after_cancel'
  | 'underpaid'
  | 'overpaid'
  | 'slow';

/** A payment that needs attention. Amounts in the token's smallest units, times in epoch milliseconds. */
export interface FaultyPayment {
  readonly kind: PaymentFault;
  readonly id: string;
  readonly api: PaymentApi;
  readonly status: PaymentStatus;
  /** Changes with each fault of the payment. */
  readonly occurrence: string;
  /** The merchant's order id, otherwise the payment's number; null if it has neither. */
  readonly name: string | null;
  readonly asset: AssetCode;
  readonly network: Network;
  readonly decimals: number;
  readonly owedUnits: bigint;
  /** The payment's amount in the smallest unit of its currency. */
  readonly amountMinor: bigint;
  readonly currency: Fiat;
  /** The received amount that no refund takes. */
  readonly leftUnits: bigint;
  readonly confirmedUnits: bigint;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly cancelledAt: number | null;
  /** The time at which it began to confirm; null for other kinds. */
  readonly since: number | null;
}

/** Money of an invoice of a request that is paid in parts: it counts there, and the rest is asked for again. */
const COUNTS_AS_PART = sql`exists (select from payment_requests q
  where q.id = p.payment_request_id and q.max_payments = 1 and q.amount_minor is not null)`;

/** Payments with an exception that nobody has dealt with yet, newest first. */
export async function unusualPayments(
  db: Database,
  scope: ProjectMode,
  limit: number,
): Promise<readonly FaultyPayment[]> {
  const { rows } = await sql<FaultyPayment>`
    select * from (
      select case
          when p.exception = 'reorged' then 'reorged'
          when p.exception = 'paid_late' and p.cancelled_at is not null and p.status <> 'completed' and l.left_units > 0 then 'paid_after_cancel'
          when p.exception = 'paid_late' and p.status <> 'completed' and l.left_units > 0 then 'paid_late'
          when p.exception = 'underpaid' and p.status <> 'completed' and l.left_units > 0 and not ${COUNTS_AS_PART} then 'underpaid'
          when p.exception = 'overpaid' and l.left_units > p.owed_units + p.tolerance_units then 'overpaid'
        end as kind, ${PAYMENT_COLUMNS}, l.left_units as "leftUnits", null::timestamptz as since,
        (select count(*) from events e where e.payment_id = p.id and e.type = any (${stepEvents('exception')}::text[])) || ':' || p.seen_units as occurrence
      from payments p cross join lateral (
        select p.seen_units - coalesce(sum(r.units), 0) as left_units from refunds r
        where r.payment_id = p.id and r.asset = p.asset and r.network = p.network and ${TAKES_MONEY}
      ) l
      where p.project_id = ${scope.projectId} and p.mode = ${scope.mode} and p.exception <> 'none'
        and (p.exception = 'reorged' or p.seen_units > 0 and (p.exception = 'overpaid' or p.status <> 'completed'))
        and p.owed_units is not null
    ) f where kind is not null and ${isNotDone(scope)}
    order by id desc limit ${limit}`.execute(db);
  return rows;
}

/**
 * Sales at the till since a time whose money was seen without a doubtful sign and has disappeared, newest first: below
 * the project's limit they were shown as paid.
 */
export async function goneSales(
  db: Database,
  { projectId, mode }: ProjectMode,
  since: number,
  limit: number,
): Promise<readonly FaultyPayment[]> {
  const { rows } = await sql<FaultyPayment>`
    select * from (
      select 'till_money_gone' as kind, ${PAYMENT_COLUMNS}, t.units as "leftUnits", null::timestamptz as since,
        t.hash as occurrence
      from (
        select payment_id, asset, network, max(transaction_hash) as hash, sum(amount_units) as units from transfers
        where state = 'dropped' and doubt is null and first_seen_at > ${timestamp(since)} group by 1, 2, 3
      ) t join till_sales s using (payment_id) join payments p on p.id = t.payment_id
      where s.project_id = ${projectId} and s.mode = ${mode} and p.asset = t.asset and p.network = t.network
        and p.seen_units = 0 and p.completed_at is null
    ) f where ${isNotDone({ projectId, mode })} order by id desc limit ${limit}`.execute(db);
  return rows;
}

/** Payments that confirm for much longer than their network usually takes, newest first. */
export async function slowPayments(
  db: Database,
  scope: ProjectMode,
  now: number,
  limit: number,
): Promise<readonly FaultyPayment[]> {
  const networks = NETWORKS.map((network) => ({ network, block_ms: NETWORK_FACTS[network].blockMs }));
  const slowAfter = sql`greatest(${SLOW.leastMs}::bigint,
    ${SLOW.blockTimes} * coalesce(n.block_ms, 0) * (coalesce(a.confirmations, 1) + 1)) * interval '1 millisecond'`;
  const { rows } = await sql<FaultyPayment>`
    select * from (
      select 'slow' as kind, ${PAYMENT_COLUMNS}, p.seen_units as "leftUnits", t.at as since,
        ${millisecondsOf(sql`t.at`)} as occurrence
      from payments p
      cross join lateral (
        select min(at) as at from payment_arrows x
        where x.payment_id = p.id and x.to_status = 'processing' and x.id > coalesce((
          select max(id) from payment_arrows y
          where y.payment_id = p.id and y.to_status <> all (${COUNTING}::text[])), 0)
      ) t
      left join payment_addresses a on a.payment_id = p.id and a.network = p.network and a.address = p.address
      left join json_to_recordset(${JSON.stringify(networks)}::json) as n (network text, block_ms bigint)
        on n.network = p.network
      where p.project_id = ${scope.projectId} and p.mode = ${scope.mode} and p.surface = any (${PAYMENT_APIS}::text[])
        and p.status = any (${COUNTING}::text[]) and t.at < ${timestamp(now)} - ${slowAfter}
        and p.exception <> 'reorged'
    ) f where ${isNotDone(scope)} order by id desc limit ${limit}`.execute(db);
  return rows;
}

/** A time in epoch milliseconds, the form that occurrences contain. */
export function millisecondsOf(at: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(extract(epoch from ${at}) * 1000)::bigint::text`;
}

/** Written into the text of statements, so that the planner knows the statuses. */
const COUNTING = sql.lit(`{${PAYMENT_STATUSES.filter(isCounting).join(',')}}`);

const PAYMENT_COLUMNS = sql`p.id, p.surface as api, p.status, coalesce(p.merchant_order_id, p.transaction_number) as name,
  p.asset, p.network, p.decimals, p.amount_minor as "amountMinor", p.currency, p.owed_units as "owedUnits", p.confirmed_units as "confirmedUnits",
  p.created_at as "createdAt", p.expires_at as "expiresAt", p.cancelled_at as "cancelledAt"`;

export function isNotDone({ projectId, mode }: ProjectMode): RawBuilder<unknown> {
  return sql`not exists (
    select from attention_marks m where m.project_id = ${projectId} and m.mode = ${mode} and m.kind = f.kind
      and m.subject = f.id::text and m.occurrence = f.occurrence and m.done_at is not null)`;
}

/** An endpoint that is disabled or failing. */
export interface FaultyEndpoint {
  readonly id: string;
  readonly url: string;
  readonly disabledAt: number | null;
  readonly disabledReason: string | null;
  /** The newest delivery that it acknowledged, since which it fails; 0 if none is kept. */
  readonly tookLast: bigint;
  /** The status of its last answer, or why there was none. */
  readonly status: number | null;
  readonly error: string | null;
}

/** How many deliveries of an endpoint are read. */
const MAX_DELIVERIES = 1_000;
/** A delivery with this many failed attempts is no accident: a minute has passed. */
const MIN_ATTEMPTS = 3;

/** Endpoints that are disabled, or did not acknowledge the newest of their deliveries after several attempts. */
export async function faultyEndpoints(
  db: Database,
  { projectId, mode }: ProjectMode,
): Promise<readonly FaultyEndpoint[]> {
  const { rows } = await sql<FaultyEndpoint>`
    select w.id, w.url, w.disabled_at as "disabledAt", w.disabled_reason as "disabledReason",
      coalesce(took.id, 0) as "tookLast", a.response_status as status, a.error
    from webhook_endpoints w
    left join lateral (
      select id, state from (
        select id, state, attempts from deliveries where endpoint_id = w.id order by id desc limit ${MAX_DELIVERIES}
      ) newest where state = 'delivered' or attempts >= ${MIN_ATTEMPTS} order by id desc limit 1
    ) d on true
    left join lateral (
      select id from (
        select id, state from deliveries where endpoint_id = w.id order by id desc limit ${MAX_DELIVERIES}
      ) newest where state = 'delivered' order by id desc limit 1
    ) took on true
    left join lateral (
      select response_status, error from delivery_attempts where delivery_id = d.id order by id desc limit 1
    ) a on true
    where w.project_id = ${projectId} and w.mode = ${mode} and w.deleted_at is null
      and (w.disabled_at is not null or d.state <> 'delivered')
    order by w.created_at, w.id`.execute(db);
  return rows;
}

/** The networks for which a project has a wallet, and whether it is used live at all: it has a live key or a wallet. */
export async function walletNetworks(
  db: Database,
  projectId: string,
): Promise<{ readonly networks: readonly Network[]; readonly isLive: boolean }> {
  const { rows } = await sql<{ networks: Network[]; hasKey: boolean }>`
    select array(select distinct network from wallets where project_id = ${projectId} and replaced_at is null) as networks,
      exists (select from api_keys where project_id = ${projectId} and mode = 'live' and revoked_at is null and successor_id is null) as "hasKey"`.execute(
    db,
  );
  const { networks = [], hasKey = false } = rows[0] ?? {};
  return { networks, isLive: hasKey || networks.length > 0 };
}

/** Identifies one occurrence of an item that needs attention. */
export type AttentionKey = Pick<AttentionMark, 'kind' | 'subject' | 'occurrence'>;
/** A mark of people on one occurrence. */
export type AttentionMark = Omit<Stored<'attention_marks'>, 'projectId' | 'mode' | 'changedAt'>;

/** The marks of these occurrences; unmarked ones are left out. */
export async function attentionMarks(
  executor: Database | Trx,
  { projectId, mode }: ProjectMode,
  keys: readonly AttentionKey[],
): Promise<readonly AttentionMark[]> {
  if (keys.length === 0) return [];
  const wanted = keys.map(({ kind, subject, occurrence }) => ({ kind, subject, occurrence }));
  const { rows } = await sql<AttentionMark>`
    select m.kind, m.subject, m.occurrence, m.assigned_to as "assignedTo", m.note, m.done_at as "doneAt",
      m.done_by as "doneBy", m.version
    from json_to_recordset(${JSON.stringify(wanted)}::json) as k (kind text, subject text, occurrence text)
    join attention_marks m on m.project_id = ${projectId} and m.mode = ${mode} and m.kind = k.kind
      and m.subject = k.subject and m.occurrence = k.occurrence`.execute(executor);
  return rows;
}

/** Saves a mark in place of the version before it; false if there is another version meanwhile. */
export async function saveAttentionMark(
  trx: Trx,
  { projectId, mode }: ProjectMode,
  mark: AttentionMark,
  now: number,
): Promise<boolean> {
  const row = toRow('attention_marks', { ...mark, projectId, mode, changedAt: now });
  const saved = await trx
    .insertInto('attention_marks')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'mode', 'kind', 'subject', 'occurrence'])
        .doUpdateSet(row)
        .where('attention_marks.version', '=', mark.version - 1),
    )
    .returning('version')
    .executeTakeFirst();
  return saved !== undefined;
}

/** A person to whom an item can be assigned. */
export interface Assignee {
  readonly id: string;
  readonly email: string;
  readonly name: string | null;
}

/** The people with a role in a project that lets them write notes, by e-mail. */
export async function assignees(
  executor: Database | Trx,
  projectId: string,
  roles: readonly string[],
): Promise<readonly Assignee[]> {
  const { rows } = await sql<Assignee>`
    select p.id, p.email, p.name from people p cross join lateral (
      select role from memberships m where m.person_id = p.id and (m.project_id = ${projectId} or m.project_id is null)
      order by m.project_id nulls last limit 1
    ) m where p.deactivated_at is null and p.joined_at is not null and m.role = any (${roles}::text[])
    order by lower(p.email) limit 200`.execute(executor);
  return rows;
}
