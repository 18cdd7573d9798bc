import { PAYMENT_KINDS } from '../../domain/payment-kind.ts';
import type { Payment, PaymentApi } from '../../domain/payment.ts';
import type { Mode } from '../../domain/permission.ts';
import { sizeRefund, type Refund } from '../../domain/refund.ts';
import { isFinal } from '../../domain/status.ts';
import type { Trx } from '../../store/database.ts';
import { lockPayments } from '../../store/payments/payments.ts';
import { insertRefund, refundedMoney } from '../../store/refunds/refunds.ts';
import { recordPeoplesAudit } from '../audit.ts';
import { newId, type App } from '../context.ts';
import { inTransactionOnce, type IdempotencyRequest } from '../idempotency.ts';
import { refundAddress, watchedAddress } from './refund-address.ts';
import { rejected } from '../rejected.ts';
import { refundMoney, refusedAs, type RefundRefusal } from './refund-money.ts';
import { oldRateRefusal, dustRefusal, sizeRefusal, wantedUnits, type WantedRefund } from './refund-size.ts';
import { keepUncompared } from './unread-money.ts';
import { auditedRefund, saveRefundEvent, type RefundOutcome } from './save-refund.ts';

/** A validated request for a refund. */
export interface NewRefund {
  readonly projectId: string;
  readonly mode: Mode;
  readonly api: PaymentApi;
  readonly paymentId: string;
  readonly wanted: WantedRefund;
  /** The token to refund, if it is not the quote's. `network`: the quote's by default. */
  readonly token?: { readonly asset: string; readonly network: string | null } | null;
  readonly address: string | null;
  /** Expiry of the rate used for `wanted`; left out if no current rate was used. */
  readonly rateUntil?: number;
  readonly reason: string | null;
}

/**
 * Creates a refund. Checked under the payment's lock against the received money, so that the sum of refunds never
 * exceeds it.
 */
export function createRefund(
  app: App,
  request: NewRefund,
  idempotency: IdempotencyRequest | null,
): Promise<RefundOutcome> {
  return inTransactionOnce(app, idempotency, async (trx) => {
    const [payment] = await lockPayments(trx, [request.paymentId]);
    const own =
      payment?.projectId === request.projectId && payment.mode === request.mode && payment.api === request.api;
    if (payment === undefined || !own) return { kind: 'not_found' };
    const now = app.clock();
    const drafted = await draftRefund(app, trx, payment, request, now);
    if (drafted.kind !== 'ok') return drafted;
    await insertRefund(trx, drafted.refund, watchedAddress(drafted.refund));
    await keepUncompared(app, trx, drafted.refund);
    await recordPeoplesAudit(app, trx, auditedRefund('refund.create', drafted.refund));
    return saveRefundEvent(app, trx, { payment, refund: drafted.refund, type: 'refund.created', now, idempotency });
  });
}

async function draftRefund(
  app: App,
  trx: Trx,
  payment: Payment,
  request: NewRefund,
  now: number,
): Promise<{ readonly kind: 'ok'; readonly refund: Refund } | RefundRefusal> {
  const blame = PAYMENT_KINDS[payment.api].refundField;
  if (!isFinal(payment.status)) {
    return refusedAs(blame, rejected('refund_too_early'));
  }
  const isOld = oldRateRefusal(request.rateUntil ?? null, now);
  if (isOld !== null) return isOld;
  const money = await refundMoney(app, trx, payment, request);
  if (money.kind !== 'ok') return money;
  const { quote } = money.received;
  const { projectId, mode } = payment;
  const target = { projectId, mode, network: quote.network, paymentId: payment.id };
  const checked = request.address === null ? null : await refundAddress(app, trx, target, request.address);
  if (checked !== null && checked.kind !== 'ok') return checked;
  const requestedUnits = wantedUnits(request.wanted, quote.decimals);
  if (requestedUnits !== null && 'kind' in requestedUnits) return requestedUnits;
  const taken = await refundedMoney(trx, payment.id, quote);
  const size = sizeRefund(money.received, taken, requestedUnits);
  if (size.kind !== 'ok') return sizeRefusal(money.received, requestedUnits, size);
  const rail = app.railFor(payment.mode);
  const dust = rail.kind === 'chain' ? dustRefusal(quote, size.units, requestedUnits) : null;
  if (dust !== null) return dust;
  const id = newId(app, now);
  const address = checked?.address ?? null;
  const outcome = rail.refundOutcome({ id, network: quote.network, reason: request.reason, address });
  const refund: Refund = {
    id,
    projectId: payment.projectId,
    mode: payment.mode,
    paymentId: payment.id,
    paymentApi: payment.api,
    status: 'pending',
    amountMinor: size.amountMinor,
    currency: payment.currency,
    asset: quote.asset,
    network: quote.network,
    decimals: quote.decimals,
    units: size.units,
    address,
    reason: request.reason,
    failureReason: null,
    transactionHash: null,
    createdAt: now,
    completedAt: null,
    dueAt: now + outcome.afterMs,
  };
  return { kind: 'ok', refund };
}
