import { sql, type RawBuilder } from 'kysely';
import type { UsdPriceE8 } from '../../domain/asset.ts';
import { divHalfUp, fiatDecimals, pow10, type Fiat } from '../../domain/money.ts';
import type { Mode } from '../../domain/permission.ts';
import type { Database } from '../database.ts';
import { HOUR_MS } from './figure-slots.ts';

type Expression = RawBuilder<unknown>;

/**
 * Keeps the present prices for the hour, unless it has some, and for the next hour until that begins: so every hour has
 * prices from its first payment on.
 */
export async function keepCurrencyRates(
  db: Database,
  mode: Mode,
  now: number,
  prices: ReadonlyMap<Fiat, UsdPriceE8>,
): Promise<void> {
  const hour = Math.floor(now / HOUR_MS) * HOUR_MS;
  const [present, next] = [hour, hour + HOUR_MS].map((at) => new Date(at).toISOString());
  const texts = JSON.stringify(Object.fromEntries([...prices].map(([code, price]) => [code, String(price)])));
  const merged = sql`case when excluded.hour > ${present}::timestamptz then r.prices || excluded.prices
    else excluded.prices || r.prices end`;
  await sql`
    insert into currency_rates as r (mode, hour, prices)
    values (${mode}, ${present}::timestamptz, ${texts}::jsonb), (${mode}, ${next}::timestamptz, ${texts}::jsonb)
    on conflict (mode, hour) do update set prices = ${merged} where r.prices is distinct from ${merged}`.execute(db);
}

/** Amounts of money in a row: in their own currency's smallest unit and in US cents; null where unknown. */
export interface Worth {
  readonly currency: Expression;
  readonly minor: Expression;
  readonly usdCents: Expression;
}

/** The fraction digits to which values are exact: sums are rounded once, at their end. */
const DIGITS = 12;

/**
 * The value of money in the smallest unit of `currency`, not rounded: its own amount if it is in that currency,
 * otherwise its USD value at the rate of the hour, which {@link rateJoin} joins. Null if either is unknown.
 */
export function valueIn(currency: Fiat, worth: Worth): Expression {
  if (currency === 'USD') return worth.usdCents;
  // US cents and a price in USD × 10^8.
  const scale = sql.lit(Number(pow10(fiatDecimals(currency) + 6)));
  return sql`case when ${worth.currency} = ${sql.lit(currency)} then ${worth.minor}::numeric
    else ${worth.usdCents}::numeric(78, ${sql.lit(DIGITS)}) * ${scale} / (rate.prices ->> ${sql.lit(currency)})::numeric end`;
}

/** The join of the rates that {@link valueIn} reads, for rows of a mode and time. */
export function rateJoin(currency: Fiat, mode: Expression, at: Expression): Expression {
  if (currency === 'USD') return sql``;
  return sql`left join currency_rates rate on rate.mode = ${mode} and rate.hour = date_bin('1 hour', ${at}, 'epoch')`;
}

/** A sum of values as a whole number of 10^-12 of the smallest unit; {@link roundedValue} rounds it. */
export function fineSum(value: Expression): RawBuilder<bigint> {
  return sql<bigint>`(coalesce(sum(${value}), 0) * ${sql.lit(Number(pow10(DIGITS)))})::numeric(78, 0)`;
}

/** The smallest units of a sum of {@link fineSum}s. */
export function roundedValue(fine: bigint): bigint {
  return divHalfUp(fine, pow10(DIGITS));
}
