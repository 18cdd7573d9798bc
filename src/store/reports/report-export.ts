import { sql, type RawBuilder } from 'kysely';
import type { Client } from 'pg';
import type { Token } from '../../domain/asset.ts';
import { USUAL_COLUMNS, type ExportColumn } from '../../domain/export-column.ts';
import { NETWORK_FACTS, NETWORKS } from '../../domain/networks.ts';
import { UNTRACED } from '../../domain/payment.ts';
import type { Report, ReportSpan } from '../../domain/report.ts';
import { copyFile, idWriter } from './copy-file.ts';
import { coin, exact, fiat, orUnknown, plain, time, words, type Writing } from './export-columns.ts';
import { copyPayments } from './payment-export.ts';
import { NO_FILTERS, type Condition } from '../payments/payment-filter.ts';
import { PAID_BY } from '../refunds/late-payouts.ts';
import { WAS_PAID } from '../refunds/refund-payouts.ts';
import { at as moment } from './report-sums.ts';
import type { ProjectMode } from '../../domain/permission.ts';

/** The money that a report covers: a project's in a period, in one token or all. */
export interface ReportSelection {
  readonly report: Report;
  readonly scope: ProjectMode;
  readonly span: ReportSpan;
  readonly token: Pick<Token, 'asset' | 'network'> | null;
}

/** A report file. `tokens` lists all tokens, for the decimals of money that no payment was quoted in. */
export interface ReportFile extends ReportSelection, Writing {
  readonly tokens: readonly Token[];
}

/** The default columns without customers' texts, and those that bookkeeping needs. */
const PAYMENT_COLUMNS: readonly ExportColumn[] = [
  ...USUAL_COLUMNS.filter((one) => one !== 'description' && one !== 'email'),
  'amount_usd',
  'confirmed',
  'refunded',
  'transaction_hash',
  'receipt_value',
  'receipt_usd',
];

interface Column {
  readonly name: string;
  /** The column's head in a CSV file. */
  readonly head: string;
  /** Whether the head names the zone. */
  readonly isTime?: true;
  readonly write: (writing: Writing) => Condition;
}

interface Source {
  /** The ids at the beginning of each row, and how they are selected: a letter and the UUID. */
  readonly ids: Readonly<Record<string, string>>;
  readonly columns: readonly Column[];
  readonly from: Condition;
  /** The time of a row, and the table whose `asset` and `network` are the token's. */
  readonly at: Condition;
  readonly of: string;
  readonly where: Condition;
}

const raw = (name: string, head: string, text: string): Column => ({ name, head, write: plain(sql.raw(text)) });
const said = (name: string, head: string, text: string): Column => ({ name, head, write: words(sql.raw(text)) });
const at = (name: string, head: string, text: string): Column => ({
  name,
  head,
  isTime: true,
  write: time(sql.raw(text)),
});
const amount = (name: string, head: string, value: Condition): Column => ({ name, head, write: exact(value) });
const worth = (name: string, head: string, value: Condition): Column => ({ name, head, write: orUnknown(value) });
/** Empty in rows that have no such value: there it is not unknown. */
const worthIf = (condition: Condition, name: string, head: string, value: Condition): Column => ({
  name,
  head,
  write: (writing) => sql`case when ${condition} then ${orUnknown(value)(writing)} end`,
});

const ORDER_ID = said('order_id', 'order id', 'p.merchant_order_id');
const CURRENCY = raw('currency', 'currency', 'p.currency');
const usd = (column: string): Condition => sql`${sql.raw(column)} * 0.01`;

/** The decimals of a token that a payment was not quoted in. */
const decimalsOf = (table: string): Condition =>
  sql.raw(
    `case when p.asset = ${table}.asset and p.network = ${table}.network then p.decimals else token.decimals end`,
  );

