import { sql, type RawBuilder } from 'kysely';
import type { Token } from '../../domain/asset.ts';
import type { BookingFormat } from '../../domain/bookkeeping.ts';
import type { CountedScope } from '../../domain/books.ts';
import { NETWORK_FACTS, NETWORKS } from '../../domain/networks.ts';
import { UNTRACED } from '../../domain/payment.ts';
import type { ReportSpan } from '../../domain/report.ts';
import { rateJoin, valueIn, type Worth } from '../figures/currency-rates.ts';
import type { Condition } from '../payments/payment-filter.ts';
import { PAID_BY } from '../refunds/late-payouts.ts';
import { WAS_PAID } from '../refunds/refund-payouts.ts';
import { coin, guarded } from './export-columns.ts';
import { COIN_DECIMALS, selectionOf, tokenRows } from './report-export.ts';
import { at as moment } from './report-sums.ts';

/** The bookings of a period: all, or those of one token. */
export interface BookingSelection {
  readonly scope: CountedScope;
  readonly span: ReportSpan;
  readonly token: Pick<Token, 'asset' | 'network'> | null;
  /** All tokens, for the decimals of money that no payment was quoted in. */
  readonly tokens: readonly Token[];
  /** Whether the fees of sweeps are bookings. */
  readonly withFees: boolean;
}

/** The texts of merchants and customers, guarded for the separator of the format's file; the sums need none. */
const textIn = (format: BookingFormat | null, column: string): Condition =>
  format === null
    ? sql`null`
    : guarded(sql.raw(column), { format: 'csv', separator: format === 'datev' ? ';' : ',', zone: 'UTC' });

/**
 * The movements of a statement, one a row, with the same values as in its sums: confirmed money received, refunds paid,
 * and fees of sweeps. `value` is not rounded, and null if it is unknown.
 */
function movements(
  { scope, span, token, tokens, withFees }: BookingSelection,
  format: BookingFormat | null,
): RawBuilder<unknown> {
  const { currency } = scope;
  const select = { scope, span, token };
  const worth = (minor: string, usdCents: string, of = 'p.currency'): Worth => ({
    currency: sql.raw(of),
    minor: sql.raw(minor),
    usdCents: sql.raw(usdCents),
  });
  const received = selectionOf({ ...select, report: 'transfers' });
  const refunded = selectionOf({ ...select, report: 'refunds' });
  const decimals = sql`case when p.asset = t.asset and p.network = t.network then p.decimals else token.decimals end`;
  const rows = [
    sql`select 'receipt' as kind, ${received.at} as happened, p.surface as api, p.id::text as id,
      ${textIn(format, 'p.merchant_order_id')} as order_id, ${textIn(format, 'p.customer_name')} as customer,
      t.asset as coin, t.network, ${coin(sql`t.amount_units`, decimals)} as amount, p.exception,
      case when not starts_with(t.transaction_hash, ${sql.lit(UNTRACED)}) then t.transaction_hash end as transaction,
      t.output_index::text as part,
      ${valueIn(currency, worth('t.receipt_minor', 't.receipt_usd_cents'))} as value
      from ${received.from} left join ${tokenRows(tokens)} on token.asset = t.asset and token.network = t.network
      ${rateJoin(currency, sql`p.mode`, received.at)} where ${received.where} and t.state = 'confirmed'`,
    sql`select 'refund', ${refunded.at}, p.surface, p.id::text, ${textIn(format, 'p.merchant_order_id')},
      ${textIn(format, 'p.customer_name')}, r.asset, r.network, ${coin(sql`r.units`, sql`r.decimals`)}, null, ${PAID_BY},
      r.id::text, ${valueIn(currency, worth('r.disposal_minor', 'r.disposal_usd_cents', 'r.currency'))}
      from ${refunded.from} ${rateJoin(currency, sql`p.mode`, refunded.at)} where ${refunded.where} and ${WAS_PAID}`,
  ];
  if (withFees && token === null && scope.mode === 'live') {
    rows.push(sql`select 'fee', mined_at, null, id::text, null, null, ${GAS_COIN}, network,
      ${coin(sql`fee_units`, sql.lit(COIN_DECIMALS))}, null, null, null,
      ${valueIn(currency, worth('null', 'fee_usd_cents', 'null'))}
      from sweeps ${rateJoin(currency, sql`'live'`, sql`mined_at`)} where project_id = ${scope.projectId}
        and (state = 'mined' or (state = 'failed' and fee_units is not null))
        and mined_at >= ${moment(span.startAt)} and mined_at < ${moment(span.endAt)}`);
  }
  return sql`(${sql.join(rows, sql` union all `)})`;
}

/** The coin that pays for transactions of a sweep's network. */
const GAS_COIN = sql.raw(
  `case network ${NETWORKS.map((network) => {
    const facts = NETWORK_FACTS[network];
    return `when '${network}' then '${(facts.family === 'evm' ? facts.gasCoin : facts.coin.asset) ?? ''}'`;
  }).join(' ')} end`,
);

/**
 * The movements with the whole units that each gets of its coin's sum: the rounded sum up to it less the rounded sum
 * before it. So the bookings of a coin add up to the rounded sum in the statement, and none is a unit or more away from
 * its value. Those of a coin are in the order in which they happened.
 */
export function bookedMovements(selection: BookingSelection, format: BookingFormat | null): RawBuilder<unknown> {
  return sql`(select m.*, round(running) - round(running - coalesce(value, 0)) as minor from (
    select rows.*, coalesce(sum(value) over (
      partition by kind, network, coin order by happened, id, transaction, part rows unbounded preceding), 0) as running
    from ${movements(selection, format)} rows) m) bookings`;
}

/** The statement's sums of the same movements. */
export function movementSums(selection: BookingSelection): RawBuilder<unknown> {
  return sql`${movements(selection, null)} movements`;
}
