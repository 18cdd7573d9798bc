import { fiatDecimals, formatDecimal, pow10 } from '../domain/money.ts';
import { requiredUnits, type Payment, type Quote, type Transfer } from '../domain/payment.ts';
import { publicPaymentId } from '../domain/payment-kind.ts';
import { methodId } from '../domain/payment-method.ts';
import { paymentUri, type EvmChain } from '../domain/payment-uri.ts';
import { moneyId } from '../domain/shop-message.ts';
import { isOpen } from '../domain/status.ts';
import { parseExact } from './number.ts';
import { paymentUrl, type Links } from './payment.ts';

/* Records as Greenfield, the API of BTCPay Server, shows them: times in seconds, decimals as texts. */

interface Status {
  readonly status: 'New' | 'Processing' | 'Settled' | 'Expired' | 'Invalid';
  readonly additionalStatus: 'None' | 'PaidPartial' | 'PaidOver' | 'PaidLate' | 'Marked';
}

/** The status of an invoice. Plugins take `PaidLate` for paid, so it is said only of confirmed money in full. */
export function greenfieldStatus(payment: Payment): Status {
  const { status, exception, quote, received, failureReason } = payment;
  const over = exception === 'overpaid' ? 'PaidOver' : 'None';
  const marked = payment.endedByHand === true ? 'Marked' : null;
  const required = quote === null ? null : requiredUnits(quote);
  const part = received.all.seenUnits > 0n ? 'PaidPartial' : 'None';
  const isAllThere = required !== null && received.all.confirmedUnits >= required;
  switch (status) {
    case 'created':
    case 'prepared':
    case 'pending':
      return { status: 'New', additionalStatus: part };
    case 'processing':
    case 'confirming':
      return { status: 'Processing', additionalStatus: over };
    case 'completed':
      return { status: 'Settled', additionalStatus: marked ?? (exception === 'paid_late' ? 'PaidLate' : over) };
    case 'expired':
      return { status: 'Expired', additionalStatus: isAllThere ? 'PaidLate' : part };
    case 'failed':
      if (failureReason === 'unconfirmed') return { status: 'Invalid', additionalStatus: 'None' };
      return { status: 'Expired', additionalStatus: isAllThere ? 'PaidLate' : part };
    case 'cancelled':
      return { status: 'Invalid', additionalStatus: marked ?? 'None' };
  }
}

/** The statuses that a person may give an invoice by hand. In live mode only confirmed money settles it. */
export function markableStatuses(payment: Payment): readonly ('Settled' | 'Invalid')[] {
  const { status, mode, received } = payment;
  const canCancel = isOpen(status) && received.all.seenUnits === 0n;
  const canAccept =
    received.all.confirmedUnits > 0n &&
    (status === 'failed' ||
      status === 'expired' ||
      status === 'cancelled' ||
      (status === 'pending' && payment.exception === 'underpaid'));
  const canSettle = canAccept || (mode === 'test' && isOpen(status));
  return [...(canSettle ? (['Settled'] as const) : []), ...(canCancel ? (['Invalid'] as const) : [])];
}

/** The metadata of the shop, or the same facts of an invoice that no plugin made. */
export function shopMetadataOf(payment: Payment): unknown {
  if (payment.shopMetadata !== null) return parseExact(payment.shopMetadata);
  const { metadata, merchantOrderId: orderId, customerEmail: buyerEmail, customerName: buyerName } = payment;
  const own = Object.entries({ orderId, buyerEmail, buyerName, itemDesc: payment.description });
  return { ...metadata, ...Object.fromEntries(own.filter(([, value]) => value !== null)) };
}

/** An invoice. `monitoringMs`: how long after its end its address is watched. */
export function greenfieldInvoice(payment: Payment, links: Links, monitoringMs: number) {
  const { projectId, amountMinor, currency, createdAt, expiresAt, shopCheckout, successUrl } = payment;
  const decimals = fiatDecimals(currency);
  return {
    id: publicPaymentId(payment),
    storeId: projectId,
    amount: formatDecimal(amountMinor, decimals),
    paidAmount: formatDecimal(paidMinor(payment), decimals),
    currency,
    type: 'Standard',
    checkoutLink: paymentUrl(payment, links),
    createdTime: seconds(createdAt),
    expirationTime: seconds(expiresAt),
    monitoringExpiration: seconds(expiresAt + monitoringMs),
    ...greenfieldStatus(payment),
    availableStatusesForManualMarking: markableStatuses(payment),
    archived: false,
    metadata: shopMetadataOf(payment),
    checkout: shopCheckout === null ? { redirectURL: successUrl } : parseExact(shopCheckout),
  };
}

/** The money that came, in the invoice's currency at its own rate; its amount once that is reached. */
function paidMinor({ quote, received, amountMinor }: Payment): bigint {
  if (quote === null) return 0n;
  const { seenUnits } = received.all;
  const isExact = seenUnits >= requiredUnits(quote) && seenUnits <= quote.owedUnits + quote.toleranceUnits;
  return isExact ? amountMinor : (amountMinor * seenUnits) / quote.owedUnits;
}

/** One transfer to an invoice. */
export function greenfieldPayment(transfer: Transfer, decimals: number) {
  return {
    id: moneyId(transfer),
    receivedDate: seconds(transfer.firstSeenAt),
    value: formatDecimal(transfer.amountUnits, decimals),
    fee: '0',
    status: TRANSFER_STATUS[transfer.state],
    destination: transfer.address,
  };
}

const TRANSFER_STATUS = {
  seen: 'Processing',
  mined: 'Processing',
  confirmed: 'Settled',
  dropped: 'Invalid',
} as const satisfies Readonly<Record<Transfer['state'], string>>;

/** A coin in which an invoice was to be paid, with the transfers in it. */
export function greenfieldMethod(
  { amountMinor, currency }: Pick<Payment, 'amountMinor' | 'currency'>,
  {
    quote,
    transfers,
    evm,
  }: { readonly quote: Quote; readonly transfers: readonly Transfer[]; readonly evm: EvmChain | null },
) {
  const { asset, decimals, owedUnits, address } = quote;
  const paid = transfers.reduce((sum, { state, amountUnits }) => (state === 'dropped' ? sum : sum + amountUnits), 0n);
  const due = paid < owedUnits ? owedUnits - paid : 0n;
  return {
    paymentMethodId: methodId(quote),
    currency: asset,
    destination: address,
    paymentLink: due === 0n ? null : paymentUri({ ...quote, units: due, evm }),
    rate: rateOf(amountMinor * pow10(decimals), owedUnits * pow10(fiatDecimals(currency))),
    paymentMethodPaid: formatDecimal(paid, decimals),
    totalPaid: formatDecimal(paid, decimals),
    due: formatDecimal(due, decimals),
    amount: formatDecimal(owedUnits, decimals),
    paymentMethodFee: '0',
    activated: true,
    payments: transfers.map((transfer) => greenfieldPayment(transfer, decimals)),
  };
}

const RATE_DECIMALS = 8;

/** A quotient to eight decimals, rounded down. */
function rateOf(dividend: bigint, divisor: bigint): string {
  return formatDecimal((dividend * pow10(RATE_DECIMALS)) / divisor, RATE_DECIMALS);
}

/** A time in whole seconds, as Greenfield counts. */
export function seconds(at: number): number {
  return Math.floor(at / 1_000);
}
