import { payableRest, type Token } from '../../../domain/asset.ts';
import type { SeenSale } from '../../../app/payments/till-sale.ts';
import { fiatDecimals, formatDecimal, type Fiat } from '../../../domain/money.ts';
import { nativeAsset, NETWORK_FACTS } from '../../../domain/networks.ts';
import { inTimeUntil, type Payment, type Quote } from '../../../domain/payment.ts';
import { publicPaymentId } from '../../../domain/payment-kind.ts';
import { paymentUri } from '../../../domain/payment-uri.ts';
import { isCounting, isOpen } from '../../../domain/status.ts';
import { isoTime, isoTimeOrNull } from '../../../wire/time.ts';
import { qrPath } from '../../pages/qr-path.ts';
import type { SaleRow, SaleView, TillCoin } from './contract.ts';

/** A coin with its network's name. */
export function coinView({ asset, network }: Pick<Token, 'asset' | 'network'>): TillCoin {
  return { asset, network, network_name: NETWORK_FACTS[network].label };
}

/** A sale in the list. */
export function saleRow({ payment, tipMinor, outcome }: SeenSale): SaleRow {
  const { quote, currency, received } = payment;
  const fiat = (minor: bigint): string => formatDecimal(minor, fiatDecimals(currency));
  return {
    id: publicPaymentId(payment),
    state: stateOf(payment, outcome),
    status: payment.status,
    exception: payment.exception,
    paid_by: outcome.paidBy,
    doubt: outcome.doubt,
    amount: fiat(payment.amountMinor),
    tip: tipMinor === 0n ? null : fiat(tipMinor),
    currency,
    note: payment.description,
    crypto: quote === null ? null : cryptoView(payment, quote),
    transaction_hash: payment.transactionHash ?? received.transactionHash,
    created_at: isoTime(payment.createdAt),
    expires_at: isoTime(payment.expiresAt),
    completed_at: isoTimeOrNull(payment.completedAt),
  };
}

function cryptoView(payment: Payment, quote: Quote): SaleRow['crypto'] {
  const units = (of: bigint): string => formatDecimal(of, quote.decimals);
  const { asset, network, owedUnits } = quote;
  const received = units(payment.received.all.seenUnits);
  const left = units(leftUnits(payment, quote));
  return { ...coinView({ asset, network }), owed: units(owedUnits), received, left };
}

/** A sale with all that the till shows of it. */
export function saleView(sale: SeenSale, now: number): SaleView {
  const { payment, confirmations } = sale;
  const row = saleRow(sale);
  const { quote } = payment;
  const waits = isOpen(payment.status) && row.state !== 'seen' && row.state !== 'paid' && now < inTimeUntil(payment);
  return {
    ...row,
    confirmations:
      confirmations === null || (row.state !== 'seen' && row.state !== 'paid')
        ? null
        : { have: Math.min(confirmations.have, confirmations.need), need: confirmations.need },
    pay: waits && quote !== null ? payView(sale, quote) : null,
  };
}

function stateOf({ status, quote, received }: Payment, { paidBy, doubt }: SeenSale['outcome']): SaleRow['state'] {
  if (paidBy !== null) return 'paid';
  // A completed payment that is not paid has lost its money to a reorganisation.
  if (isCounting(status) || status === 'completed') return 'seen';
  if (doubt === 'replaced' && received.all.seenUnits === 0n) return 'gone';
  if (!isOpen(status)) return 'ended';
  if (quote === null) return 'choose';
  return received.all.seenUnits > 0n ? 'part' : 'waiting';
}

function leftUnits({ received }: Payment, quote: Quote): bigint {
  const rest = quote.owedUnits - received.inTime.seenUnits;
  return rest > 0n ? payableRest(quote, rest) : 0n;
}

/** The code is that of the payment page: for tokens the address alone, which every wallet reads. */
function payView({ payment, evm }: SeenSale, quote: Quote): SaleView['pay'] {
  const { asset, network, decimals, address } = quote;
  const units = leftUnits(payment, quote);
  if (payment.mode === 'test') {
    const text = `Test payment, send nothing: ${formatDecimal(units, decimals)} ${asset} to ${address}`;
    return { address, uri: null, qr: qrPath(text), only_address: false };
  }
  const uri = paymentUri({ asset, network, decimals, units, address, evm });
  const inCode = asset === nativeAsset(network) ? uri : null;
  return { address, uri, qr: qrPath(inCode ?? address), only_address: inCode === null };
}

/** The sums of the sales that count as paid, by currency. */
export function saleSums(sales: readonly SeenSale[]) {
  const paid = sales.filter(({ outcome }) => outcome.paidBy !== null);
  const sum = (some: readonly bigint[], currency: Fiat): string =>
    formatDecimal(
      some.reduce((total, one) => total + one, 0n),
      fiatDecimals(currency),
    );
  return [...Map.groupBy(paid, ({ payment }) => payment.currency)].map(([currency, group]) => ({
    currency,
    count: group.length,
    total: sum(
      group.map(({ payment }) => payment.amountMinor),
      currency,
    ),
    tips: sum(
      group.map(({ tipMinor }) => tipMinor),
      currency,
    ),
  }));
}
