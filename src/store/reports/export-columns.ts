import { sql, type RawBuilder } from 'kysely';
import { allTokens } from '../../domain/asset.ts';
import type { ExportColumn } from '../../domain/export-column.ts';
import { FIATS, fiatDecimals } from '../../domain/money.ts';
import { TAKES_MONEY } from '../refunds/refund-payouts.ts';

type Expression = RawBuilder<unknown>;

/** The format of a file. */
export interface Writing {
  readonly format: 'csv' | 'jsonl';
  /** The character between fields of a CSV file. */
  readonly separator: ',' | ';';
  /** IANA name of the time zone. */
  readonly zone: string;
}

interface ColumnRow {
  /** The head of its column in a CSV file, in plain words; JSON has the column's own name. */
  readonly head: string;
  /** `id` does not come from the database: it is written in the form of its API. */
  readonly write: ((writing: Writing) => Expression) | null;
}

/** Shown by a spreadsheet for an unknown value; JSON has null. */
const UNKNOWN = sql`'unknown'`;

/** Currencies without cents. */
const WHOLE = FIATS.filter((fiat) => fiatDecimals(fiat) === 0);
/** Every number of decimals that a token has. */
const DECIMALS = [...new Set(allTokens().map(({ decimals }) => decimals))];

/** The exact decimal of an amount in the coin's smallest unit, without trailing zeros. */
export function coin(units: Expression, decimals: Expression = sql`decimals`): Expression {
  const scales = DECIMALS.map((one) => sql`when ${sql.lit(one)} then ${sql.raw(`1e-${one}`)}::numeric`);
  return sql`trim_scale(${units} * case ${decimals} ${sql.join(scales, sql` `)}
    else power(10::numeric, -(${decimals})) end)`;
}

/** The exact decimal of an amount in a currency's smallest unit. */
export function fiat(minor: Expression, currency: Expression = sql`currency`): Expression {
  return sql`case when ${currency} = any (${sql.lit(`{${WHOLE.join(',')}}`)}) then ${minor} else ${minor} * 0.01 end`;
}

/** A value that may be unknown, which a spreadsheet shows as a word. */
export function orUnknown(amount: Expression): (writing: Writing) => Expression {
  return ({ format }) => (format === 'csv' ? sql`coalesce((${amount})::text, ${UNKNOWN})` : sql`(${amount})::text`);
}

/** The worth of a payment's confirmed money at receipt; unknown if any part's is; empty without money. */
function receipts(column: 'receipt_minor' | 'receipt_usd_cents', write: (sum: Expression) => Expression) {
  return ({ format }: Writing): Expression => {
    const kept = sql.raw(`transfers.${column}`);
    const unknown = format === 'csv' ? UNKNOWN : sql`null`;
    return sql`(select case when count(*) = 0 then null when count(${kept}) < count(*) then ${unknown}
      else (${write(sql`sum(${kept})`)})::text end
      from transfers where transfers.payment_id = payments.id and transfers.state = 'confirmed')`;
  };
}

/**
 * A time to the second. CSV times have no zone, because spreadsheets would read them as text: the head names the zone.
 */
