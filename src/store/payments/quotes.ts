import { sql } from 'kysely';
import type { Trx } from '../database.ts';
import { toRow, type Stored } from '../rows.ts';
import type { IssuedAddress } from './save-changes.ts';

/** A quote for an address, made when the address was handed out or later. */
export type IssuedQuote = Omit<Stored<'payment_quotes'>, 'id' | 'quotedAt'>;

/** All quotes of these payments, newest first. */
export async function issuedQuotes(trx: Trx, paymentIds: readonly string[]): Promise<readonly IssuedQuote[]> {
  const { rows } = await sql<IssuedQuote>`
    select payment_id as "paymentId", network, address, asset, decimals, owed_units as "owedUnits",
      tolerance_units as "toleranceUnits"
    from (
      select payment_id, network, address, asset, decimals, owed_units, tolerance_units, issued_at as quoted_at, 0 as id, address_index
      from payment_addresses where payment_id = any (${paymentIds}::uuid[])
      union all
      select payment_id, network, address, asset, decimals, owed_units, tolerance_units, quoted_at, id, 0
      from payment_quotes where payment_id = any (${paymentIds}::uuid[])
    ) quotes
    order by quoted_at desc, id desc, address_index desc`.execute(trx);
  return rows;
}

/** Saves a new quote for an address that the payment already had. */
export async function saveQuoteAgain(
  trx: Trx,
  { paymentId, quote, watchedAddress, issuedAt }: IssuedAddress,
): Promise<void> {
  await trx
    .insertInto('payment_quotes')
    .values(
      toRow(
        'payment_quotes',
        { ...quote, paymentId, address: watchedAddress, quotedAt: issuedAt },
        { without: ['id'] },
      ),
    )
    .execute();
}
