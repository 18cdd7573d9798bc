import {
  BOOK_PARTS,
  type CurrencyRow,
  type Named,
  type Statement,
  type TokenKey,
  type TokenStatement,
} from '../domain/books.ts';
import { tokenOf } from '../domain/asset.ts';
import { encodeId } from '../domain/id.ts';
import { fiatDecimals, formatDecimal, type Fiat } from '../domain/money.ts';
import { nativeAsset, NETWORK_FACTS } from '../domain/networks.ts';
import type { ReportDays, ReportSpan } from '../domain/report.ts';
import type { PaymentApi } from '../domain/payment.ts';
import { publicPaymentId } from '../domain/payment-kind.ts';
import { isoTime } from './time.ts';

function tokenRecord(token: TokenStatement, currency: Fiat) {
  /** A value in the project's currency at its time, and the number of parts whose value is unknown. */
  const worth = ({ value, unvalued }: { readonly value: bigint; readonly unvalued: number }) => ({
    amount: formatDecimal(value, fiatDecimals(currency)),
    unknown: unvalued,
  });
  const { decimals, received, refunds, swept, deposits, network, asset } = token;
  const amount = (units: bigint): string => formatDecimal(units, decimals);
  const parts = Object.fromEntries(BOOK_PARTS.map((part) => [part, amount(received[part])])) as Readonly<
    Record<(typeof BOOK_PARTS)[number], string>
  >;
  return {
    coin: asset,
    network,
    opening: amount(token.opening),
    received: amount(received.received),
    ...parts,
    lost: amount(token.lost),
    unconfirmed: amount(received.unconfirmed),
    transfers: received.transfers,
    value_at_receipt: worth(received),
    refunded: amount(refunds.refunded),
    refunds: refunds.refunds,
    refunds_pending: amount(refunds.pending),
    value_at_disposal: worth(refunds),
    swept: amount(swept.swept),
    sweeps: swept.sweeps,
    value_swept: worth(swept),
    closing: amount(token.closing),
    unexplained: amount(token.unexplained),
    deposits:
      deposits === null
        ? null
        : {
            received: amount(deposits.received),
            swept: amount(deposits.swept),
            there: deposits.there === null ? null : amount(deposits.there),
            since: amount(deposits.since),
          },
  };
}

const currencyRecord = ({ currency, minor, transfers, unvalued }: CurrencyRow) => ({
  currency,
  amount: formatDecimal(minor, fiatDecimals(currency)),
  count: transfers,
  unknown: unvalued,
});

const namedRecord = <Row, Written>({ count, rows }: Named<Row>, write: (row: Row) => Written) => ({
  count,
  rows: rows.map(write),
});

/**
 * A statement as clients read it: exact decimals as texts. Differences are listed by payment or by deposit. `madeAt` is
 * the time of the books.
 */
export function statementRecord(
  { tokens, verdict, books }: Statement,
  { from, to, zone }: ReportDays,
  span: ReportSpan,
  madeAt: number,
) {
  const { currency } = books;
  const decimals = new Map(tokens.map((token) => [`${token.network} ${token.asset}`, token.decimals]));
  const amountOf = ({ network, asset }: TokenKey, units: bigint): string =>
    formatDecimal(units, decimals.get(`${network} ${asset}`) ?? tokenOf(asset, network)?.decimals ?? 0);
  const ofPayment = (row: TokenKey & { readonly paymentId: string; readonly api: PaymentApi }) => ({
    payment: publicPaymentId({ id: row.paymentId, api: row.api }),
    coin: row.asset,
    network: row.network,
  });
  return {
    from_day: from,
    to_day: to,
    zone,
    from: isoTime(span.startAt),
    until: isoTime(span.endAt),
    made_at: isoTime(madeAt),
    verdict,
    currency,
    tokens: tokens.map((token) => tokenRecord(token, currency)),
    receipts: books.currencies.map(currencyRecord),
    refunds: books.refundCurrencies.map(currencyRecord),
    fees: books.fees.map(({ network, units, value, sweeps, unknown }) => {
      const facts = NETWORK_FACTS[network];
      const { coin } = facts;
      return {
        network,
        coin: facts.family === 'evm' ? facts.gasCoin : facts.coin.asset,
        amount: formatDecimal(units, coin?.decimals ?? 18),
        value: formatDecimal(value, fiatDecimals(currency)),
        sweeps,
        unknown,
      };
    }),
    differences: namedRecord(books.differences, (row) => ({
      ...ofPayment(row),
      transfers: amountOf(row, row.transfers),
      payment_sum: amountOf(row, row.payment),
    })),
    over_refunds: namedRecord(books.overRefunds, (row) => ({
      ...ofPayment(row),
      received: amountOf(row, row.received),
      refunded: amountOf(row, row.refunded),
    })),
    repeated_refunds: namedRecord(books.repeatedRefunds, (row) => ({
      ...ofPayment(row),
      refund: encodeId('refund', row.refundId),
      amount: amountOf(row, row.units),
      times: row.payouts,
    })),
    deposit_differences: namedRecord(books.depositDifferences, (row) => ({
      address: row.address,
      coin: row.asset,
      network: row.network,
      received: amountOf(row, row.received),
      swept: amountOf(row, row.swept),
      there: amountOf(row, row.there),
      // A contract's call moves the chain's own coin without a transaction of its own.
      from_contracts: row.asset === nativeAsset(row.network) && row.unseen > 0n ? amountOf(row, row.unseen) : null,
      is_unclear: row.isUnclear,
    })),
  };
}
export type StatementRecord = ReturnType<typeof statementRecord>;