const TRANSFERS: Source = {
  ids: { payment: 'left(p.surface, 1) || p.id' },
  columns: [
    ORDER_ID,
    at('received', 'received', 't.first_seen_at'),
    at('block_time', 'block time', 't.block_at'),
    raw('state', 'state', 't.state'),
    raw('coin', 'coin', 't.asset'),
    raw('network', 'network', 't.network'),
    amount('coin_amount', 'coin amount', coin(sql`t.amount_units`, decimalsOf('t'))),
    worth('receipt_value', 'value at receipt', fiat(sql`t.receipt_minor`, sql`p.currency`)),
    CURRENCY,
    worth('receipt_usd', 'value at receipt in usd', usd('t.receipt_usd_cents')),
    raw('payment_status', 'payment status', 'p.status'),
    raw('exception', 'exception', "nullif(p.exception, 'none')"),
    raw('address', 'address', 't.address'),
    raw(
      'transaction_hash',
      'transaction hash',
      `case when not starts_with(t.transaction_hash, '${UNTRACED}') then t.transaction_hash end`,
    ),
    raw('output', 'output', 't.output_index'),
    raw('block', 'block', 't.block_height'),
  ],
  from: sql`transfers t join payments p on p.id = t.payment_id`,
  at: sql`t.first_seen_at`,
  of: 't',
  where: sql`t.state <> 'dropped'`,
};

const REFUNDS: Source = {
  ids: { id: "'r' || r.id", payment: 'left(p.surface, 1) || p.id' },
  columns: [
    ORDER_ID,
    at('created', 'created', 'r.created_at'),
    at('completed', 'completed', 'r.completed_at'),
    raw('status', 'status', 'r.status'),
    raw('failure_reason', 'failure reason', 'r.failure_reason'),
    raw('coin', 'coin', 'r.asset'),
    raw('network', 'network', 'r.network'),
    amount('coin_amount', 'coin amount', coin(sql`r.units`, sql`r.decimals`)),
    amount('amount', 'amount', fiat(sql`r.amount_minor`, sql`r.currency`)),
    raw('currency', 'currency', 'r.currency'),
    worthIf(WAS_PAID, 'disposal_value', 'value at disposal', fiat(sql`r.disposal_minor`, sql`r.currency`)),
    worthIf(WAS_PAID, 'disposal_usd', 'value at disposal in usd', usd('r.disposal_usd_cents')),
    raw('address', 'address', 'r.address'),
    { name: 'transaction_hash', head: 'transaction hash', write: plain(PAID_BY) },
    said('reason', 'reason', 'r.reason'),
  ],
  from: sql`refunds r join payments p on p.id = r.payment_id`,
  at: sql`coalesce(r.completed_at, r.created_at)`,
  of: 'r',
  where: sql`r.project_id = p.project_id and r.mode = p.mode`,
};

/** The fee belongs to a whole transaction, and is in only one of its rows, so that a column can be added up. */
const ONCE = sql`row_number() over (partition by s.sweep_id order by s.deposit_address, s.token) = 1`;

/** The coin that was swept, including a chain's own coin that is not accepted for payments. */
export const SWEPT_COIN: RawBuilder<string | null> = sql<string | null>`coalesce(s.asset, ${sql.raw(
  `case s.network ${NETWORKS.flatMap((network) => {
    const facts = NETWORK_FACTS[network];
    return facts.family === 'evm' && facts.gasCoin !== null ? [`when '${network}' then '${facts.gasCoin}'`] : [];
  }).join(' ')} end`,
)})`;
/** The decimals of every EVM chain's own coin. */
export const COIN_DECIMALS = 18;

