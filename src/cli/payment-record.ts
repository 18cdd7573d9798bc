import { shownDecimals, tokenOf } from '../domain/asset.ts';
import { fiatDecimals, formatDecimal } from '../domain/money.ts';
import type { OtherMoney } from '../domain/other-money.ts';
import type { Payment, Quote, Transfer } from '../domain/payment.ts';
import { isFinal, type PaymentStatus } from '../domain/status.ts';
import { exactNumber } from '../wire/number.ts';
import { isoTime } from '../wire/time.ts';
import { publicPaymentId } from '../domain/payment-kind.ts';
import { paymentUrl, type Links } from '../wire/payment.ts';
import { fields } from '../wire/fields.ts';
import { table } from './output.ts';
import type { IrregularPayout } from '../app/refunds/refund-cover.ts';
import { encodeId } from '../domain/id.ts';
import type { PaymentHistory, TimelineStep } from './payment-history.ts';

/** A payment of either API as `--json` prints it: `status` is one of the nine, amounts are exact numbers. */
export function paymentRecord(payment: Payment, links: Links): object {
  const { quote, received } = payment;
  const units = (amount: bigint) => (quote === null ? null : exactNumber(amount, quote.decimals));
  return {
    id: publicPaymentId(payment),
    surface: payment.api,
    mode: payment.mode,
    project_id: payment.projectId,
    status: payment.status,
    exception: payment.exception,
    failure_reason: payment.failureReason,
    transaction_number: payment.transactionNumber,
    amount: exactNumber(payment.amountMinor, fiatDecimals(payment.currency)),
    currency: payment.currency,
    crypto_currency: quote?.asset ?? null,
    network: quote?.network ?? null,
    crypto_amount: quote === null ? null : units(quote.owedUnits),
    amount_received: units(received.all.seenUnits),
    amount_confirmed: units(received.all.confirmedUnits),
    address: quote?.address ?? null,
    transaction_hash: payment.transactionHash,
    payment_url: paymentUrl(payment, links),
    order_id: payment.merchantOrderId,
    description: payment.description,
    customer_email: payment.customerEmail,
    customer_name: payment.customerName,
    metadata: payment.metadata,
    success_url: payment.successUrl,
    cancel_url: payment.cancelUrl,
    created_at: isoTime(payment.createdAt),
    expires_at: isoTime(payment.expiresAt),
    completed_at: time(payment.completedAt),
    cancelled_at: time(payment.cancelledAt),
  };
}

/** The history of a payment as `--json` prints it beside the payment. */
export function historyRecord(
  { timeline, events, transfers, others, irregularPayouts }: PaymentHistory,
  quote: Quote | null,
): object {
  return {
    other_received: others.map((other) => ({
      crypto_currency: other.asset,
      network: other.network,
      amount: exactNumber(other.seenUnits, decimalsOf(other, quote)),
      amount_confirmed: exactNumber(other.confirmedUnits, decimalsOf(other, quote)),
      transaction_hashes: other.transactionHashes,
    })),
    refund_warnings: irregularPayouts.map(payoutWarning),
    timeline: timeline.map(({ at, from, to, cause }) => ({ at: isoTime(at), from, to, cause })),
    events: events.map(({ id, type, sequence, createdAt }) => ({ id, type, sequence, created_at: isoTime(createdAt) })),
    transfers: transfers.map((transfer) => ({
      network: transfer.network,
      transaction_hash: transfer.transactionHash,
      index: transfer.index,
      address: transfer.address,
      crypto_currency: transfer.asset,
      amount: exactNumber(transfer.amountUnits, decimalsOf(transfer, quote)),
      state: transfer.state,
      first_seen_at: isoTime(transfer.firstSeenAt),
      block_height: transfer.blockHeight,
      block_at: time(transfer.blockAt),
    })),
  };
}

function payoutWarning({ kind, refundId, hashes }: IrregularPayout): string {
  const refund = encodeId('refund', refundId);
  const paid = hashes.join(' and by ');
  switch (kind) {
    case 'cancelled':
    case 'expired':
      return `${paid} paid exactly the amount of ${refund} to its address, although this refund had ${kind === 'expired' ? 'expired' : 'been cancelled'}. Do not refund the money a second time.`;
    case 'repeated':
      return `${refund} was paid ${hashes.length} times, by ${paid}. Ask the customer to send the excess back.`;
    case 'repeated_perhaps':
      return `${refund} was paid ${hashes.length} times, by ${paid}. If all of these transactions are yours, ask the customer to send the excess back.`;
  }
}

/** A payment for people. */
export function paymentLines(payment: Payment, links: Links): readonly string[] {
  const { quote } = payment;
  const exception = payment.exception === 'none' ? '' : `, ${payment.exception}`;
  const failure = payment.failureReason === null ? '' : ` (${payment.failureReason})`;
  return fields([
    ['Payment', publicPaymentId(payment)],
    ['Number', payment.transactionNumber],
    ['Status', `${payment.status}${failure}${exception}`],
    ['Mode', payment.mode],
    ['Amount', fiatAmount(payment)],
    ['To pay', quote === null ? 'no token chosen yet' : owed(payment)],
    ['Received', moneySeen(payment)],
    ['Address', quote === null ? null : `${quote.address} on ${quote.network}`],
    ['Hash', payment.transactionHash],
    ['Page', paymentUrl(payment, links)],
    ['Order id', payment.merchantOrderId],
    ['Description', payment.description],
    ['Customer', [payment.customerName, payment.customerEmail].filter((part) => part !== null).join(', ') || null],
    ['Project', payment.projectId],
    ['Created', isoTime(payment.createdAt)],
    ['Expires', isoTime(payment.expiresAt)],
    ['Completed', time(payment.completedAt)],
    ['Cancelled', time(payment.cancelledAt)],
  ]);
}

