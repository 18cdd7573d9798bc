import {
  isRefundEvent,
  isStepEvent,
  sampleStatus,
  type EventType,
  type OtherEventType,
  type RefundEventType,
} from '../../domain/event-type.ts';
import { blankPayment, type Payment, type PaymentApi, type Transfer } from '../../domain/payment.ts';
import { NO_REQUEST_SUMS, type PaymentRequest, type RequestStep } from '../../domain/payment-request.ts';
import type { Refund } from '../../domain/refund.ts';
import { isMessageType, type MessageType, type ShopMessage, type StoredEventType } from '../../domain/shop-message.ts';
import type { PaymentStatus } from '../../domain/status.ts';
import { sandboxAddress, sandboxTransactionHash } from '../../rails/sandbox/sandbox.ts';
import type { WebhookEndpoint } from '../../store/webhooks/webhook-endpoints.ts';
import { eventBody, paymentEventData, wrongAssetEventData } from '../../wire/event.ts';
import { lostMoneyView } from '../../wire/lost-money.ts';
import { requestView } from '../../wire/payment-request.ts';
import { refundView } from '../../wire/refund.ts';
import { messageBody } from '../../wire/shop-message.ts';
import { newId, type App } from '../context.ts';

interface SampleEvent {
  readonly id: string;
  readonly type: StoredEventType;
  readonly createdAt: number;
}

/** The stored bytes of a sample event, which say that it is one. */
export function sampleBody(app: App, endpoint: WebhookEndpoint, { id, type, createdAt }: SampleEvent): string {
  if (isMessageType(type)) return sampleMessage(app, endpoint, type, createdAt);
  const data = { ...sampleData(app, endpoint, type, createdAt), test: true };
  return eventBody({ id, type, createdAt, sequence: 1, data });
}

/** The data of a sample event: an invented payment or refund in the state that the event type announces. */
function sampleData(app: App, endpoint: WebhookEndpoint, type: EventType, now: number): object {
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

/** A message about an invented invoice. */
function sampleMessage(app: App, endpoint: WebhookEndpoint, type: MessageType, at: number): string {
  const payment = { ...samplePayment(app, endpoint, 'invoice', at), status: MESSAGE_STATUS[type] };
  return messageBody(payment, messageOf(payment, type), { at, isTest: true });
}

const MESSAGE_STATUS: Readonly<Record<MessageType, PaymentStatus>> = {
  InvoiceCreated: 'pending',
  InvoiceReceivedPayment: 'pending',
  InvoiceProcessing: 'processing',
  InvoicePaymentSettled: 'confirming',
  InvoiceSettled: 'completed',
  InvoiceExpired: 'expired',
  InvoiceInvalid: 'failed',
};

function messageOf({ id, quote, createdAt }: Payment, type: MessageType): ShopMessage {
  switch (type) {
    case 'InvoiceCreated':
      return { type };
    case 'InvoiceReceivedPayment':
    case 'InvoicePaymentSettled':
      return { type, afterExpiration: false, transfer: { ...sampleMoney(id, quote), firstSeenAt: createdAt } };
    case 'InvoiceProcessing':
      return { type, overPaid: false };
    case 'InvoiceSettled':
      return { type, manuallyMarked: false, overPaid: false };
    case 'InvoiceExpired':
      return { type, partiallyPaid: false };
    case 'InvoiceInvalid':
      return { type, manuallyMarked: false };
  }
}

function sampleMoney(id: string, quote: Payment['quote']): Omit<Transfer, 'firstSeenAt'> {
  return {
    network: 'bitcoin',
    asset: 'BTC',
    transactionHash: sandboxTransactionHash('bitcoin', id),
    index: 0,
    address: quote?.address ?? '',
    amountUnits: quote?.owedUnits ?? 0n,
    blockAt: null,
    blockHeight: null,
    blockPosition: null,
    state: 'seen',
  };
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