export function time(at: Expression): (writing: Writing) => Expression {
  return ({ format, zone }) =>
    format === 'csv'
      ? sql`to_char(${at} at time zone ${zone}, 'YYYY-MM-DD HH24:MI:SS')`
      : sql`to_char(${at} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

/** Texts of merchants and customers. */
export function words(text: Expression): (writing: Writing) => Expression {
  return (writing) => (writing.format === 'csv' ? guarded(text, writing) : text);
}

/** The start of a formula for a spreadsheet (OWASP, CSV injection), which reads wide signs as narrow. */
const FORMULA = '[=+@＝＋－＠﹢﹣﹦﹫⁼₌⁺₊⁻₋−\t\r\n-]';
/** Line breaks are excluded within a text: they begin the next line, which is checked by itself. */
const FORMULA_WITHIN = '[=+@＝＋－＠﹢﹣﹦﹫⁼₌⁺₊⁻₋−\t-]';
/**
 * Characters that spreadsheets skip before they judge a cell: quotes, spaces of every width, and characters that are
 * not drawn. Unicode's White_Space (without tabs and line breaks), Cf and Cc, as PostgreSQL's expressions write them.
 */
const PASSED_OVER =
  '[ "\\u0001-\\u0008\\u000B\\u000C\\u000E-\\u001F\\u007F-\\u00A0\\u00AD\\u034F\\u061C\\u115F\\u1160\\u1680\\u17B4\\u17B5\\u180B-\\u180F\\u2000-\\u200F\\u2028-\\u202F\\u205F-\\u206F\\u2800\\u3000\\u3164\\uFE00-\\uFE0F\\uFEFF\\uFFA0\\uFFF9-\\uFFFB]*';

/**
 * Puts an apostrophe before text that a spreadsheet might run: at the beginning of the field, and wherever a field
 * would begin if the file were read with another separator.
 */
export function guarded(text: Expression, { separator }: Writing): Expression {
  const breaks = `[${separator === ',' ? ';' : ','}\t\r\n]`;
  const first = sql.lit(`^${PASSED_OVER}${FORMULA}`);
  const within = sql.lit(`(${breaks})(?=${PASSED_OVER}${FORMULA_WITHIN})`);
  const any = sql.lit(`(^${PASSED_OVER}${FORMULA}|${breaks}${PASSED_OVER}${FORMULA_WITHIN})`);
  return sql`case when ${text} ~ ${any}
    then case when ${text} ~ ${first} then '''' else '' end || regexp_replace(${text}, ${within}, '\\1''', 'g')
    else ${text} end`;
}

/** {@link guarded} for a text in this process. */
export function guardedText(text: string, separator: Writing['separator']): string {
  const breaks = `[${separator === ',' ? ';' : ','}\t\r\n]`;
  const first = new RegExp(`^${PASSED_OVER}${FORMULA}`, 'u').test(text);
  const within = new RegExp(`(${breaks})(?=${PASSED_OVER}${FORMULA_WITHIN})`, 'gu');
  return (first ? "'" : '') + text.replace(within, "$1'");
}

export const plain = (expression: Expression) => (): Expression => expression;
/** Writes an amount as text in JSON, because JSON numbers are read as floats. */
export const exact =
  (amount: Expression) =>
  ({ format }: Writing): Expression =>
    format === 'csv' ? amount : sql`(${amount})::text`;

/** Amounts are exact decimals. */
const COLUMNS: Readonly<Record<ExportColumn, ColumnRow>> = {
  id: { head: 'id', write: null },
  number: { head: 'number', write: plain(sql`transaction_number`) },
  order_id: { head: 'order id', write: words(sql`merchant_order_id`) },
  created: { head: 'created', write: time(sql`created_at`) },
  status: { head: 'status', write: plain(sql`status`) },
  exception: { head: 'exception', write: plain(sql`nullif(exception, 'none')`) },
  description: { head: 'description', write: words(sql`description`) },
  email: { head: 'e-mail', write: words(sql`customer_email`) },
  amount: {
    head: 'amount',
    write: exact(fiat(sql`amount_minor`)),
  },
  currency: { head: 'currency', write: plain(sql`currency`) },
  coin: { head: 'coin', write: plain(sql`asset`) },
  network: { head: 'network', write: plain(sql`network`) },
  coin_amount: { head: 'coin amount', write: exact(coin(sql`owed_units`)) },
  received: { head: 'received', write: exact(coin(sql`seen_units`)) },
  completed: { head: 'completed', write: time(sql`completed_at`) },
  api: { head: 'api', write: plain(sql`surface`) },
  amount_usd: { head: 'amount in usd', write: exact(sql`amount_usd_cents * 0.01`) },
  confirmed: { head: 'confirmed', write: exact(coin(sql`confirmed_units`)) },
  refunded: {
    head: 'refunded',
    write: exact(
      coin(sql`(select coalesce(sum(r.units), 0) from refunds r where r.payment_id = payments.id
        and r.asset = payments.asset and r.network = payments.network and ${TAKES_MONEY})`),
    ),
  },
  failure_reason: { head: 'failure reason', write: plain(sql`failure_reason`) },
  address: { head: 'address', write: plain(sql`address`) },
  transaction_hash: { head: 'transaction hash', write: plain(sql`transaction_hash`) },
  customer_name: { head: 'customer name', write: words(sql`customer_name`) },
  labels: {
    head: 'labels',
    write: words(sql`(select string_agg(labels.name, ', ' order by lower(labels.name)) from payment_labels
      join labels on labels.id = payment_labels.label_id where payment_labels.payment_id = payments.id)`),
  },
  notes: {
    head: 'notes',
    write: words(sql`(select string_agg(payment_notes.body, E'\\n' order by payment_notes.id) from payment_notes
      where payment_notes.payment_id = payments.id)`),
  },
  metadata: {
    head: 'metadata',
    write: (writing) => (writing.format === 'csv' ? guarded(sql`metadata::text`, writing) : sql`metadata`),
  },
  expires: { head: 'expires', write: time(sql`expires_at`) },
  cancelled: { head: 'cancelled', write: time(sql`cancelled_at`) },
  receipt_value: {
    head: 'value at receipt',
    write: receipts('receipt_minor', (sum) => fiat(sum, sql`payments.currency`)),
  },
  receipt_usd: { head: 'value at receipt in usd', write: receipts('receipt_usd_cents', (sum) => sql`${sum} * 0.01`) },
};

/** The columns of times, whose heads name the zone. */
const TIMES: readonly ExportColumn[] = ['created', 'completed', 'expires', 'cancelled'];

/** The heads of a CSV file. */
export function headsOf(columns: readonly ExportColumn[], { zone }: Writing): readonly string[] {
  return columns.map((column) => COLUMNS[column].head + (TIMES.includes(column) ? ` (${zone})` : ''));
}

/** The expressions of a row of the file without its id, in the order of the file. */
export function expressionsOf(
  columns: readonly ExportColumn[],
  writing: Writing,
): readonly { readonly column: ExportColumn; readonly expression: Expression }[] {
  return columns.flatMap((column) => {
    const { write } = COLUMNS[column];
    return write === null ? [] : [{ column, expression: write(writing) }];
  });
}