const SWEEPS: Source = {
  ids: { payment: 'left(p.surface, 1) || p.id' },
  columns: [
    raw('sweep', 'sweep', 's.sweep_id'),
    ORDER_ID,
    at('mined', 'mined', 's.mined_at'),
    { name: 'coin', head: 'coin', write: plain(SWEPT_COIN) },
    raw('network', 'network', 's.network'),
    amount(
      'coin_amount',
      'coin amount',
      coin(sql`s.units`, sql`case when s.asset is null then ${sql.lit(COIN_DECIMALS)} else ${decimalsOf('s')} end`),
    ),
    worth('disposal_usd', 'value at disposal in usd', usd('s.usd_cents')),
    raw('deposit', 'deposit', 's.deposit_address'),
    raw('treasury', 'treasury', 'w.treasury'),
    raw('transaction_hash', 'transaction hash', 's.transaction_hash'),
    raw('block', 'block', 's.block_height'),
    amount('fee', 'fee', coin(sql`case when ${ONCE} then w.fee_units end`, sql.lit(COIN_DECIMALS))),
    worthIf(ONCE, 'fee_usd', 'fee in usd', usd('w.fee_usd_cents')),
  ],
  from: sql`sweep_transfers s join sweeps w on w.id = s.sweep_id join payments p on p.id = s.payment_id`,
  at: sql`s.mined_at`,
  of: 's',
  where: sql`s.project_id = p.project_id and s.state = 'mined'`,
};

const SOURCES: Readonly<Record<Exclude<Report, 'payments'>, Source>> = {
  transfers: TRANSFERS,
  refunds: REFUNDS,
  sweeps: SWEEPS,
};

/** The tables and condition of a report's rows: `p` for the payments, and the source's own. */
export function selectionOf({
  report,
  scope,
  span,
  token,
}: ReportSelection & { readonly report: keyof typeof SOURCES }): {
  readonly from: Condition;
  readonly where: Condition;
  readonly at: Condition;
} {
  const source = SOURCES[report];
  const of = sql.raw(source.of);
  const isOfToken = token === null ? sql`` : sql`and ${of}.asset = ${token.asset} and ${of}.network = ${token.network}`;
  return {
    from: source.from,
    at: source.at,
    where: sql`p.project_id = ${scope.projectId} and p.mode = ${scope.mode} and ${source.where}
      and ${source.at} >= ${moment(span.startAt)} and ${source.at} < ${moment(span.endAt)} ${isOfToken}`,
  };
}

/**
 * Passes on a report file from one snapshot: payments newest first, the others in the order in which they happened.
 * Returns the number of rows. Throws what `take` throws, and then the connection is unusable.
 */
export function copyReport(client: Client, file: ReportFile, take: (piece: Buffer) => Promise<void>): Promise<number> {
  const { report, scope, span, token, tokens } = file;
  if (report === 'payments') {
    const search = {
      ...NO_FILTERS,
      createdFrom: span.startAt,
      createdBefore: span.endAt,
      tokens: token === null ? null : [token],
    };
    return copyPayments(client, { ...file, scope, search, columns: PAYMENT_COLUMNS }, take);
  }
  const { ids, columns, of, at: happened } = SOURCES[report];
  const { from, where } = selectionOf({ report, scope, span, token });
  const written = columns.map(({ name, write }) => ({ name, value: write(file) }));
  const json = sql.join(written.map(({ name, value }) => sql`${sql.lit(name)}, ${value}`));
  const values = file.format === 'csv' ? written.map(({ value }) => value) : [sql`json_build_object(${json})::text`];
  const selected = [...Object.values(ids).map((text) => sql.raw(text)), ...values];
  const query = sql`select ${sql.join(selected)} from ${from} left join ${tokenRows(tokens)}
    on token.asset = ${sql.raw(of)}.asset and token.network = ${sql.raw(of)}.network
    where ${where} order by ${happened}, ${sql.raw(of)}.transaction_hash, p.id`;
  return copyFile(
    client,
    file,
    {
      heads: [
        ...Object.keys(ids),
        ...columns.map(({ head, isTime }) => (isTime === true ? `${head} (${file.zone})` : head)),
      ],
      rows: (db) => query.compile(db),
      eachRow: idWriter(Object.keys(ids), file, true),
    },
    take,
  );
}

/** Tokens as a table `token`, with their decimals here. */
export function tokenRows(tokens: readonly Token[]): Condition {
  const rows = tokens.map(
    ({ asset, network, decimals }) => sql`(${asset}::text, ${network}::text, ${decimals}::integer)`,
  );
  return rows.length === 0
    ? sql`(select null::text, null::text, null::integer where false) as token (asset, network, decimals)`
    : sql`(values ${sql.join(rows)}) as token (asset, network, decimals)`;
}
