import { CompiledQuery, sql, type SqlBool } from 'kysely';
import type { AssetCode } from '../../domain/asset-code.ts';
import type { UsdPriceE8 } from '../../domain/asset.ts';
import type { Fiat } from '../../domain/money.ts';
import type { Network } from '../../domain/networks.ts';
import type { Transfer } from '../../domain/payment.ts';
import type { Database, Trx } from '../database.ts';
import { TRANSFERS } from '../schema/chains.ts';

/** A transfer and the payment it belongs to. */
export interface PaymentTransfer {
  readonly paymentId: string;
  readonly transfer: Transfer;
  readonly blockHash: string | null;
}

/** The prices at one moment, in USD per whole unit, scaled by 10^8. Assets without a fresh price are left out. */
export interface PricesOfMoment {
  readonly tokens: readonly {
    readonly asset: AssetCode;
    readonly network: Network;
    readonly decimals: number;
    readonly price: UsdPriceE8;
  }[];
  readonly currencies: readonly { readonly currency: Fiat; readonly decimals: number; readonly price: UsdPriceE8 }[];
  /** Money that came before this time is not valued: its worth then is unknown. */
  readonly since: number;
}

const NO_PRICES: PricesOfMoment = { tokens: [], currencies: [], since: 0 };

/** A quotient rounded to the nearest, halves up, exactly; null if it does not fit the column. */
const worth = (dividend: string, divisor: string): string => {
  const rounded = `div(2 * (${dividend}) + (${divisor}), 2 * (${divisor}))`;
  return `case when ${rounded} < 1e18 then (${rounded})::bigint end`;
};

/** Keeps a recorded worth: it is the worth at the time of arrival. */
const kept = (column: string): string =>
  `${column} = case when transfers.payment_id = excluded.payment_id and transfers.amount_units = excluded.amount_units
    then transfers.${column} else excluded.${column} end`;

const SAVE = `
  insert into transfers (${TRANSFERS.names.join(', ')}, receipt_minor, receipt_usd_cents)
  select ${TRANSFERS.names.map((name) => `t.${name}`).join(', ')},
    ${worth('t.amount_units * v.price * 10 ^ f.decimals', 'f.price * 10 ^ v.decimals')},
    ${worth('t.amount_units * v.price * 100', '1e8 * 10 ^ v.decimals')}
  from json_populate_recordset(null::transfers, $1::json) t
  left join json_to_recordset($2::json) as v (network text, asset text, price numeric, decimals numeric)
    on v.network = t.network and v.asset = t.asset and least(t.first_seen_at, t.block_at) >= $4::timestamptz
  left join json_to_recordset($3::json) as f (payment_id uuid, price numeric, decimals numeric)
    on f.payment_id = t.payment_id
  on conflict (network, transaction_hash, asset, output_index)
  do update set ${TRANSFERS.setExcluded}, ${kept('receipt_minor')}, ${kept('receipt_usd_cents')}
  where excluded.state <> 'seen' or transfers.state = 'dropped'`;

/**
 * Saves transfers with their worth at the given prices. A known transfer gets its new state and block, and keeps the
 * time it was first seen and its worth then; a mempool transfer does not undo a known block. When an EVM transaction is
 * mined again in another block, its logs are numbered anew, and the same number may belong to another payment.
 */
export async function saveTransfers(
  trx: Trx,
  transfers: readonly PaymentTransfer[],
  prices: PricesOfMoment = NO_PRICES,
): Promise<void> {
  if (transfers.length === 0) return;
  const records = TRANSFERS.records(transfers.map((one) => ({ transfer: one.transfer, rest: one })));
  const exact = (rows: readonly { readonly price: bigint }[]): string =>
    JSON.stringify(rows.map((row) => ({ ...row, price: String(row.price) })));
  const currencies = exact(await currenciesOf(trx, transfers, prices));
  await trx.executeQuery(CompiledQuery.raw(SAVE, [records, exact(prices.tokens), currencies, new Date(prices.since)]));
}

