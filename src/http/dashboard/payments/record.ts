import type { FastifyRequest } from 'fastify';
import type { App } from '../../../app/context.ts';
import { type SeenPayment, readPaymentDetails } from '../../../app/dashboard/payment-details.ts';
import type { PaymentSelector } from '../../../app/payments/change-payment.ts';
import { tokenOf } from '../../../domain/asset.ts';
import { encodeId } from '../../../domain/id.ts';
import { formatDecimal, fiatDecimals } from '../../../domain/money.ts';
import { addressPage, transactionPage } from '../../../domain/networks.ts';
import { tracedHash, type Payment, type Quote, type Transfer } from '../../../domain/payment.ts';
import type { ReadNote } from '../../../store/payments/notes.ts';
import type { PaymentDetails } from '../../../store/payments/payment-details.ts';
import { publicPaymentId } from '../../../domain/payment-kind.ts';
import { paymentUrl, type Links } from '../../../wire/payment.ts';
import { isoTime, isoTimeOrNull } from '../../../wire/time.ts';
import { PRICE_PLACES, quotedPrice } from '../../quoted-price.ts';
import { pageOf } from '../record-parts.ts';
import { refundableView, refundView } from '../refunds/record.ts';
import { type Viewer, noPayment, type ProjectScope, viewerOf } from '../scope.ts';
import type { PaymentRow, PaymentView } from './contract.ts';
import { timelineOf } from './timeline.ts';

/** A payment in a list. */
export function paymentRow(payment: Payment): PaymentRow {
  const { quote } = payment;
  return {
    id: publicPaymentId(payment),
    api: payment.api,
    mode: payment.mode,
    status: payment.status,
    exception: payment.exception,
    amount: formatDecimal(payment.amountMinor, fiatDecimals(payment.currency)),
    currency: payment.currency,
    crypto:
      quote === null
        ? null
        : {
            asset: quote.asset,
            network: quote.network,
            owed: formatDecimal(quote.owedUnits, quote.decimals),
            received: formatDecimal(payment.received.all.seenUnits, quote.decimals),
          },
    transaction_number: payment.transactionNumber,
    order_id: payment.merchantOrderId,
    description: payment.description,
    customer_email: payment.customerEmail,
    created_at: isoTime(payment.createdAt),
    expires_at: isoTime(payment.expiresAt),
    completed_at: isoTimeOrNull(payment.completedAt),
  };
}

/** A payment in detail. */
export function paymentView(details: SeenPayment, links: Links, viewer: Viewer): PaymentView {
  const { payment, confirmations, can } = details;
  const transfers = details.transfers.map((transfer) => transferView(transfer, details));
  const refunds = details.refunds.map((refund) => refundView(refund, details, links, viewer));
  return {
    ...paymentRow(payment),
    failure_reason: payment.failureReason,
    customer_name: payment.customerName,
    metadata: { ...payment.metadata },
    success_url: payment.successUrl,
    cancel_url: payment.cancelUrl,
    payment_url: paymentUrl(payment, links),
    payment_request: payment.paymentRequestId === null ? null : encodeId('request', payment.paymentRequestId),
    cancelled_at: isoTimeOrNull(payment.cancelledAt),
    completes_at: isoTimeOrNull(payment.completesAt),
    address: payment.quote?.address ?? null,
    confirmations:
      confirmations === null
        ? null
        : { have: Math.min(confirmations.have, confirmations.need), need: confirmations.need },
    money: moneyView(details),
    addresses: addressViews(details),
    transfers,
    refunds,
    idempotency_key: details.idempotencyKey,
    timeline: timelineOf(details, transfers, refunds, viewer),
    refundable: details.refundable.map((one) => refundableView(one, payment)),
    refund_warnings: details.irregularPayouts.map(({ kind, refundId, hashes }) => ({
      kind,
      refund: encodeId('refund', refundId),
      transaction_hashes: [...hashes],
    })),
    ...annotationsView(details, viewer),
    can: {
      ...(viewer.mayChange ? { ...can, simulate: [...can.simulate] } : NOTHING),
      refund: details.refundable.some(({ leftUnits }) => leftUnits > 0n) ? viewer.refundsTo : 'none',
      annotate: viewer.mayAnnotate,
    },
  };
}

const NOTHING = { complete: false, cancel: false, accept: false, simulate: [], advance: false };

