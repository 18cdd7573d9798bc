import {
  isRefundEvent,
  isStepEvent,
  sampleStatus,
  type EventType,
  type OtherEventType,
  type RefundEventType,
} from '../../domain/event-type.ts';
import { blankPayment, type Payment, type PaymentApi } from '../../domain/payment.ts';
import { NO_REQUEST_SUMS, type PaymentRequest, type RequestStep } from '../../domain/payment-request.ts';
import type { Refund } from '../../domain/refund.ts';
import type { PaymentStatus } from '../../domain/status.ts';
import { sandboxAddress, sandboxTransactionHash } from '../../rails/sandbox/sandbox.ts';
import type { WebhookEndpoint } from '../../store/webhooks/webhook-endpoints.ts';
import { paymentEventData, wrongAssetEventData } from '../../wire/event.ts';
import { lostMoneyView } from '../../wire/lost-money.ts';
import { requestView } from '../../wire/payment-request.ts';
import { refundView } from '../../wire/refund.ts';
import { newId, type App } from '../context.ts';

/** The data of a sample event: an invented payment or refund in the state that the event type announces. */
export function sampleData(app: App, endpoint: WebhookEndpoint, type: EventType, now: number): object {
  const payment = samplePayment(app, endpoint, type.startsWith('invoice.') ? 'invoice' : 'order', now);
  if (isRefundEvent(type)) return refundView(sampleRefund(payment, type, now), app.links);
  return isStepEvent(type)
    ? paymentEventData(inStatus(payment, sampleStatus(type), now))
    : otherData(app, payment, type);
}

function inStatus(payment: Payment, status: PaymentStatus, now: number): Payment {
  if (status !== 'completed') return { ...payment, status };
  return { ...payment, status, completedAt: now, transactionHash: sandboxTransactionHash('bitcoin', payment.id) };
}

function otherData(app: App, payment: Payment, type: OtherEventType): object {
  switch (type) {
    case 'payment_request.paid':
    case 'payment_request.part':
    case 'payment_request.closed':
      return sampleRequest(app, payment, type);
    case 'payment.wrong_asset':
      return wrongAssetEventData(payment, sampleTransfer(payment), 6);
    case 'payment.lost':
      return lostMoneyView({
        network: 'bitcoin',
        address: payment.quote?.address ?? '',
        index: 1_234,
        amountUnits: 166_667n,
        decimals: 8,
        asset: 'BTC',
        transactionHash: sandboxTransactionHash('bitcoin', payment.id),
      });
  }
}

/** A request that was paid, in part or in full. */
function sampleRequest(
  { links }: App,
  { id, projectId, mode, currency, amountMinor, createdAt }: Payment,
  type: `payment_request.${RequestStep}`,
): object {
  const paidMinor = type === 'payment_request.paid' ? amountMinor : amountMinor / 2n;
  const status = type === 'payment_request.paid' ? 'paid' : type === 'payment_request.closed' ? 'closed' : 'open';
  const request: PaymentRequest = {
    id,
    projectId,
    mode,
    status,
    title: 'A test event',
    description: null,
    reference: 'TEST-1',
    amountMinor,
    minAmountMinor: null,
    maxAmountMinor: null,
    currency,
    maxPayments: 1,
    coins: null,
    successUrl: null,
    askEmail: false,
    askName: false,
    askNote: false,
    metadata: null,
    createdAt,
    expiresAt: null,
    endedAt: status === 'open' ? null : createdAt,
    toldMinor: paidMinor,
    toldPayments: 1,
    lastSequence: 1,
  };
  return requestView(request, { ...NO_REQUEST_SUMS, paidMinor, payments: 1, taken: 1 }, links);
}

function samplePayment(app: App, endpoint: WebhookEndpoint, api: PaymentApi, now: number): Payment {
  const id = newId(app, now);
  return blankPayment({
    id,
    projectId: endpoint.projectId,
    mode: endpoint.mode,
    api,
    status: 'pending',
    amountMinor: 10_000n,
    currency: 'USD',
    amountUsdCents: 10_000n,
    merchantOrderId: 'TEST-1',
    description: 'A test event',
    customerEmail: 'customer@example.com',
    quote: {
      asset: 'BTC',
      network: 'bitcoin',
      decimals: 8,
      owedUnits: 166_667n,
      toleranceUnits: 833n,
      address: sandboxAddress('bitcoin', id),
    },
    createdAt: now,
    expiresAt: now + 30 * 60_000,
  });
}

function sampleTransfer({ id }: Payment) {
  const network = 'ethereum';
  const transactionHash = sandboxTransactionHash(network, id);
  return {
    asset: 'USDC',
    network,
    amountUnits: 100_000_000n,
    address: sandboxAddress(network, id),
    transactionHash,
  } as const;
}

function sampleRefund(payment: Payment, type: RefundEventType, now: number): Refund {
  const status = sampleStatus(type);
  return {
    id: payment.id,
    projectId: payment.projectId,
    mode: payment.mode,
    paymentId: payment.id,
    paymentApi: 'order',
    status,
    amountMinor: payment.amountMinor,
    currency: payment.currency,
    asset: 'BTC',
    network: 'bitcoin',
    decimals: 8,
    units: 166_667n,
    address: sandboxAddress('bitcoin', `refund of ${payment.id}`),
    reason: 'A test event',
    failureReason: status === 'failed' ? 'unpaid' : null,
    transactionHash: status === 'completed' ? sandboxTransactionHash('bitcoin', payment.id) : null,
    createdAt: now,
    completedAt: status === 'completed' ? now : null,
    dueAt: null,
  };
}