/** A payment's history for people. */
export function historyLines(
  { timeline, events, transfers, others, irregularPayouts }: PaymentHistory,
  quote: Quote | null,
): readonly string[] {
  return [
    '',
    ...otherLines(others, quote),
    ...irregularPayouts.flatMap((payout) => [payoutWarning(payout), '']),
    'Timeline',
    ...timeline.map((step) => `  ${isoTime(step.at)}  ${stepText(step)}`),
    '',
    'Events',
    ...(events.length === 0 ? ['  none'] : []),
    ...events.map(
      (event) =>
        `  ${isoTime(event.createdAt)}  ${event.sequence === null ? '' : `#${event.sequence} `}${event.type}  ${event.id}`,
    ),
    '',
    'Transfers',
    ...(transfers.length === 0 ? ['  none'] : []),
    ...transfers.map(
      (transfer) =>
        `  ${isoTime(transfer.firstSeenAt)}  ${formatDecimal(transfer.amountUnits, decimalsOf(transfer, quote))} ${transfer.asset} ${transfer.state}  ${transfer.transactionHash}`,
    ),
  ];
}

/** Money beyond the requested amount, and what the merchant can do with it. */
function otherLines(others: readonly OtherMoney[], quote: Quote | null): readonly string[] {
  if (others.length === 0) return [];
  return [
    'Money in a token that the payment does not ask for',
    ...others.map((other) => {
      const amount = (units: bigint): string => formatDecimal(units, decimalsOf(other, quote));
      const { seenUnits, confirmedUnits, asset, network, transactionHashes } = other;
      return `  ${amount(seenUnits)} ${asset} on ${network}, ${amount(confirmedUnits)} of it confirmed  ${transactionHashes.join(' ')}`;
    }),
    '  This money does not count towards the payment. Keep it in your wallet or on your deposit contract (cointill sweep plan), or',
    '  refund it once the payment is final: POST /v1/refunds with its crypto_currency and network, then cointill refund show.',
    '',
  ];
}

/** A note if money was simulated for a payment that had ended; nothing for any other payment. */
export function afterTheEnd(before: Payment, after: Payment): readonly string[] {
  if (!isFinal(before.status)) return [];
  const now = after.exception === 'none' ? after.status : `${after.status}, ${after.exception}`;
  return [`Note: the payment was already ${before.status} when this money arrived. The payment is now ${now}.`];
}

/** Many payments for people. */
export function paymentTable(payments: readonly Payment[]): readonly string[] {
  return table(
    ['PAYMENT', 'CREATED', 'MODE', 'STATUS', 'EXCEPTION', 'AMOUNT', 'TO PAY', 'ORDER ID'],
    payments.map((payment) => [
      publicPaymentId(payment),
      isoTime(payment.createdAt),
      payment.mode,
      payment.status,
      payment.exception === 'none' ? '-' : payment.exception,
      fiatAmount(payment),
      payment.quote === null ? '-' : owed(payment),
      payment.merchantOrderId ?? '-',
    ]),
    'No payment matches.',
  );
}

/** The money seen so far; null before a token is chosen. */
export function moneySeen(payment: Payment): string | null {
  const { quote, received } = payment;
  if (quote === null) return null;
  const { seenUnits, confirmedUnits } = received.all;
  if (seenUnits === 0n) return 'nothing';
  const confirmed =
    confirmedUnits === seenUnits ? 'confirmed' : `${formatDecimal(confirmedUnits, quote.decimals)} of it confirmed`;
  return `${formatDecimal(seenUnits, quote.decimals)} ${quote.asset}, ${confirmed}`;
}

const CAUSES: Readonly<Record<string, string>> = {
  created: 'created',
  token_chosen: 'a token was chosen',
  deadline: 'the time to pay was over',
  settled: 'completed by the sandbox',
  cancelled: 'cancelled',
  accepted: 'the merchant accepted the money',
};

/** The effect of money, by the status that followed; any other status follows when the money is gone again. */
const MONEY: Readonly<Partial<Record<PaymentStatus, string>>> = {
  processing: 'money was detected',
  confirming: 'the money is in a block',
  completed: 'enough money is confirmed',
  failed: 'the money was not confirmed',
};

function stepText({ from, to, cause }: TimelineStep): string {
  if (from === null) return cause === to ? to : `${CAUSES[cause] ?? cause} as ${to}`;
  if (cause !== 'money') return `${from} → ${to}: ${CAUSES[cause] ?? cause}`;
  const wasTakenBack = from === 'confirming' && to === 'processing';
  return `${from} → ${to}: ${wasTakenBack ? 'a chain reorganisation removed the block with the money' : (MONEY[to] ?? 'the money is no longer on the chain')}`;
}

function fiatAmount(payment: Payment): string {
  return `${formatDecimal(payment.amountMinor, fiatDecimals(payment.currency))} ${payment.currency}`;
}

function owed({ quote }: Payment): string {
  return quote === null ? '-' : `${formatDecimal(quote.owedUnits, quote.decimals)} ${quote.asset}`;
}

/** Transfers are in the token's units; the operator's own contract may have other decimals than the well-known one. */
function decimalsOf({ asset, network }: Pick<Transfer, 'asset' | 'network'>, quote: Quote | null): number {
  if (quote?.asset === asset && quote.network === network) return quote.decimals;
  return tokenOf(asset, network)?.decimals ?? shownDecimals(18);
}

function time(at: number | null): string | null {
  return at === null ? null : isoTime(at);
}
