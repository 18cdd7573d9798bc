import { sql } from 'kysely';
import type { Network } from '../../domain/networks.ts';
import type { Database, Trx } from '../database.ts';
import { salt } from '../own-schema.ts';
import type { WalletKind } from '../schema/wallets.ts';
import { deleteRows, findRows, insertRows, oneOf } from '../rows.ts';

/** The wallet that a payment's money went to, with its latest source. */
export interface RefundWallet {
  readonly id: string;
  readonly kind: WalletKind;
  readonly source: string;
  /** Identifies the wallet, independent of the form of its source. */
  readonly firstAddress: string;
}

/** A confirmed output that a wallet received; it may be spent by now. Amounts in the smallest units. */
export interface WalletCoin {
  readonly txid: string;
  readonly vout: number;
  readonly amountUnits: bigint;
  readonly blockHeight: number;
  readonly blockHash: string;
  /** The index of its address, on the wallet's change chain or on its receiving chain. */
  readonly index: number;
  readonly isChange: boolean;
  /** Whether a payment of the refunds received it. */
  readonly isOwn: boolean;
  /** Whether it is reserved for one of the refunds. */
  readonly isHeld: boolean;
  /** Other pending refunds that it is reserved for. */
  readonly heldBy: readonly string[];
}

/** The wallet of a payment's address, the paid one if the payment got addresses of several wallets; null if unknown. */
export async function refundWallet(db: Database, paymentId: string, network: Network): Promise<RefundWallet | null> {
  const { rows } = await sql<RefundWallet>`
    select w.id, w.kind, w.source, w.first_address as "firstAddress"
    from payment_addresses a
    join wallets issued on issued.id = a.wallet_id
    join wallets w on w.network = issued.network and w.first_address = issued.first_address
    where a.payment_id = ${paymentId} and a.network = ${network}
    order by exists (
        select from transfers t where t.network = a.network and t.payment_id = a.payment_id and t.address = a.address
          and t.state = 'confirmed') desc,
      a.issued_at desc, w.project_id = issued.project_id desc, w.replaced_at is null desc, w.created_at desc
    limit 1`.execute(db);
  return rows[0] ?? null;
}

/** Selects outputs of a wallet, for refunds that one transaction pays. */
export interface CoinQuery {
  readonly refundIds: readonly string[];
  readonly paymentIds: readonly string[];
  readonly network: Network;
  readonly firstAddress: string;
  readonly firstChangeAddress: string;
  readonly now: number;
}

/**
 * The outputs that a wallet received, from payments and as change: first those reserved for the refunds and those of
 * their payments, then the newest and the largest alternately.
 */
export async function walletCoins(db: Database, query: CoinQuery, limit: number): Promise<readonly WalletCoin[]> {
  const { refundIds, paymentIds, network, firstAddress, firstChangeAddress, now } = query;
  const { rows } = await sql<WalletCoin>`
    with holds as (
      select h.transaction_hash, h.output_index, bool_or(r.id = any (${refundIds}::uuid[])) as is_held,
        array_agg(r.id::text order by r.id) filter (where r.id <> all (${refundIds}::uuid[])) as held_by
      from refund_inputs h join refunds r on r.id = h.refund_id
      where h.network = ${network} and (r.id = any (${refundIds}::uuid[]) or ${isOpen(now)})
      group by h.transaction_hash, h.output_index
    ), coins as (
      select t.transaction_hash, t.output_index, t.amount_units, t.block_height, t.block_hash, a.address_index as index,
        false as is_change, a.payment_id = any (${paymentIds}::uuid[]) as is_own
      from wallets w
      join payment_addresses a on a.wallet_id = w.id and a.network = w.network
      join transfers t on t.network = a.network and t.payment_id = a.payment_id and t.address = a.address
      where w.network = ${network} and w.first_address = ${firstAddress} and t.state = 'confirmed'
      union all
      select o.transaction_hash, o.output_index, o.amount_units, o.block_height, o.block_hash, c.change_index, true, false
      from change_addresses c join change_outputs o on o.network = c.network and o.address = c.address
      where c.network = ${network} and c.first_change_address = ${firstChangeAddress}
    )
    select transaction_hash as txid, output_index as vout, amount_units as "amountUnits",
      block_height as "blockHeight", block_hash as "blockHash", index, is_change as "isChange", is_own as "isOwn",
      coalesce(is_held, false) as "isHeld", coalesce(held_by, '{}') as "heldBy"
    from coins left join holds using (transaction_hash, output_index)
    order by coalesce(is_held, false) desc, is_own desc,
      least(row_number() over (order by block_height desc), row_number() over (order by amount_units desc)),
      transaction_hash, output_index
    limit ${limit}`.execute(db);
  return rows;
}

