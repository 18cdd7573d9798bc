import { sql, type RawBuilder } from 'kysely';
import { DatabaseError } from 'pg';
import type { AssetCode } from '../domain/asset.ts';
import { firstUuidOf } from '../domain/id.ts';
import type { Network } from '../domain/networks.ts';
import type { Database } from './database.ts';
import { selectionOf, type ReportSelection } from './report-export.ts';

/** What a report's rows in one token add up to. */
export interface ReportTotal {
  /** Null: no token was chosen, or none that is accepted. */
  readonly asset: AssetCode | null;
  readonly network: Network | null;
  /** Of a payment that was quoted in it. */
  readonly decimals: number | null;
  readonly rows: number;
  readonly units: bigint;
  readonly usdCents: bigint;
  /** Of how many rows the value is unknown. */
  readonly unvalued: number;
}

/** Nobody waits longer for a preview. */
const PREVIEW_MS = 8_000;
/** PostgreSQL: query_canceled. */
const CANCELLED = '57014';

/** Adds up what a file would have, token by token; null if that takes too long. */
export async function reportTotals(db: Database, selection: ReportSelection): Promise<readonly ReportTotal[] | null> {
  try {
    return await db.transaction().execute(async (trx) => {
      await sql`select set_config('statement_timeout', ${String(PREVIEW_MS)}, true), set_config('jit', 'off', true),
        set_config('max_parallel_workers_per_gather', '0', true)`.execute(trx);
      const { rows } = await totalsOf(selection).execute(trx);
      return rows;
    });
  } catch (error) {
    if (error instanceof DatabaseError && error.code === CANCELLED) return null;
    throw error;
  }
}

function totalsOf(selection: ReportSelection): RawBuilder<ReportTotal> {
  const { report, scope, span, token } = selection;
  const sums = (of: string, units: string, cents: string): RawBuilder<unknown> => {
    const [asset, network] = [sql.raw(`${of}.asset`), sql.raw(`${of}.network`)];
    return sql`select ${asset}, ${network},
      max(p.decimals) filter (where p.asset = ${asset} and p.network = ${network}) as decimals,
      count(*)::integer as rows, coalesce(sum(${sql.raw(units)}), 0)::numeric(78, 0) as units,
      coalesce(sum(${sql.raw(cents)}), 0)::numeric(78, 0) as "usdCents",
      (count(*) - count(${sql.raw(cents)}))::integer as unvalued`;
  };
  const grouped = sql`group by 1, 2 order by 2, 1`;
  if (report === 'payments') {
    const isOfToken = token === null ? sql`` : sql`and p.asset = ${token.asset} and p.network = ${token.network}`;
    return sql<ReportTotal>`${sums('p', 'p.confirmed_units', 'p.amount_usd_cents')} from payments p
      where p.project_id = ${scope.projectId} and p.mode = ${scope.mode}
        and p.id >= ${firstUuidOf(span.startAt)}::uuid and p.id < ${firstUuidOf(span.endAt)}::uuid ${isOfToken} ${grouped}`;
  }
  const { from, where } = selectionOf({ ...selection, report });
  const columns = {
    transfers: sums('t', 't.amount_units', 't.receipt_usd_cents'),
    refunds: sums('r', 'r.units', 'r.disposal_usd_cents'),
    sweeps: sums('s', 's.units', 's.usd_cents'),
  };
  return sql<ReportTotal>`${columns[report]} from ${from} where ${where} ${grouped}`;
}
