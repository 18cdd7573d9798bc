import { sql, type SqlBool } from 'kysely';
import type { AssetCode } from '../domain/asset.ts';
import type { Network } from '../domain/networks.ts';
import type { Confirmations } from '../domain/payment.ts';
import { timestamp, type Database, type Trx } from './database.ts';

/** When the earliest address of a network was issued; null when none was. */
export async function earliestIssue(db: Database, network: Network): Promise<number | null> {
  const row = await db
    .selectFrom('payment_addresses')
    .select(({ fn }) => fn.min('issued_at').as('at'))
    .where('network', '=', network)
    .executeTakeFirst();
  return row?.at ?? null;
}

/** Which of these addresses were issued: one indexed query a block, whatever the number of addresses. */
export async function findWatched(db: Database, network: Network, addresses: readonly string[]) {
  if (addresses.length === 0) return [];
  return db
    .selectFrom('payment_addresses')
    .select(['address', 'payment_id'])
    .where('network', '=', network)
    .where(sql<SqlBool>`address = any (${addresses}::text[])`)
    .execute();
}

/** An address that money may come to, and what is known of it, in the smallest units. */
export interface AwaitingAddress {
  readonly address: string;
  /** Null: of an address that was passed over, whose payment is not known. */
  readonly paymentId: string | null;
  readonly arrivedUnits: bigint;
  /** What of it was gone when the balance was last looked at. */
  readonly spentUnits: bigint;
}

/**
 * The addresses on a network that money in an asset is awaited on: those of pending payments, and of completed ones whose
 * money is gone. `watchedAt` adds all that are watched at that moment, whatever became of their payments and whichever
 * asset these ask for.
 */
export async function awaitingMoney(
  db: Database,
  network: Network,
  asset: AssetCode,
  watchedAt: number | null,
): Promise<readonly AwaitingAddress[]> {
  // An address that was handed out for another token may have been quoted in this one later.
  const isQuoted = sql`(a.asset = ${asset} or exists (
    select 1 from payment_quotes q
    where q.network = a.network and q.address = a.address and q.payment_id = a.payment_id and q.asset = ${asset}))`;
  const open = sql`
    select a.network, a.address, a.payment_id, a.spent_units
    from payments p join payment_addresses a on a.payment_id = p.id and a.network = p.network
    where p.mode = 'live' and (p.status = 'pending' or p.exception = 'reorged')
      and p.network = ${network} and p.asset = ${asset} and ${isQuoted}`;
  const watched =
    watchedAt === null
      ? sql``
      : sql`union select a.network, a.address, a.payment_id, a.spent_units from payment_addresses a
            where a.network = ${network} and a.watch_until > ${timestamp(watchedAt)}`;
  const { rows } = await sql<{ address: string; payment_id: string; arrived: string; spent: string }>`
    with w as (${open} ${watched})
    select w.address, w.payment_id, coalesce(w.spent_units, 0)::text as spent, coalesce(sum(t.amount_units), 0)::text as arrived
    from w left join transfers t on t.payment_id = w.payment_id and t.network = w.network and t.asset = ${asset}
      and t.address = w.address and t.state in ('mined', 'confirmed')
    group by w.address, w.payment_id, w.spent_units`.execute(db);
  return rows.map((row) => ({
    address: row.address,
    paymentId: row.payment_id,
    arrivedUnits: BigInt(row.arrived),
    spentUnits: BigInt(row.spent),
  }));
}

/** Keeps what of the money on some addresses was gone when their balances were looked at. */
export async function saveSpent(
  trx: Trx,
  network: Network,
  spent: readonly { readonly address: string; readonly spentUnits: bigint }[],
): Promise<void> {
  if (spent.length === 0) return;
  const rows = spent.map(({ address, spentUnits }) => ({ address, spent_units: String(spentUnits) }));
  await sql`
    update payment_addresses a set spent_units = n.spent_units
    from json_populate_recordset(null::payment_addresses, ${JSON.stringify(rows)}::json) n
    where a.network = ${network} and a.address = n.address`.execute(trx);
}

/** After a rollback what was spent may not be: nothing is taken as spent until balances are looked at again. */
export async function purgeSpent(trx: Trx, network: Network): Promise<void> {
  await sql`update payment_addresses set spent_units = null where network = ${network} and spent_units > 0`.execute(
    trx,
  );
}

/** The networks that each of these payments was given addresses on, by the payment's id. */
export async function issuedNetworks(
  trx: Trx,
  paymentIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Network[]>> {
  const rows = await trx
    .selectFrom('payment_addresses')
    .select(['payment_id', 'network'])
    .distinct()
    .where(sql<SqlBool>`payment_id = any (${paymentIds}::uuid[])`)
    .execute();
  const groups = Map.groupBy(rows, ({ payment_id }) => payment_id);
  return new Map([...groups].map(([id, group]) => [id, group.map(({ network }) => network)]));
}

/** How deep a payment's money is and has to be, on the address of its present quote; null before one was issued. */
export async function confirmationsOf(db: Database, paymentId: string): Promise<Confirmations | null> {
  const { rows } = await sql<Confirmations>`
    select a.confirmations as need, coalesce(greatest(
      (select c.height from chain_cursors c where c.network = a.network)
      - (select max(t.block_height) from transfers t
         where t.payment_id = p.id and t.network = p.network and t.asset = p.asset and t.state in ('mined', 'confirmed')) + 1,
      0), 0) as have
    from payments p join payment_addresses a on a.payment_id = p.id and a.network = p.network
    where p.id = ${paymentId}
    order by a.address in (p.address, lower(p.address)) desc, a.issued_at desc, a.address_index desc limit 1`.execute(
    db,
  );
  return rows[0] ?? null;
}
