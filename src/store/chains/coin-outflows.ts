import { sql } from 'kysely';
import type { AssetCode } from '../../domain/asset-code.ts';
import type { Network } from '../../domain/networks.ts';
import type { Database, Trx } from '../database.ts';
import { above, deleteRows } from '../rows.ts';

/** Native coins that left an address, in the smallest unit. */
export interface CoinOutflow {
  readonly address: string;
  readonly height: number;
  readonly units: bigint;
  /**
   * `taken`: they left in this block. `missing`: they were found missing after this block, and left in it or before.
   * `open`: no node could list the arrivals and departures of this block; the units are the least that left. `before`:
   * they lay there when the address was handed out; the units are negative.
   */
  readonly state: 'taken' | 'missing' | 'open' | 'before';
}

/** An address that a transaction of a block may have taken native coins from. */
export interface TakenFrom {
  readonly address: string;
  readonly height: number;
  /** The treasury of the deposit, in lower case; null: the address is no deposit. */
  readonly treasury: string | null;
}

/** The amount that left the address of the row with this alias altogether. */
export const LEFT = (row: string) =>
  sql`(select sum(o.units) from coin_outflows o where o.network = ${sql.ref(`${row}.network`)} and o.address = ${sql.ref(`${row}.address`)})`;

/** An address that sends or is called, or a deposit that a call names. */
export type NamedTaking =
  | { readonly height: number; readonly address: string }
  | { readonly height: number; readonly treasury: string; readonly index: number };

/** The addresses, among those that transactions name, that were handed out here or that a restore lost. */
export async function addressesNamed(
  db: Database,
  network: Network,
  named: readonly NamedTaking[],
): Promise<readonly TakenFrom[]> {
  if (named.length === 0) return [];
  const { rows } = await sql<TakenFrom>`
    with n as (select * from json_to_recordset(${JSON.stringify(named)}::json)
      as n (height integer, address text, treasury text, index integer))
    select a.address, n.height, lower(w.source) as treasury
    from n join payment_addresses a on a.network = ${network} and a.address = n.address
      left join wallets w on w.id = a.wallet_id and w.kind = 'treasury'
    union
    select a.address, n.height, n.treasury
    from wallets w join n on n.treasury = lower(w.source)
      join payment_addresses a on a.wallet_id = w.id and a.address_index = n.index and a.network = w.network
    where w.network = ${network} and w.kind = 'treasury'
    union
    select u.address, n.height, n.treasury
    from wallets w join n on n.treasury = lower(w.source)
      join unissued_addresses u on u.network = w.network and u.first_address = w.first_address and u.address_index = n.index
    where w.network = ${network} and w.kind = 'treasury'
    order by 2, 1`.execute(db);
  return rows;
}

/** The treasuries that deposits of a network pay, in lower case. */
export async function treasuriesOn(db: Database, network: Network): Promise<readonly string[]> {
  const { rows } = await sql<{ treasury: string }>`
    select distinct lower(source) as treasury from wallets where network = ${network} and kind = 'treasury'`.execute(
    db,
  );
  return rows.map(({ treasury }) => treasury);
}

/** Blocks for which no node could list an address's arrivals and departures yet. */
export async function openOutflows(db: Database, network: Network): Promise<readonly TakenFrom[]> {
  const { rows } = await sql<TakenFrom>`
    select o.address, o.block_height as height, lower(w.source) as treasury
    from coin_outflows o join payment_addresses a on a.network = o.network and a.address = o.address
      left join wallets w on w.id = a.wallet_id and w.kind = 'treasury'
    where o.network = ${network} and o.state = 'open' order by 2, 1`.execute(db);
  return rows;
}

/** The number of addresses of each network that such blocks concern, and the first of these blocks. */
export async function openOutflowCounts(
  db: Database,
): Promise<readonly { readonly network: Network; readonly addresses: number; readonly height: number }[]> {
  const { rows } = await sql<{ network: Network; addresses: number; height: number }>`
    select network, count(distinct address)::integer as addresses, min(block_height) as height
    from coin_outflows where state = 'open' group by network`.execute(db);
  return rows;
}

/**
 * The balance of a payment's address before a block, and the amount that arrived in the block, where both are known.
 */
export async function knownAround(
  db: Database,
  network: Network,
  asset: AssetCode,
  { address, height }: { readonly address: string; readonly height: number },
): Promise<{
  readonly paymentId: string;
  readonly afterBlock: string | null;
  readonly before: bigint;
  readonly arrived: bigint;
} | null> {
  const { rows } = await sql<{ paymentId: string; afterBlock: string | null; before: bigint; arrived: bigint }>`
    select a.payment_id as "paymentId", a.after_block as "afterBlock",
      coalesce(sum(t.amount_units) filter (where t.block_height = ${height}), 0) as arrived,
      coalesce(sum(t.amount_units) filter (where t.block_height < ${height}), 0)
        - coalesce((select sum(o.units) from coin_outflows o
            where o.network = a.network and o.address = a.address and o.block_height < ${height}), 0) as before
    from payment_addresses a left join transfers t on t.payment_id = a.payment_id and t.network = a.network
      and t.address = a.address and t.asset = ${asset} and t.state in ('mined', 'confirmed')
    where a.network = ${network} and a.address = ${address}
    group by a.network, a.address, a.payment_id, a.after_block`.execute(db);
  return rows[0] ?? null;
}

/** Saves the coins that left addresses. An open block that `resolved` names is replaced by these. */
export async function saveOutflows(
  trx: Trx,
  network: Network,
  outflows: readonly CoinOutflow[],
  resolved: readonly { readonly address: string; readonly height: number }[],
): Promise<void> {
  for (const { address, height } of resolved) {
    // Coins found missing later may have left then; the next check finds the others missing again.
    await sql`
      delete from coin_outflows where network = ${network} and address = ${address}
        and (block_height = ${height} or (block_height > ${height} and state = 'missing'))`.execute(trx);
  }
  if (outflows.length === 0) return;
  const rows = outflows.map(({ height, units, ...rest }) => ({ ...rest, block_height: height, units: String(units) }));
  await sql`
    insert into coin_outflows (network, address, block_height, units, state)
    select ${network}, n.address, n.block_height, n.units, n.state
    from json_populate_recordset(null::coin_outflows, ${JSON.stringify(rows)}::json) n
    on conflict (network, address, block_height) do update
    set units = coin_outflows.units + excluded.units`.execute(trx);
}

/** Deletes the outflows in replaced blocks. */
export async function dropOutflowsAbove(trx: Trx, network: Network, height: number): Promise<void> {
  await deleteRows(trx, 'coin_outflows', { network, blockHeight: above(height) });
}
