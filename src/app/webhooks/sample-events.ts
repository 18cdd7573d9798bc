import {
  isRefundEvent,
  isStepEvent,
  sampleStatus,
  type EventType,
  type OtherEventType,
  type RefundEventType,
} from '../../domain/event-type.ts';
import { blankPayment, type Payment, type PaymentApi } from '../../domain/payment.ts';
import type { Refund } from '../../domain/refund.ts';
import type { PaymentStatus } from '../../domain/status.ts';
import { sandboxAddress, sandboxTransactionHash } from '../../rails/sandbox/sandbox.ts';
import type { WebhookEndpoint } from '../../store/webhooks/webhook-endpoints.ts';
import { paymentEventData, wrongAssetEventData } from '../../wire/event.ts';
import { lostMoneyView } from '../../wire/lost-money.ts';
import { refundView } from '../../wire/refund.ts';
import { newId, type App } from '../context.ts';

/** The data of a sample event: an invented payment or refund in the state that the event type announces. */
export function sampleData(app: App, endpoint: WebhookEndpoint, type: EventType, now: number): object {
  const payment = samplePayment(app, endpoint, type.startsWith('invoice.') ? 'invoice' : 'order', now);
  if (isRefundEvent(type)) return refundView(sampleRefund(payment, type, now), app.links);
  return isStepEvent(type) ? paymentEventData(inStatus(payment, sampleStatus(type), now)) : otherData(payment, type);
}

function inStatus(payment: Payment, status: PaymentStatus, now: number): Payment {
  if (status !== 'completed') return { ...payment, status };
  return { ...payment, status, completedAt: now, transactionHash: sandboxTransactionHash('bitcoin', payment.id) };
}

function otherData(payment: Payment, type: OtherEventType): object {
  switch (type) {
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