/** Locks a wallet until the transaction ends, so that nobody else chooses its outputs for a refund. */
export async function lockWalletCoins(trx: Trx, network: Network, firstAddress: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`refund inputs ${network} ${firstAddress}`}, 0) # ${salt})`.execute(
    trx,
  );
}

interface Outpoint {
  readonly txid: string;
  readonly vout: number;
}

/** The outputs among these that are reserved for other pending refunds. */
export async function heldByOthers(
  trx: Trx,
  { refundIds, network, now }: Pick<CoinQuery, 'refundIds' | 'network' | 'now'>,
  outpoints: readonly Outpoint[],
): Promise<readonly Outpoint[]> {
  const { rows } = await sql<Outpoint>`
    select distinct h.transaction_hash as txid, h.output_index as vout
    from refund_inputs h join refunds r on r.id = h.refund_id
    where h.network = ${network} and r.id <> all (${refundIds}::uuid[]) and ${isOpen(now)}
      and h.transaction_hash = any (${outpoints.map(({ txid }) => txid)}::text[])`.execute(trx);
  return rows.filter((row) => outpoints.some(({ txid, vout }) => row.txid === txid && row.vout === vout));
}

/** Saves the inputs that a refund is shown with, replacing earlier ones. */
export async function saveRefundInputs(
  trx: Trx,
  refundId: string,
  network: Network,
  outpoints: readonly Outpoint[],
): Promise<void> {
  await deleteRows(trx, 'refund_inputs', { refundId });
  const rows = outpoints.map(({ txid, vout }) => ({ refundId, network, txid, vout }));
  await insertRows(trx, 'refund_inputs', rows);
}

/** The inputs that each of these refunds was last shown with. */
export async function refundInputs(
  db: Database,
  refundIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Outpoint[]>> {
  const rows = await findRows(db, 'refund_inputs', { refundId: oneOf(refundIds) });
  const byRefund = Map.groupBy(rows, ({ refundId }) => refundId);
  return new Map(refundIds.map((id) => [id, (byRefund.get(id) ?? []).map(({ txid, vout }) => ({ txid, vout }))]));
}

/** The outputs among these that were also reserved for a refund that has been paid since: its payout spent them. */
export async function spentByPayouts(
  db: Database,
  refundId: string,
  network: Network,
  outpoints: readonly Outpoint[],
): Promise<readonly Outpoint[]> {
  const { rows } = await sql<Outpoint>`
    select distinct h.transaction_hash as txid, h.output_index as vout
    from refund_inputs h
    where h.network = ${network} and h.refund_id <> ${refundId}
      and h.transaction_hash = any (${outpoints.map(({ txid }) => txid)}::text[])
      and exists (select from refund_payouts o where o.refund_id = h.refund_id)`.execute(db);
  return rows.filter((row) => outpoints.some(({ txid, vout }) => row.txid === txid && row.vout === vout));
}

/** A refund `r` reserves its inputs while it can still be paid. */
function isOpen(now: number) {
  return sql`r.status = 'pending' and r.due_at > ${new Date(now)}::timestamptz`;
}