function moneyView(details: PaymentDetails): PaymentView['money'] {
  const { payment, refunds, refundedUnits } = details;
  const { quote } = payment;
  if (quote === null) return null;
  const pendingUnits = refunds
    .filter((one) => one.status === 'pending' && one.asset === quote.asset && one.network === quote.network)
    .reduce((sum, { units }) => sum + units, 0n);
  const { asset, network, decimals, owedUnits, toleranceUnits } = quote;
  const { seenUnits, confirmedUnits } = payment.received.all;
  const written = (units: bigint): string => formatDecimal(units, decimals);
  const atLeastNought = (units: bigint): bigint => (units > 0n ? units : 0n);
  return {
    asset,
    network,
    expected: written(owedUnits),
    tolerance: written(toleranceUnits),
    received: written(seenUnits),
    confirmed: written(confirmedUnits),
    missing: written(atLeastNought(owedUnits - seenUnits)),
    excess: written(atLeastNought(seenUnits - owedUnits)),
    refunded: written(refundedUnits),
    refunds_paid: written(atLeastNought(refundedUnits - pendingUnits)),
    refunds_pending: written(pendingUnits),
    rate: formatDecimal(quotedPrice({ ...payment, quote }), PRICE_PLACES),
    rate_locked_at: isoTime(lockedAt(details, quote)),
  };
}

/** When the current quote was locked: from its record, otherwise when the token was last chosen. */
function lockedAt({ payment, quotes, transitions }: PaymentDetails, quote: Quote): number {
  const record = quotes.find(
    (one) =>
      one.network === quote.network &&
      one.asset === quote.asset &&
      one.owedUnits === quote.owedUnits &&
      one.address === quote.address,
  );
  return record?.quotedAt ?? transitions.findLast(({ cause }) => cause === 'token_chosen')?.at ?? payment.createdAt;
}

function addressViews({ payment, addresses, explorerOf }: SeenPayment): PaymentView['addresses'] {
  const { quote } = payment;
  const issued = addresses.map((one) => {
    return {
      address: one.address,
      explorer_url: pageOf(explorerOf(one), one.address, addressPage),
      network: one.network,
      asset: one.asset,
      expected: formatDecimal(one.owedUnits, one.decimals),
      wallet_index: one.index,
      issued_at: isoTime(one.issuedAt),
      watched_until: isoTime(one.watchUntil),
      is_current: quote !== null && quote.network === one.network && quote.address === one.address,
    };
  });
  if (quote === null || issued.length > 0) return issued;
  // The sandbox's addresses are made up, and nothing watches them.
  const expected = formatDecimal(quote.owedUnits, quote.decimals);
  const { address, asset, network } = quote;
  const times = { issued_at: isoTime(payment.createdAt), watched_until: null };
  return [{ address, explorer_url: null, network, asset, expected, wallet_index: null, ...times, is_current: true }];
}

function transferView(
  transfer: Transfer,
  { payment: { quote }, explorerOf }: SeenPayment,
): PaymentView['transfers'][number] {
  const { asset, network } = transfer;
  const hash = tracedHash(transfer.transactionHash);
  const isQuoted = quote !== null && quote.asset === asset && quote.network === network;
  const decimals = isQuoted ? quote.decimals : (tokenOf(asset, network)?.decimals ?? 0);
  return {
    transaction_hash: hash,
    explorer_url: hash === null ? null : pageOf(explorerOf(transfer), hash, transactionPage),
    address: transfer.address,
    asset,
    network,
    amount: formatDecimal(transfer.amountUnits, decimals),
    state: transfer.state,
    block_height: transfer.blockHeight,
    seen_at: isoTime(transfer.firstSeenAt),
  };
}

/** A payment's notes and labels. */
function annotationsView(
  { notes, labels }: { readonly notes: readonly ReadNote[]; readonly labels: readonly string[] },
  { personId, mayAnnotate, mayDeleteNotes }: Viewer,
): Pick<PaymentView, 'notes' | 'labels'> {
  return {
    notes: notes.map((note) => ({
      id: note.id,
      author: note.authorName,
      author_name: note.personName,
      text: note.body,
      created_at: isoTime(note.createdAt),
      edited_at: isoTimeOrNull(note.editedAt),
      version: note.version,
      can: {
        edit: mayAnnotate && note.authorId === personId,
        delete: mayAnnotate && (note.authorId === personId || mayDeleteNotes),
      },
    })),
    labels: [...labels],
  };
}

/**
 * A payment in detail, for the signed-in person.
 *
 * @throws RequestError if there is none
 */
export async function viewOf(
  core: App,
  request: FastifyRequest,
  scope: ProjectScope,
  selector: PaymentSelector,
): Promise<PaymentView> {
  const seen = await readPaymentDetails(core, selector);
  if (seen === null) throw noPayment();
  return paymentView(seen, core.links, viewerOf(request, scope));
}
