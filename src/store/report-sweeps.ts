import { sql } from 'kysely';
import type { DepositDifferenceRow, DepositRow, FeeRow, Named, SweptRow } from '../domain/books.ts';
import type { ReportSpan } from '../domain/report.ts';
import type { Database } from './database.ts';
import type { PaymentScopeKey } from './payment-filter.ts';
import { at, count, named, total } from './report-sums.ts';

const isWithin = ({ startAt, endAt }: ReportSpan) => sql`mined_at >= ${at(startAt)} and mined_at < ${at(endAt)}`;

/** What left deposit contracts for the treasury in a period, and what that cost. */
export async function sweepRows(
  db: Database,
  { projectId }: PaymentScopeKey,
  span: ReportSpan,
): Promise<{ readonly swept: readonly SweptRow[]; readonly fees: readonly FeeRow[] }> {
  const swept = await sql<SweptRow>`
    select network, asset, ${total('units')} as swept, ${total('usd_cents')} as "usdCents",
      count(*)::integer as sweeps, ${count(sql`usd_cents is null`)} as unvalued
    from sweep_transfers
    where project_id = ${projectId} and state = 'mined' and asset is not null and ${isWithin(span)}
    group by network, asset order by network, asset`.execute(db);
  const fees = await sql<FeeRow>`
    select network, ${total('fee_units')} as units, ${total('fee_usd_cents')} as "usdCents",
      count(*)::integer as sweeps, ${count(sql`fee_usd_cents is null`)} as unknown
    from sweeps where project_id = ${projectId} and state in ('mined', 'failed') and ${isWithin(span)}
    group by network order by network`.execute(db);
  return { swept: swept.rows, fees: fees.rows };
}

/**
 * Deposit by deposit, up to the block at which a node was asked what lies there; what came later is not counted there.
 */
export async function depositRows(
  db: Database,
  { projectId }: PaymentScopeKey,
): Promise<{ readonly deposits: readonly DepositRow[]; readonly depositDifferences: Named<DepositDifferenceRow> }> {
  await sql`
    create temporary table book_deposits on commit drop as
    with came as (
      select t.network, t.address, t.asset, sum(t.amount_units) as units,
        coalesce(sum(t.amount_units) filter (where t.block_height > c.block_height), 0) as since
      from wallets w join payment_addresses a on a.wallet_id = w.id
        join transfers t on t.network = a.network and t.address = a.address and t.payment_id = a.payment_id
        left join deposit_checks c on c.project_id = w.project_id and c.network = w.network
      where w.project_id = ${projectId} and w.kind = 'treasury' and t.state in ('mined', 'confirmed')
      group by t.network, t.address, t.asset
    ), gone as (
      select network, deposit_address as address, asset, sum(units) as units from sweep_transfers
      where project_id = ${projectId} and state = 'mined' and asset is not null group by 1, 2, 3
    ), lies as (
      select network, address, asset, sum(units) as units from deposit_balances
      where project_id = ${projectId} and asset is not null group by 1, 2, 3
    )
    select d.network, d.address, d.asset, d.received, d.since, d.swept, d.there, c.block_height is not null as is_checked
    from (
      select network, address, asset, coalesce(came.units, 0) as received, coalesce(came.since, 0) as since,
        coalesce(gone.units, 0) as swept, coalesce(lies.units, 0) as there
      from came full join gone using (network, address, asset) full join lies using (network, address, asset)
    ) d left join deposit_checks c on c.project_id = ${projectId} and c.network = d.network`.execute(db);
  const { rows: deposits } = await sql<DepositRow>`
    select network, asset, ${total('received')} as received, ${total('swept')} as swept,
      case when bool_and(is_checked) then ${total('there')} end as there, ${total('since')} as since
    from book_deposits group by network, asset order by network, asset`.execute(db);
  const depositDifferences = await named<DepositDifferenceRow>(
    db,
    sql`select network, address, asset, received - since as received, swept, there from book_deposits
      where is_checked and received - since <> swept + there`,
    sql`network, address, asset`,
  );
  return { deposits, depositDifferences };
}
