import { sql } from 'kysely';
import type { CountedScope, DepositDifferenceRow, DepositRow, FeeRow, Named, SweptRow } from '../../domain/books.ts';
import { EVM_NETWORKS, nativeAsset } from '../../domain/networks.ts';
import type { ReportSpan } from '../../domain/report.ts';
import type { Database } from '../database.ts';
import { rateJoin, valueIn } from '../figures/currency-rates.ts';
import { at, count, named, namedRows, total } from './report-sums.ts';
import type { ProjectMode } from '../../domain/permission.ts';

const isWithin = ({ startAt, endAt }: ReportSpan) => sql`mined_at >= ${at(startAt)} and mined_at < ${at(endAt)}`;

/** The money that left deposit contracts for the treasury in a period, and its cost. */
export async function sweepRows(
  db: Database,
  { projectId, currency }: CountedScope,
  span: ReportSpan,
): Promise<{ readonly swept: readonly SweptRow[]; readonly fees: readonly FeeRow[] }> {
  const value = (usdCents: string) =>
    valueIn(currency, { currency: sql`null`, minor: sql`null`, usdCents: sql.raw(usdCents) });
  const rates = rateJoin(currency, sql`'live'`, sql`mined_at`);
  const swept = await sql<SweptRow>`
    select network, asset, ${total('units')} as swept, ${total(value('usd_cents'))} as value,
      count(*)::integer as sweeps, ${count(sql`${value('usd_cents')} is null`)} as unvalued
    from sweep_transfers ${rates}
    where project_id = ${projectId} and state = 'mined' and asset is not null and ${isWithin(span)}
    group by network, asset order by network, asset`.execute(db);
  const fees = await sql<FeeRow>`
    select network, ${total('fee_units')} as units, ${total(value('fee_usd_cents'))} as value,
      count(*)::integer as sweeps, ${count(sql`${value('fee_usd_cents')} is null`)} as unknown
    from sweeps ${rates} where project_id = ${projectId} and ${isWithin(span)}
      and (state = 'mined' or (state = 'failed' and fee_units is not null))
    group by network order by network`.execute(db);
  return { swept: swept.rows, fees: fees.rows };
}

/**
 * The sums of each deposit, at the block of its last known balance: that of the last check, or of a later sweep. Later
 * transfers are counted separately. For a block that this service has not read yet, the sums are unknown. Equal sums
 * prove nothing if money arrived unseen and the same amount left: therefore the money that left by the balances around
 * each block (`coin_outflows`) must not exceed the recorded sweeps.
 */
export async function depositRows(
  db: Database,
  { projectId }: ProjectMode,
  isStandby: boolean,
): Promise<{ readonly deposits: readonly DepositRow[]; readonly depositDifferences: Named<DepositDifferenceRow> }> {
  const balances = await namedRows(
    db,
    sql`book_deposits`,
    sql`with lies as (
      select network, address, asset, sum(units) as units, max(block_height) as height from deposit_balances
      where project_id = ${projectId} and asset is not null group by 1, 2, 3
    ), moves as (
      select t.network, t.address, t.asset, t.block_height, t.amount_units as came, 0 as gone, 0 as taken, false as is_unclear
      from wallets w join payment_addresses a on a.wallet_id = w.id
        join transfers t on t.network = a.network and t.address = a.address and t.payment_id = a.payment_id
      where w.project_id = ${projectId} and w.kind = 'treasury' and t.state in ('mined', 'confirmed')
      union all
      select network, deposit_address, asset, block_height, 0, units, 0, false from sweep_transfers
      where project_id = ${projectId} and state = 'mined' and asset is not null
      union all
      select o.network, o.address, n.asset, o.block_height, greatest(-o.units, 0), 0, greatest(o.units, 0), o.state = 'open'
      from wallets w join payment_addresses a on a.wallet_id = w.id
        join coin_outflows o on o.network = a.network and o.address = a.address
        join json_to_recordset(${NATIVE_ASSETS}::json) as n (network text, asset text) on n.network = o.network
      where w.project_id = ${projectId} and w.kind = 'treasury'
    ), moved as (
      select m.network, m.address, m.asset, sum(came) as came, sum(gone) as gone,
        ${total('came', IS_LATER)} as came_later, ${total('gone', IS_LATER)} as gone_later,
        sum(taken) - ${total('taken', IS_LATER)} as taken, bool_or(is_unclear) as is_unclear
      from moves m left join lies l on l.network = m.network and l.address = m.address and l.asset = m.asset
        left join deposit_checks c on c.project_id = ${projectId} and c.network = m.network
      group by m.network, m.address, m.asset
    )
    select d.*, coalesce(greatest(d.height, c.block_height) <= k.height, false) as is_checked
    from (
      select network, address, asset, height, coalesce(came, 0) as received, coalesce(came_later, 0) as since,
        coalesce(gone, 0) as swept, coalesce(units, 0) - coalesce(gone_later, 0) as there,
        coalesce(taken - gone + gone_later, 0) as untold, coalesce(is_unclear, false) as is_unclear,
        greatest(coalesce(taken, 0) + coalesce(units, 0) - coalesce(came - came_later, 0), 0) as unseen
      from moved full join lies using (network, address, asset)
    ) d left join deposit_checks c on c.project_id = ${projectId} and c.network = d.network
      left join chain_cursors k on k.network = d.network`,
    isStandby,
  );
  const { rows: deposits } = await sql<DepositRow>`
    ${balances} select network, asset, ${total('received')} as received, ${total('swept')} as swept,
      case when bool_and(is_checked) then ${total('there')} end as there, ${total('since')} as since
    from book_deposits group by network, asset order by network, asset`.execute(db);
  const depositDifferences = await named<DepositDifferenceRow>(
    db,
    sql`${balances} select network, address, asset, received - since as received, swept, there, unseen, is_unclear as "isUnclear"
      from book_deposits
      where is_unclear or (is_checked and (received - since <> swept + there or untold > 0))`,
    sql`network, address, asset`,
  );
  return { deposits, depositDifferences };
}

const NATIVE_ASSETS = JSON.stringify(
  EVM_NETWORKS.flatMap((network) => {
    const asset = nativeAsset(network);
    return asset === null ? [] : [{ network, asset }];
  }),
);

const IS_LATER = sql`m.block_height > greatest(l.height, c.block_height)`;
