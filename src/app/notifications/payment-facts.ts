import type { MailContent, PaymentFact, RefundFact, RefundState, SavedMail } from '../../domain/mail-content.ts';
import { formatDecimal } from '../../domain/money.ts';
import { encodeId } from '../../domain/id.ts';
import type { Payment } from '../../domain/payment.ts';
import type { Refund } from '../../domain/refund.ts';
import type { Database } from '../../store/database.ts';
import { findPayments } from '../../store/payments/payments.ts';
import { findRefund } from '../../store/refunds/refunds.ts';
import { publicPaymentId } from '../../domain/payment-kind.ts';

/** A saved mail with what its payment or refund is now; null if it no longer exists. */
export async function withFacts(db: Database, saved: SavedMail): Promise<MailContent | null> {
  if (saved.kind === 'payment') {
    const [payment] = await findPayments(db, [saved.paymentId]);
    const { kind, project } = saved;
    return payment === undefined ? null : { kind, project, payment: paymentFact(payment) };
  }
  if (saved.kind === 'refund') {
    const refund = await findRefund(db, saved.refundId);
    const [payment] = refund === null ? [] : await findPayments(db, [refund.paymentId]);
    if (refund === null || payment === undefined) return null;
    const { kind, project, state } = saved;
    return { kind, project, state, refund: refundFact(refund, payment, state) };
  }
  return saved;
}

/** The name by which the shop knows a payment. */
export function nameOf(payment: Payment): string {
  return payment.merchantOrderId ?? payment.transactionNumber ?? publicPaymentId(payment);
}

function paymentFact(payment: Payment): PaymentFact {
  const { quote, customerName, customerEmail } = payment;
  const customer = [customerName, customerEmail].filter((text) => text !== null).join(', ');
  return {
    id: publicPaymentId(payment),
    name: nameOf(payment),
    currency: payment.currency,
    minor: String(payment.amountMinor),
    received:
      quote === null
        ? null
        : {
            amount: formatDecimal(payment.received.all.confirmedUnits, quote.decimals),
            asset: quote.asset,
            network: quote.network,
          },
    customer: customer === '' ? null : customer,
    at: payment.completedAt ?? payment.createdAt,
  };
}

function refundFact(refund: Refund, payment: Payment, state: RefundState): RefundFact {
  const { units, decimals, asset, network } = refund;
  return {
    id: encodeId('refund', refund.id),
    name: nameOf(payment),
    currency: refund.currency,
    minor: String(refund.amountMinor),
    coin: { amount: formatDecimal(units, decimals), asset, network },
    address: refund.address,
    failure: state === 'failed' ? refund.failureReason : null,
    at: (state === 'completed' ? refund.completedAt : null) ?? refund.createdAt,
  };
}
