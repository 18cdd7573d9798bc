import { sql, type SqlBool } from 'kysely';
import type { AssetCode } from '../../domain/asset-code.ts';
import type { Network } from '../../domain/networks.ts';
import type { Confirmations } from '../../domain/payment.ts';
import { LEFT } from '../chains/coin-outflows.ts';
import { timestamp, type Database, type Trx } from '../database.ts';

/** When the earliest address of a network was handed out; null if none was. */
export async function earliestIssue(db: Database, network: Network): Promise<number | null> {
  const row = await db
    .selectFrom('payment_addresses')
    .select(({ fn }) => fn.min('issued_at').as('at'))
    .where('network', '=', network)
    .executeTakeFirst();
  return row?.at ?? null;
}

/** The addresses among these that were handed out: one indexed query per block, however many there are. */
export async function findWatched(db: Database, network: Network, addresses: readonly string[]) {
  if (addresses.length === 0) return [];
  return db
    .selectFrom('payment_addresses')
    .select(['address', 'payment_id'])
    .where('network', '=', network)
    .where(sql<SqlBool>`address = any (${addresses}::text[])`)
    .execute();
}

/** An address that may receive money, and its recorded amounts in the smallest units. */
export interface AwaitingAddress {
  readonly address: string;
  /** Null for a skipped address, whose payment is unknown. */
  readonly paymentId: string | null;
  /** The hash of the block up to which the chain was read when it was handed out; null if unknown. */
  readonly afterBlock: string | null;
  /** The recorded amount that arrived there and has not left again. */
  readonly units: bigint;
}

/**
 * The addresses on a network where money in an asset is expected: of pending payments, and of completed ones whose
 * money is gone; and addresses of any asset that were handed out when the chain was read up to `readBlock`. `watchedAt`
 * adds all addresses watched at that time, whatever the status and asset of their payments; `others` are added too if
 * they were ever handed out.
 */
export async function awaitingMoney(
  db: Database,
  network: Network,
  asset: AssetCode,
  {
    readBlock,
    watchedAt,
    others,
  }: { readonly readBlock: string; readonly watchedAt: number | null; readonly others: readonly string[] },
): Promise<readonly AwaitingAddress[]> {
  // An address handed out for another token may have been quoted in this one later.
  const isQuoted = sql`(a.asset = ${asset} or exists (
    select 1 from payment_quotes q
    where q.network = a.network and q.address = a.address and q.payment_id = a.payment_id and q.asset = ${asset}))`;
  const open = sql`
    select a.network, a.address, a.payment_id, a.after_block
    from payments p join payment_addresses a on a.payment_id = p.id and a.network = p.network
    where p.mode = 'live' and (p.status = 'pending' or p.exception = 'reorged')
      and p.network = ${network} and (a.after_block = ${readBlock} or (p.asset = ${asset} and ${isQuoted}))`;
  const watched =
    watchedAt === null
      ? sql``
      : sql`union select a.network, a.address, a.payment_id, a.after_block from payment_addresses a
            where a.network = ${network} and a.watch_until > ${timestamp(watchedAt)}`;
  const otherAddresses =
    others.length === 0
      ? sql``
      : sql`union select a.network, a.address, a.payment_id, a.after_block from payment_addresses a
            where a.network = ${network} and a.address = any (${others}::text[])`;
  const { rows } = await sql<AwaitingAddress>`
    with w as (${open} ${watched} ${otherAddresses})
    select w.address, w.payment_id as "paymentId", w.after_block as "afterBlock",
      coalesce(sum(t.amount_units), 0) - coalesce(${LEFT('w')}, 0) as units
    from w left join transfers t on t.payment_id = w.payment_id and t.network = w.network and t.asset = ${asset}
      and t.address = w.address and t.state in ('mined', 'confirmed')
    group by w.network, w.address, w.payment_id, w.after_block`.execute(db);
  return rows;
}

/** The networks on which each of these payments got addresses, by payment id. */
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

/**
 * The confirmations that a payment's money has and needs, on the address of its current quote; null if it has no
 * address yet.
 */
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
