import { sql, type RawBuilder } from 'kysely';
import { firstUuidOf } from '../../domain/id.ts';
import { PAYMENT_APIS } from '../../domain/payment.ts';
import type { Mode } from '../../domain/permission.ts';
import type { Database, Trx } from '../database.ts';
import { fields, findRow, updateRows } from '../rows.ts';

/** One hour of a project's payments of one mode, by their time of creation: epoch milliseconds, a whole UTC hour. */
export interface FigureHour {
  readonly projectId: string;
  readonly mode: Mode;
  readonly at: number;
}

/** The progress of adding up figures. */
export interface FiguresProgress {
  /** Hours before this time are added up; null: none is. */
  readonly closedUntil: number | null;
  /** Every transition up to this id is included in the added-up hours. */
  readonly takenIn: bigint | null;
}

export const HOUR_MS = 3_600_000;

/** The only row of `figures_progress`. */
const ROW = 1;

export async function figuresProgress(db: Database | Trx): Promise<FiguresProgress> {
  const row = await findRow(db, 'figures_progress', { id: ROW }, { without: ['id', 'newest', 'ended_before'] });
  return row ?? { closedUntil: null, takenIn: null };
}

/** The progress with the state of its tail, locked; null if another process is adding up. */
export async function lockFiguresProgress(trx: Trx): Promise<(FiguresProgress & TailState) | null> {
  await sql`insert into figures_progress (id) values (${ROW}) on conflict do nothing`.execute(trx);
  const row = await trx
    .selectFrom('figures_progress')
    .select(fields('figures_progress', { without: ['id'] }))
    .where('id', '=', ROW)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
  return row ?? null;
}

interface TailState {
  /** The newest transition's id when it was last noted. */
  readonly newest: bigint | null;
  /**
   * Every transition up to `newest` is saved once all database transactions before this one have ended; null: find one.
   */
  readonly endedBefore: bigint | null;
}

export async function saveFiguresProgress(trx: Trx, progress: FiguresProgress & TailState): Promise<void> {
  await updateRows(trx, 'figures_progress', { id: ROW }, progress);
}

/** Whether every hour before a time is added up, and all transitions are included. */
export async function isUpToDate(db: Database, over: number): Promise<boolean> {
  const { rows } = await sql<{ isUpToDate: boolean | null }>`
    select closed_until >= ${new Date(over).toISOString()}::timestamptz and taken_in = newest
      and taken_in = coalesce((select id from payment_arrows order by id desc limit 1), 0) as "isUpToDate"
    from figures_progress where id = ${ROW}`.execute(db);
  return rows[0]?.isUpToDate === true;
}

/** The newest visible transition, the oldest database transaction that still runs, and this one. */
export async function transitionsNow(
  trx: Trx,
): Promise<{ readonly newest: bigint; readonly oldestXid: bigint; readonly ownXid: bigint }> {
  const { rows } = await sql<{ newest: bigint; oldestXid: bigint; ownXid: bigint }>`
    select coalesce((select id from payment_arrows order by id desc limit 1), 0) as newest,
      pg_snapshot_xmin(pg_current_snapshot())::text::bigint as "oldestXid",
      pg_current_xact_id()::text::bigint as "ownXid"`.execute(trx);
  const [row] = rows;
  if (row === undefined) throw new Error('The database returned no row.');
  return row;
}

/**
 * The hours before a time whose payments changed after a transition; only of one project and mode if they are given.
 */
