import { sql } from 'kysely';
import { firstUuidOf } from '../../domain/id.ts';
import type { EventType } from '../../domain/event-type.ts';
import type { Fiat } from '../../domain/money.ts';
import type { Network } from '../../domain/networks.ts';
import { stepEvents } from '../../domain/payment-kind.ts';
import type { Mode, ProjectMode } from '../../domain/permission.ts';
import type { ReportSpan } from '../../domain/report.ts';
import type { Database, Trx } from '../database.ts';
import { fineSum, rateJoin, valueIn } from '../figures/currency-rates.ts';
import { findRow, insertRows, updateRows, type Stored } from '../rows.ts';

/** How far payments were followed for mails. */
export type MailProgress = Omit<Stored<'mail_progress'>, 'id'>;

/** The only row of `mail_progress`. */
const ROW = 1;

export async function findMailProgress(executor: Database | Trx): Promise<MailProgress | null> {
  return findRow(executor, 'mail_progress', { id: ROW }, { without: ['id'] });
}

/** Begins with what happens from now on, unless another process has begun. */
export async function beginMailProgress(trx: Trx, newest: bigint, now: number): Promise<void> {
  const row = { id: ROW, takenIn: newest, newest, endedBefore: null, eventsUntil: now };
  await insertRows(trx, 'mail_progress', [row], { conflict: { by: ['id'] } });
}

/** The progress, locked until the transaction ends; null if another process has it, or none has begun. */
export async function lockMailProgress(trx: Trx): Promise<MailProgress | null> {
  const { rows } = await sql<MailProgress>`
    select taken_in as "takenIn", newest, ended_before as "endedBefore", events_until as "eventsUntil"
    from mail_progress where id = ${ROW} for update skip locked`.execute(trx);
  return rows[0] ?? null;
}

export async function saveMailProgress(trx: Trx, progress: MailProgress): Promise<void> {
  await updateRows(trx, 'mail_progress', { id: ROW }, progress);
}

/** The id of the newest transition that is saved. */
export async function newestTransition(executor: Database | Trx): Promise<bigint> {
  const { rows } = await sql<{ id: bigint }>`
    select coalesce((select id from payment_arrows order by id desc limit 1), 0) as id`.execute(executor);
  return rows[0]?.id ?? 0n;
}

/** A payment that was completed. */
export interface Completion {
  readonly paymentId: string;
  readonly projectId: string;
  readonly mode: Mode;
  /** The customer's address; null: unknown. */
  readonly email: string | null;
  /** Whether it pays an invoice that was issued as a document, which has a receipt of its own. */
  readonly isOfDocument: boolean;
  readonly at: number;
}

/**
 * The payments that the next `limit` transitions completed, and the id up to which they are.
 *
 * @param upTo the last transition to read: all before it are saved
 */
export async function completionsAfter(
  trx: Trx,
  { after, upTo, limit }: { readonly after: bigint; readonly upTo: bigint; readonly limit: number },
): Promise<{ readonly completions: readonly Completion[]; readonly upTo: bigint }> {
  const { rows } = await sql<Completion & { readonly id: bigint; readonly isCompleted: boolean }>`
    select a.id, a.to_status = 'completed' as "isCompleted", a.payment_id as "paymentId", a.at,
      p.project_id as "projectId", p.mode, p.customer_email as email,
      exists (select from invoice_documents d where d.payment_request_id = p.payment_request_id) as "isOfDocument"
    from (
      select id, payment_id, to_status, at from payment_arrows
      where id > ${after} and id <= ${upTo} order by id limit ${limit}
    ) a left join payments p on p.id = a.payment_id and a.to_status = 'completed'
    order by a.id`.execute(trx);
  const completions = rows.filter(({ isCompleted, projectId }) => isCompleted && projectId !== null);
  return { completions, upTo: rows.length < limit ? upTo : (rows.at(-1)?.id ?? upTo) };
}

/** An event about a payment or refund. */
export interface FollowedEvent {
  readonly id: string;
  readonly type: EventType;
  readonly projectId: string;
  readonly mode: Mode;
  readonly paymentId: string;
  readonly body: string;
  readonly createdAt: number;
}

/** The events of some types in these projects and modes since a time, oldest first. */
export async function eventsSince(
  trx: Trx,
  scopes: readonly ProjectMode[],
  types: readonly EventType[],
  since: number,
): Promise<readonly FollowedEvent[]> {
  if (scopes.length === 0) return [];
  const wanted = scopes.flatMap(({ projectId, mode }) => types.map((type) => ({ project_id: projectId, mode, type })));
  // One range of the index for each type of each scope.
  const { rows } = await sql<FollowedEvent>`
    select e.id, e.type, e.project_id as "projectId", e.mode, e.payment_id as "paymentId", e.body,
      e.created_at as "createdAt"
    from json_to_recordset(${JSON.stringify(wanted)}::json) as w (project_id uuid, mode text, type text)
    cross join lateral (
      select e.id, e.type, e.project_id, e.mode, e.payment_id, e.body, e.created_at from events e
      where e.project_id = w.project_id and e.mode = w.mode and e.type = w.type
        and e.id >= ${firstUuidOf(since)}::uuid and e.payment_id is not null offset 0
    ) e order by e.id`.execute(trx);
  return rows;
}

/** The payments of one coin that were completed in a time. */
export interface CompletedCoin {
  readonly asset: string | null;
  readonly network: Network | null;
  readonly decimals: number | null;
  readonly payments: number;
  readonly units: bigint;
  /** In the wanted currency, finely: see `fineSum`. */
  readonly value: bigint;
  readonly unvalued: number;
}

/**
 * The payments that were completed in a time, by coin, the most frequent first. They are found by their events, whose
 * ids begin with that time.
 */
export async function completedBetween(
  executor: Database | Trx,
  { projectId, mode }: ProjectMode,
  { startAt, endAt }: ReportSpan,
  currency: Fiat,
): Promise<readonly CompletedCoin[]> {
  const value = valueIn(currency, {
    currency: sql`p.currency`,
    minor: sql`p.amount_minor`,
    usdCents: sql`p.amount_usd_cents`,
  });
  const { rows } = await sql<CompletedCoin>`
    select p.asset, p.network, p.decimals, count(*)::integer as payments,
      sum(p.confirmed_units)::numeric(78, 0) as units, ${fineSum(value)} as value,
      (count(*) filter (where ${value} is null))::integer as unvalued
    from events e join payments p on p.id = e.payment_id ${rateJoin(currency, sql`p.mode`, sql`p.created_at`)}
    where e.project_id = ${projectId} and e.mode = ${mode} and e.type = any (${stepEvents('completed')}::text[])
      and e.id >= ${firstUuidOf(startAt)}::uuid and e.id < ${firstUuidOf(endAt)}::uuid
    group by 1, 2, 3 order by 4 desc, 1, 2`.execute(executor);
  return rows;
}
