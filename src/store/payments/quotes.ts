import { sql, type Selectable } from 'kysely';
import type { AssetCode } from '../../domain/asset-code.ts';
import type { Network } from '../../domain/networks.ts';
import type { Trx } from '../database.ts';
import type { IssuedAddress } from './save-changes.ts';
import type { NewRow, Tables } from '../tables.ts';

/** A quote for an address, made when the address was handed out or later. */
export interface IssuedQuote {
  readonly paymentId: string;
  readonly network: Network;
  /** In the form in which the chain's transfers carry it. */
  readonly address: string;
  readonly asset: AssetCode;
  readonly decimals: number;
  readonly owedUnits: bigint;
  readonly toleranceUnits: bigint;
}

/** All quotes of these payments, newest first. */
export async function issuedQuotes(trx: Trx, paymentIds: readonly string[]): Promise<readonly IssuedQuote[]> {
  const { rows } = await sql<Selectable<Tables['payment_quotes']>>`
    select payment_id, network, address, asset, decimals, owed_units, tolerance_units, issued_at as quoted_at, 0 as id, address_index
    from payment_addresses where payment_id = any (${paymentIds}::uuid[])
    union all
    select payment_id, network, address, asset, decimals, owed_units, tolerance_units, quoted_at, id, 0
    from payment_quotes where payment_id = any (${paymentIds}::uuid[])
    order by quoted_at desc, id desc, address_index desc`.execute(trx);
  return rows.map((row) => ({
    network: row.network,
    paymentId: row.payment_id,
    address: row.address,
    asset: row.asset,
    decimals: row.decimals,
    owedUnits: row.owed_units,
    toleranceUnits: row.tolerance_units,
  }));
}

/** Saves a new quote for an address that the payment already had. */
export async function saveQuoteAgain(
  trx: Trx,
  { paymentId, quote, watchedAddress, issuedAt }: IssuedAddress,
): Promise<void> {
  await trx
    .insertInto('payment_quotes')
    .values({
      payment_id: paymentId,
      network: quote.network,
      address: watchedAddress,
      asset: quote.asset,
      decimals: quote.decimals,
      owed_units: quote.owedUnits,
      tolerance_units: quote.toleranceUnits,
      quoted_at: new Date(issuedAt),
    } satisfies NewRow<'payment_quotes', 'id'>)
    .execute();
}