export async function changedHours(
  db: Database | Trx,
  { after, before, limit }: { readonly after: bigint; readonly before: number; readonly limit: number },
  scope: { readonly projectId: string; readonly mode: Mode } | null = null,
): Promise<{ readonly hours: readonly FigureHour[]; readonly upTo: bigint | null }> {
  const own = scope === null ? sql`true` : sql`p.project_id = ${scope.projectId} and p.mode = ${scope.mode}`;
  const { rows } = await sql<{ projectId: string | null; mode: Mode; at: number; upTo: bigint }>`
    with changed as materialized (
      select id, payment_id from payment_arrows where id > ${after} order by id limit ${limit}
    )
    select p.project_id as "projectId", p.mode, date_bin('1 hour', p.created_at, 'epoch') as at, max(c.id) as "upTo"
    from changed c left join payments p
      on p.id = c.payment_id and c.payment_id < ${firstUuidOf(before)}::uuid and ${own}
    group by 1, 2, 3`.execute(db);
  const upTo = rows.reduce<bigint | null>((most, row) => (most === null || row.upTo > most ? row.upTo : most), null);
  const hours = rows.flatMap(({ projectId, mode, at }) => (projectId === null ? [] : [{ projectId, mode, at }]));
  return { hours, upTo };
}

/**
 * The end of the next hours to add up from a time on, at most `maxHours` and about `maxPayments`; hours without
 * payments before them are skipped. Null: there is no later payment.
 */
export async function nextHours(
  trx: Trx,
  from: number | null,
  { maxPayments, maxHours }: { readonly maxPayments: number; readonly maxHours: number },
): Promise<{ readonly from: number; readonly until: number } | null> {
  const nth = (start: number, offset: number) => sql<{ createdAt: number }>`
    select created_at as "createdAt" from payments where id >= ${firstUuidOf(start)}::uuid order by id limit 1 offset ${offset}`;
  const hourOf = (at: number): number => Math.floor(at / HOUR_MS) * HOUR_MS;
  const [first] = (await nth(from ?? 0, 0).execute(trx)).rows;
  if (first === undefined) return null;
  const start = Math.max(from ?? 0, hourOf(first.createdAt));
  const [last] = (await nth(start, maxPayments).execute(trx)).rows;
  const until = Math.min(last === undefined ? Infinity : hourOf(last.createdAt), start + maxHours * HOUR_MS);
  return { from: start, until: Math.max(until, start + HOUR_MS) };
}

/** The hours within which payments were created, of all projects. */
export async function hoursWithPayments(trx: Trx, from: number, until: number): Promise<readonly FigureHour[]> {
  const { rows } = await sql<FigureHour>`
    select distinct project_id as "projectId", mode, date_bin('1 hour', created_at, 'epoch') as at from payments
    where id >= ${firstUuidOf(from)}::uuid and id < ${firstUuidOf(until)}::uuid`.execute(trx);
  return rows;
}

/**
 * Looks up each time along an index by itself: otherwise the planner, which does not know how few the times are,
 * compares every payment with every time.
 */
export const HOUR_BY_HOUR = sql`offset 0`;

/** The token of a completed payment, which is final; before completion, another may be chosen. */
export const TOKEN_COLUMNS = sql`
  case when p.status = 'completed' then coalesce(p.network, '') else '' end as network,
  case when p.status = 'completed' then coalesce(p.asset, '') else '' end as asset`;

/** How long a payment took, computed like `durationClass`. */
export const DURATION_CLASS = sql`(
  select case when s < 64 then s else 64 + (e - 6) * 32 + ((s - (1::bigint << e)) * 32) / (1::bigint << e) end::int
  from (select greatest(0, floor(extract(epoch from p.completed_at - p.created_at)))::bigint as s) seconds,
  lateral (select length(ltrim(greatest(s, 1)::bit(40)::text, '0')) - 1 as e) bits)`;