/** The prices of the payments' currencies, by payment. Read apart: Citus joins no stored rows to those of an insert. */
async function currenciesOf(trx: Trx, transfers: readonly PaymentTransfer[], { currencies }: PricesOfMoment) {
  if (currencies.length === 0) return [];
  const ids = [...new Set(transfers.map(({ paymentId }) => paymentId))];
  const rows = await trx
    .selectFrom('payments')
    .select(['id', 'currency'])
    .where(sql<SqlBool>`id = any (${ids}::uuid[])`)
    .execute();
  return rows.flatMap(({ id, currency }) => {
    const known = currencies.find((one) => one.currency === currency);
    return known === undefined ? [] : [{ payment_id: id, price: known.price, decimals: known.decimals }];
  });
}

/** All transfers to these payments, by payment id. */
export async function findTransfers(
  executor: Database | Trx,
  paymentIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Transfer[]>> {
  const rows = await executor
    .selectFrom('transfers')
    .select(TRANSFERS.names)
    .where(sql<SqlBool>`payment_id = any (${paymentIds}::uuid[])`)
    .orderBy('first_seen_at')
    .execute();
  const groups = Map.groupBy(rows.map(TRANSFERS.read), ({ rest }) => rest.paymentId);
  return new Map([...groups].map(([id, group]) => [id, group.map(({ transfer }) => transfer)]));
}

/** A transfer that has just got enough confirmations. */
export interface ConfirmedTransfer {
  readonly paymentId: string;
  readonly network: Network;
  readonly transactionHash: string;
  readonly asset: AssetCode;
  readonly address: string;
  readonly amountUnits: bigint;
}

/** Confirms the transfers that have enough confirmations at this height, and returns them. */
export async function confirmTransfers(
  trx: Trx,
  network: Network,
  height: number,
): Promise<readonly ConfirmedTransfer[]> {
  const { rows } = await sql<ConfirmedTransfer>`
    update transfers t set state = 'confirmed'
    from payment_addresses a
    where t.network = ${network} and t.state = 'mined' and a.network = t.network and a.address = t.address
      and t.block_height + a.confirmations - 1 <= ${height}
    returning t.payment_id as "paymentId", t.network, t.transaction_hash as "transactionHash", t.asset, t.address,
      t.amount_units as "amountUnits"`.execute(trx);
  return rows;
}

/**
 * Removes transfers from blocks above a height: they become `seen` if they are in a mempool again, which then decides
 * their state, or `dropped` if nothing is known about them until they come back.
 */
export async function takeBackTransfersAbove(
  trx: Trx,
  network: Network,
  height: number,
  state: 'seen' | 'dropped',
): Promise<readonly string[]> {
  const rows = await trx
    .updateTable('transfers')
    .set({
      state,
      block_height: null,
      block_hash: null,
      block_at: null,
      block_position: null,
      // At the till it counts as paid only once it is mined again.
      ...(state === 'seen' && { doubt: 'unknown' }),
    })
    .where('network', '=', network)
    .where('block_height', '>', height)
    .where('state', 'in', ['mined', 'confirmed'])
    .returning('payment_id')
    .execute();
  return rows.map((row) => row.payment_id);
}

/** A network's unmined transfers, and their payments. */
export async function waitingTransfers(
  executor: Database | Trx,
  network: Network,
): Promise<readonly { readonly hash: string; readonly paymentId: string }[]> {
  return executor
    .selectFrom('transfers')
    .select(['transaction_hash as hash', 'payment_id as paymentId'])
    .where('network', '=', network)
    .where('state', '=', 'seen')
    .execute();
}

/** Drops unmined transfers that are gone; returns the ids of their payments. */
export async function dropWaiting(trx: Trx, network: Network, hashes: readonly string[]): Promise<readonly string[]> {
  if (hashes.length === 0) return [];
  const rows = await trx
    .updateTable('transfers')
    .set({ state: 'dropped' })
    .where('network', '=', network)
    .where('state', '=', 'seen')
    .where(sql<SqlBool>`transaction_hash = any (${hashes}::text[])`)
    .returning('payment_id')
    .execute();
  return rows.map((row) => row.payment_id);
}
