import { sql, type RawBuilder } from 'kysely';
import { firstUuidOf } from '../../domain/id.ts';
import { PAYMENT_APIS } from '../../domain/payment.ts';
import type { Fiat } from '../../domain/money.ts';
import type { ProjectMode } from '../../domain/permission.ts';
import type { PaymentStatus } from '../../domain/status.ts';
import type { Database, Trx } from '../database.ts';
import { fineSum, rateJoin, valueIn } from '../figures/currency-rates.ts';
import {
  changedHours,
  DURATION_CLASS,
  figuresProgress,
  HOUR_BY_HOUR,
  HOUR_MS,
  TOKEN_COLUMNS,
} from '../figures/figure-slots.ts';

/** Payments of one kind within a part of the time. */
export interface FigureRow {
  /** The number of the part: 0 is from the first edge to the second. */
  readonly part: number;
  readonly status: PaymentStatus;
  /** The token of completed payments; both are empty for others. */
  readonly network: string;
  readonly asset: string;
  readonly currency: string;
  readonly payments: number;
  /** In the wanted currency, finely: see `fineSum`. */
  readonly value: bigint;
  /** The payments whose value is unknown, because the hour has no rate. */
  readonly unvalued: number;
  /** In the currency's smallest unit. */
  readonly amountMinor: bigint;
}

/** The number of completed payments of a token in one class of durations. */
export interface DurationRow {
  readonly period: number;
  readonly network: string;
  readonly asset: string;
  /** See `durationClass`. */
  readonly class: number;
  readonly payments: number;
}

export interface FiguresWanted {
  /** The currency of values. */
  readonly currency: Fiat;
  /** Epoch milliseconds, rising, each a whole quarter of an hour: a part lies between two neighbours. */
  readonly edges: readonly number[];
  /** The edges of the parts for durations, in the same form. */
  readonly periods: readonly number[];
}

const DAY_MS = 24 * HOUR_MS;
/** With more pending transitions than this, the figures do not wait: they are then as old as the worker is behind. */
const MAX_PENDING = 5_000;
/** With more pending hours than this, they do not wait either. */
const MAX_PENDING_HOURS = 200;

/**
 * Figures of payments by the time of their creation, from one snapshot: the added-up hours, and directly from the
 * payments those hours that are not over or changed since.
 */
export async function readPaymentFigures(
  db: Database,
  scope: ProjectMode,
  { currency, edges, periods }: FiguresWanted,
): Promise<{ readonly figures: readonly FigureRow[]; readonly durations: readonly DurationRow[] }> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      const source = await sourceOf(trx, scope);
      return {
        figures: await figureRows(trx, scope, source, edges, currency),
        durations: await durationRows(trx, scope, source, periods),
      };
    });
}

/** The added-up hours: those before `closedUntil` without `pending`. Others are read from the payments. */
interface Source {
  readonly closedUntil: number;
  readonly pending: readonly number[];
}

async function sourceOf(trx: Trx, scope: ProjectMode): Promise<Source> {
  const { closedUntil, takenIn } = await figuresProgress(trx);
  if (closedUntil === null || takenIn === null) return { closedUntil: 0, pending: [] };
  const limits = { after: takenIn, before: closedUntil, limit: MAX_PENDING };
  const { hours } = await changedHours(trx, limits, scope);
  return {
    closedUntil,
    pending: hours
      .map(({ at }) => at)
      .toSorted((a, b) => b - a)
      .slice(0, MAX_PENDING_HOURS),
  };
}

const time = (at: number): RawBuilder<unknown> => sql`${new Date(at).toISOString()}::timestamptz`;
const times = (all: readonly number[]): RawBuilder<unknown> =>
  sql`${all.map((at) => new Date(at).toISOString())}::timestamptz[]`;

/** The payments themselves, with times in `ranges`. */
function fresh(
  { projectId, mode }: ProjectMode,
  ranges: readonly Range[],
  columns: RawBuilder<unknown>,
  condition = sql`true`,
): RawBuilder<unknown> {
  const wanted = ranges.map(({ from, until }) => ({ first_id: firstUuidOf(from), next_id: firstUuidOf(until) }));
  return sql`select fresh.* from json_to_recordset(${JSON.stringify(wanted)}::json) as r (first_id uuid, next_id uuid)
    cross join lateral (
      select ${columns} from payments p
      where p.project_id = ${projectId} and p.mode = ${mode} and p.surface = any (${PAYMENT_APIS}::text[])
        and p.id >= r.first_id and p.id < r.next_id and ${condition} ${HOUR_BY_HOUR}
    ) fresh`;
}

interface Range {
  readonly from: number;
  readonly until: number;
}

/** The parts of a range that are not added up. */
function freshRanges({ closedUntil, pending }: Source, from: number, until: number): readonly Range[] {
  const hours = pending.map((at) => ({ from: Math.max(at, from), until: Math.min(at + HOUR_MS, until) }));
  const open = { from: Math.max(from, closedUntil), until };
  return [...hours, open].filter((one) => one.from < one.until);
}