/** Adds up these hours from the present payments, replacing earlier sums. */
export async function addUpHours(trx: Trx, hours: readonly FigureHour[]): Promise<void> {
  if (hours.length === 0) return;
  const hourRows = wantedHours(hours);
  const within = (
    minutes: RawBuilder<unknown>,
  ) => sql`using ${hourRows} where f.project_id = w.project_id and f.mode = w.mode
    and f.minutes = any (${minutes}) and f.at >= w.at and f.at < w.until`;
  const days = sql`(select distinct project_id, mode, date_bin('1 day', at, 'epoch') as at from ${hourRows})`;
  await sql`delete from payment_figures f ${within(sql`'{15,60}'`)}`.execute(trx);
  await sql`
    insert into payment_figures (project_id, mode, minutes, at, status, network, asset, currency, payments, usd_cents, amount_minor)
    select w.project_id, w.mode, slot.minutes, date_bin(slot.minutes * interval '1 minute', p.at, 'epoch'),
      p.status, p.network, p.asset, p.currency, count(*), sum(p.amount_usd_cents), sum(p.amount_minor)
    from ${hourRows} cross join lateral (
      select ${slotTime()} as at, p.status, ${TOKEN_COLUMNS}, p.currency, p.amount_usd_cents, p.amount_minor
      from payments p where ${inHour()} ${HOUR_BY_HOUR}
    ) p cross join (values (15), (60)) slot (minutes)
    group by 1, 2, 3, 4, 5, 6, 7, 8`.execute(trx);
  await sql`delete from completion_times f ${within(sql`'{15}'`)}`.execute(trx);
  await sql`
    insert into completion_times (project_id, mode, minutes, at, network, asset, classes, payments)
    select project_id, mode, 15, at, network, asset, array_agg(class order by class), array_agg(payments order by class)
    from (
      select w.project_id, w.mode, date_bin('15 minutes', p.at, 'epoch') as at, p.network, p.asset, p.class, count(*)::int as payments
      from ${hourRows} cross join lateral (
        select ${slotTime()} as at, ${TOKEN_COLUMNS}, ${DURATION_CLASS} as class
        from payments p where ${inHour()} and p.status = 'completed' and p.completed_at is not null
          ${HOUR_BY_HOUR}
      ) p group by 1, 2, 3, 4, 5, 6
    ) classes group by 1, 2, 3, 4, 5, 6`.execute(trx);
  await sql`delete from completion_times f using ${days} d
    where f.project_id = d.project_id and f.mode = d.mode and f.minutes = 1440 and f.at = d.at`.execute(trx);
  await sql`
    insert into completion_times (project_id, mode, minutes, at, network, asset, classes, payments)
    select project_id, mode, 1440, at, network, asset, array_agg(class order by class), array_agg(payments order by class)
    from (
      select d.project_id, d.mode, d.at, c.network, c.asset, one.class, sum(one.payments)::int as payments
      from ${days} d cross join lateral (
        select c.network, c.asset, c.classes, c.payments from completion_times c where c.project_id = d.project_id and c.mode = d.mode and c.minutes = 15
          and c.at >= d.at and c.at < d.at + interval '1 day' ${HOUR_BY_HOUR}
      ) c
      cross join lateral unnest(c.classes, c.payments) as one (class, payments)
      group by 1, 2, 3, 4, 5, 6
    ) classes group by 1, 2, 3, 4, 5, 6`.execute(trx);
}

function wantedHours(hours: readonly FigureHour[]): RawBuilder<unknown> {
  const rows = hours.map(({ projectId, mode, at }) => ({
    project_id: projectId,
    mode,
    at: new Date(at).toISOString(),
    until: new Date(at + HOUR_MS).toISOString(),
    first_id: firstUuidOf(at),
    next_id: firstUuidOf(at + HOUR_MS),
  }));
  return sql`json_to_recordset(${JSON.stringify(rows)}::json)
    as w (project_id uuid, mode text, at timestamptz, until timestamptz, first_id uuid, next_id uuid)`;
}

const inHour = () => sql`p.project_id = w.project_id and p.mode = w.mode and p.surface = any (${PAYMENT_APIS}::text[])
  and p.id >= w.first_id and p.id < w.next_id`;

/** Payments are found by their ids: if rounding moves a time out of its hour, the payment still counts in that hour. */
const slotTime = () => sql`greatest(w.at, least(p.created_at, w.at + interval '59 minutes 59 seconds'))`;
