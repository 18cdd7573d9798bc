import { sql, type RawBuilder } from 'kysely';
import { DatabaseError } from 'pg';
import { firstUuidOf } from '../../domain/id.ts';
import type { Network } from '../../domain/networks.ts';
import type { Fiat } from '../../domain/money.ts';
import type { Database, Trx } from '../database.ts';
import { rateJoin, valueIn, type Worth } from '../figures/currency-rates.ts';
import { WAS_PAID } from '../refunds/refund-payouts.ts';
import { COIN_DECIMALS, selectionOf, SWEPT_COIN, type ReportSelection } from './report-export.ts';
import { count, total } from './report-sums.ts';

/** The sums of a report's rows in one token. */
export interface ReportTotal {
  /** The coin, including a chain's own that is not accepted. Null: none was chosen. */
  readonly asset: string | null;
  readonly network: Network | null;
  /** The decimals of a payment that was quoted in it, or of the chain's own coin. */
  readonly decimals: number | null;
  readonly rows: number;
  readonly units: bigint;
  /** In the project's currency, in its smallest unit. */
  readonly value: bigint;
  /** The number of rows whose value is unknown. */
  readonly unvalued: number;
}

/** The longest that a person waits for a preview. */
const PREVIEW_MS = 8_000;
/** PostgreSQL: query_canceled. */
const CANCELLED = '57014';

/** Computes the sums of a report file by token; null if that takes too long. */
export async function reportTotals(
  db: Database,
  selection: ReportSelection,
  currency: Fiat,
): Promise<readonly ReportTotal[] | null> {
  return forPreview(db, async (trx) => {
    const { rows } = await totalsOf(selection, currency).execute(trx);
    return rows;
  });
}

/** Computes a preview on one processor; null if a statement of it takes too long. */
export async function forPreview<Preview>(db: Database, work: (trx: Trx) => Promise<Preview>): Promise<Preview | null> {
  try {
    return await db.transaction().execute(async (trx) => {
      await sql`select set_config('statement_timeout', ${String(PREVIEW_MS)}, true), set_config('jit', 'off', true),
        set_config('max_parallel_workers_per_gather', '0', true)`.execute(trx);
      return work(trx);
    });
  } catch (error) {
    if (error instanceof DatabaseError && error.code === CANCELLED) return null;
    throw error;
  }
}

const worthOf = (minor: string, usdCents: string): Worth => ({
  currency: sql`p.currency`,
  minor: sql.raw(minor),
  usdCents: sql.raw(usdCents),
});

function totalsOf(selection: ReportSelection, currency: Fiat): RawBuilder<ReportTotal> {
  const { report, scope, span, token } = selection;
  const rates = (at: RawBuilder<unknown>) => rateJoin(currency, sql`p.mode`, at);
  const sums = (
    of: string,
    units: string,
    worth: Worth,
    {
      has = sql`true`,
      coin = sql.raw(`${of}.asset`),
      decimals = sql`null`,
    }: Partial<Record<'has' | 'coin' | 'decimals', RawBuilder<unknown>>> = {},
  ): RawBuilder<unknown> => {
    const value = valueIn(currency, worth);
    const [asset, network] = [sql.raw(`${of}.asset`), sql.raw(`${of}.network`)];
    return sql`select ${coin} as asset, ${network},
      coalesce(max(p.decimals) filter (where p.asset = ${asset} and p.network = ${network}), ${decimals}) as decimals,
      count(*)::integer as rows, ${total(units, has)} as units, ${total(value, has)} as value,
      ${count(sql`${has} and ${value} is null`)} as unvalued`;
  };
  const grouped = sql`group by 1, 2 order by 2, 1`;
  if (report === 'payments') {
    const isOfToken = token === null ? sql`` : sql`and p.asset = ${token.asset} and p.network = ${token.network}`;
    return sql<ReportTotal>`${sums('p', 'p.confirmed_units', worthOf('p.amount_minor', 'p.amount_usd_cents'))} from payments p ${rates(sql`p.created_at`)}
      where p.project_id = ${scope.projectId} and p.mode = ${scope.mode}
        and p.id >= ${firstUuidOf(span.startAt)}::uuid and p.id < ${firstUuidOf(span.endAt)}::uuid ${isOfToken} ${grouped}`;
  }
  const { from, where, at } = selectionOf({ ...selection, report });
  const columns = {
    transfers: sums('t', 't.amount_units', worthOf('t.receipt_minor', 't.receipt_usd_cents')),
    refunds: sums('r', 'r.units', worthOf('r.disposal_minor', 'r.disposal_usd_cents'), { has: WAS_PAID }),
    sweeps: sums('s', 's.units', worthOf('null', 's.usd_cents'), {
      coin: SWEPT_COIN,
      decimals: sql`case when bool_and(s.asset is null) then ${sql.lit(COIN_DECIMALS)} end`,
    }),
  };
  return sql<ReportTotal>`${columns[report]} from ${from} ${rates(at)} where ${where} ${grouped}`;
}