async function figureRows(
  trx: Trx,
  scope: ProjectMode,
  source: Source,
  edges: readonly number[],
  currency: Fiat,
): Promise<readonly FigureRow[]> {
  const [from = 0, until = 0] = [edges[0], edges.at(-1)];
  const value = valueIn(currency, { currency: sql`currency`, minor: sql`amount_minor`, usdCents: sql`usd_cents` });
  const minutes = edges.every((edge) => edge % HOUR_MS === 0) ? 60 : 15;
  const { rows } = await sql<FigureRow>`
    select width_bucket(at, ${times(edges)}) - 1 as part, status, network, asset, currency, sum(payments)::integer as payments,
      ${fineSum(value)} as value, coalesce(sum(payments) filter (where ${value} is null), 0)::integer as unvalued,
      sum(amount_minor)::bigint as "amountMinor"
    from (
      select at, status, network, asset, currency, payments, usd_cents, amount_minor from payment_figures
      where project_id = ${scope.projectId} and mode = ${scope.mode} and minutes = ${minutes}
        and at >= ${time(from)} and at < ${time(Math.min(until, source.closedUntil))} and ${isTakenIn(source)}
      union all ${fresh(
        scope,
        freshRanges(source, from, until),
        sql`p.created_at, p.status, ${TOKEN_COLUMNS}, p.currency, 1, p.amount_usd_cents, p.amount_minor`,
      )}
    ) figures ${rateJoin(currency, sql`${scope.mode}`, sql`figures.at`)}
    where at >= ${time(from)} and at < ${time(until)}
    group by 1, 2, 3, 4, 5`.execute(trx);
  return rows;
}

function isTakenIn({ pending }: Source): RawBuilder<unknown> {
  return pending.length === 0 ? sql`true` : sql`date_bin('1 hour', at, 'epoch') <> all (${times(pending)})`;
}

async function durationRows(
  trx: Trx,
  scope: ProjectMode,
  source: Source,
  periods: readonly number[],
): Promise<readonly DurationRow[]> {
  const added = periods.slice(1).flatMap((until, period) => addedUp(source, periods[period] ?? until, until, period));
  const [from = 0, until = 0] = [periods[0], periods.at(-1)];
  const wanted = added.map((one) => ({ ...one, from: new Date(one.from), until: new Date(one.until) }));
  const { rows } = await sql<DurationRow>`
    select period, network, asset, class, sum(payments)::integer as payments from (
      select r.period, c.network, c.asset, one.class, one.payments
      from json_to_recordset(${JSON.stringify(wanted)}::json) as r (minutes smallint, "from" timestamptz, until timestamptz, period int)
      cross join lateral (
        select at, network, asset, classes, payments from completion_times
        where project_id = ${scope.projectId} and mode = ${scope.mode} and minutes = r.minutes
          and at >= r."from" and at < r.until ${HOUR_BY_HOUR}
      ) c
      cross join lateral unnest(c.classes, c.payments) as one (class, payments)
      where r.minutes = 1440 or ${isTakenIn(source)}
      union all ${fresh(
        scope,
        freshRanges(source, from, until),
        sql`width_bucket(p.created_at, ${times(periods)}) - 1, ${TOKEN_COLUMNS}, ${DURATION_CLASS}, 1`,
        sql`p.status = 'completed' and p.completed_at is not null`,
      )}
    ) durations group by 1, 2, 3, 4`.execute(trx);
  return rows;
}

interface AddedUp extends Range {
  readonly minutes: 15 | 1440;
  readonly period: number;
}

/** The added-up parts of a period: whole days where no hour is missing, quarters of an hour around them. */
function addedUp({ closedUntil, pending }: Source, from: number, end: number, period: number): readonly AddedUp[] {
  const until = Math.min(end, closedUntil);
  const firstDay = Math.ceil(from / DAY_MS) * DAY_MS;
  const lastDay = Math.floor(until / DAY_MS) * DAY_MS;
  if (firstDay >= lastDay) return from < until ? [{ minutes: 15, from, until, period }] : [];
  const late = new Set(pending.map((at) => Math.floor(at / DAY_MS) * DAY_MS));
  const parts: AddedUp[] = [
    { minutes: 15, from, until: firstDay, period },
    { minutes: 15, from: lastDay, until, period },
  ];
  let begun = firstDay;
  for (const day of [...late].filter((one) => one >= firstDay && one < lastDay).toSorted((a, b) => a - b)) {
    parts.push(
      { minutes: 1440, from: begun, until: day, period },
      { minutes: 15, from: day, until: day + DAY_MS, period },
    );
    begun = day + DAY_MS;
  }
  parts.push({ minutes: 1440, from: begun, until: lastDay, period });
  return parts.filter((one) => one.from < one.until);
}
