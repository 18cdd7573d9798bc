import { XERO_MAX_LINES, type BookingFormat } from '../domain/bookkeeping.ts';
import { fiatDecimals, formatDecimal, type Fiat } from '../domain/money.ts';
import type { BookingSummary } from '../store/reports/booking-export.ts';
import type { StatementRecord } from '../wire/books.ts';
import { fields } from '../wire/fields.ts';
import { table } from './output.ts';

const VERDICTS = {
  balanced: 'Balanced to the last unit.',
  explained: 'Balanced, except for the differences listed below.',
  unexplained: 'There is an unexplained difference. Please report this as a bug in Cointill.',
} as const;

/** A statement as text. */
export function linesOf(statement: StatementRecord): readonly string[] {
  const {
    tokens,
    differences,
    over_refunds: overRefunds,
    repeated_refunds: repeated,
    deposit_differences: deposits,
  } = statement;
  return [
    ...fields([
      ['period', `${statement.from_day} to ${statement.to_day} (${statement.zone})`],
      ['result', VERDICTS[statement.verdict]],
    ]),
    '',
    ...table(
      [
        'COIN',
        'NETWORK',
        'OPENING',
        'RECEIVED',
        'APPLIED',
        'EXCESS',
        'NOT ACCEPTED',
        'REFUNDED',
        'CLOSING',
        `${statement.currency} IN`,
        'UNKNOWN',
      ],
      tokens.map((one) => [
        one.coin,
        one.network,
        one.opening,
        one.received,
        one.applied,
        one.excess,
        notAccepted(one),
        one.refunded,
        one.closing,
        one.value_at_receipt.amount,
        String(one.value_at_receipt.unknown),
      ]),
      'No money arrived in this period or before it.',
    ),
    ...listed(
      differences,
      (row) =>
        `${row.payment}: the transfers add up to ${row.transfers} ${row.coin}, but the payment records ${row.payment_sum}.`,
      'payments that differ from their transfers',
    ),
    ...listed(
      overRefunds,
      (row) =>
        `${row.payment}: its refunds, paid or pending, add up to ${row.refunded} ${row.coin}, but only ${row.received} ${row.coin} of its money is confirmed.`,
      'payments whose refunds exceed their confirmed money',
    ),
    ...listed(
      repeated,
      (row) =>
        `${row.refund}: ${row.times} transactions each paid ${row.amount} ${row.coin}, but the refund was owed only once.`,
      'refunds that were paid more than once',
    ),
    ...listed(deposits, depositLine, 'deposits that differ'),
  ];
}

function depositLine(row: StatementRecord['deposit_differences']['rows'][number]): string {
  return (
    `${row.address} received ${row.received} ${row.coin}; ${row.swept} ${row.coin} were swept, and ${row.there} ${row.coin} remain.` +
    (row.from_contracts === null
      ? ''
      : ` The other ${row.from_contracts} ${row.coin} came through a smart contract call, and Cointill did not detect them on arrival.`) +
    (row.is_unclear
      ? ' Money left this address in a block that no node could trace yet. For details, run: cointill network status'
      : '')
  );
}

/** A line for each row, and one that says how many more rows exist. */
export function listed<Row>(
  { count, rows }: { readonly count: number; readonly rows: readonly Row[] },
  lineOf: (row: Row) => string,
  what: string,
): readonly string[] {
  const more = count > rows.length ? [`The list above shows the first ${rows.length} of ${count} ${what}.`] : [];
  return [...rows.map(lineOf), ...more];
}

/** The parts of the money that is not accepted, as `open 1, late 0.5`. */
function notAccepted(token: StatementRecord['tokens'][number]): string {
  const parts = (['open', 'underpaid', 'late', 'superseded', 'unquoted', 'lost'] as const)
    .filter((part) => token[part] !== '0')
    .map((part) => `${part} ${token[part]}`);
  return parts.length === 0 ? '0' : parts.join(', ');
}

/** The sums of a file of bookings, which are those of the statement, and the movements that it leaves out. */
export function summaryLines(
  { sums, leftOut }: BookingSummary,
  currency: Fiat,
  format: BookingFormat,
): readonly string[] {
  const lines = sums.map(
    ({ kind, asset, network, rows, amount, value }) =>
      `${kind}: ${amount} ${asset} on ${network}, ${formatDecimal(value, fiatDecimals(currency))} ${currency}, ${rows} entries`,
  );
  const count = sums.reduce((sum, { rows }) => sum + rows, 0) - leftOut.count;
  return [
    ...lines,
    ...listed(
      leftOut,
      ({ kind, id, amount, coin, day, why }) =>
        `Not in the file: ${kind} of ${amount} ${coin} on ${day}, ${id}, because ${why === 'no_value' ? 'no price was recorded' : 'the value is too small to book'}.`,
      'entries that are not in the file',
    ),
    ...(format === 'xero' && count > XERO_MAX_LINES
      ? [`The file has ${count} lines, but Xero imports at most ${XERO_MAX_LINES}. Write files of fewer days.`]
      : []),
  ];
}
