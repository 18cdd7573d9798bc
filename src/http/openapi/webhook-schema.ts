import { Type, type TSchema } from 'typebox';
import {
  EVENT_TYPES,
  isOptIn,
  isStepEvent,
  isRefundEvent,
  meaningOf,
  type EventType,
  type OtherEventType,
} from '../../domain/event-type.ts';
import { ORDER_STATUSES, PAYMENT_STATUSES } from '../../domain/status.ts';
import { EXCEPTIONS, PAYMENT_APIS } from '../../domain/payment.ts';
import { requestFields } from '../payment-requests/schema.ts';
import { refundFields } from '../refunds/schema.ts';
import { described, nullable, time, oneOf } from '../fields.ts';

const test = Type.Optional(
  Type.Literal(true, { description: 'Present only in test events, which contain sample data.' }),
);

const orderEventData = Type.Object(
  {
    object: Type.Unsafe<string>({
      ...oneOf(PAYMENT_APIS),
      description: 'The kind of the payment.',
    }),
    id: described('The id of the payment.'),
    transaction_number: Type.Optional(described('Present only for transactions.', { examples: ['TXN-2026-000001'] })),
    status: Type.Unsafe<string>({
      ...oneOf([...new Set([...ORDER_STATUSES, ...PAYMENT_STATUSES])]),
      description: 'Status of the payment, named as in the API that created it.',
    }),
    amount: Type.Number(),
    currency: Type.String(),
    crypto_currency: nullable(
      Type.String(),
      'Null until a token is chosen. The same applies to crypto_amount and network.',
    ),
    crypto_amount: nullable(Type.Number()),
    network: nullable(Type.String()),
    transaction_hash: nullable(Type.String()),
    customer_email: nullable(Type.String()),
    exception: oneOf(EXCEPTIONS),
    failure_reason: nullable(oneOf(['underpaid', 'unconfirmed'])),
    payment_request: Type.Optional(described('Present only for invoices that pay a payment request.')),
    metadata: Type.Object(
      { order_id: described("The merchant's reference or, if there is none, the id of the payment.") },
      { additionalProperties: Type.String() },
    ),
    test,
  },
  { title: 'OrderEventData' },
);

const wrongAssetEventData = Type.Object(
  {
    ...orderEventData.properties,
    received: Type.Object({
      crypto_currency: Type.String(),
      network: Type.String(),
      amount: Type.Number({
        description: 'Amount in whole units of crypto_currency, for example 0.0015 for 0.0015 BTC (not in satoshi).',
      }),
      address: Type.String(),
      transaction_hash: nullable(
        Type.String(),
        'Null if a smart contract passed the money on and no node shows the transaction in which this happened.',
      ),
    }),
  },
  { title: 'WrongAssetEventData', description: 'The payment in its current state, and the money that arrived.' },
);

const refundEventData = Type.Object({ ...refundFields, test }, { title: 'RefundEventData' });

const lostPaymentData = Type.Object(
  {
    address: described('Address at which the money arrived.'),
    index: Type.Integer({ minimum: 0, description: 'The number of the address in its wallet.' }),
    amount: Type.Number(),
    asset: Type.String(),
    network: described('Network on which the money arrived. The same address may exist on several networks.'),
    transaction_hash: Type.String(),
    test,
  },
  { title: 'LostPaymentEventData' },
);

function event(title: string, types: readonly EventType[], data: TSchema) {
  return Type.Object(
    {
      id: described('Id of the event, the same in every delivery. Use this id to detect duplicates.', {
        examples: ['evt_01kadfw4t3f7vb8y2z6m5n9qrs'],
      }),
      type: oneOf(types),
      created_at: time(),
      sequence: Type.Integer({
        minimum: 1,
        description:
          "Position of the event among the payment's events, starting at 1. Deliveries may arrive in a different order.",
      }),
      data,
    },
    { title },
  );
}

const typesOf = (prefix: string): readonly EventType[] => EVENT_TYPES.filter((type) => type.startsWith(prefix));

/** The same data, but types of their own, by which programs tell the events of orders and of invoices apart. */
const ORDER_EVENT = event('OrderEvent', typesOf('order.'), orderEventData);
const INVOICE_EVENT = event('InvoiceEvent', typesOf('invoice.'), orderEventData);
const REFUND_EVENT = event('RefundEvent', typesOf('refund.'), refundEventData);
const requestEventData = Type.Object({ ...requestFields, test }, { title: 'PaymentRequestEventData' });
const REQUEST_EVENT = event('PaymentRequestEvent', typesOf('payment_request.'), requestEventData);

const OTHER_EVENTS: Readonly<Record<OtherEventType, TSchema>> = {
  'payment_request.paid': REQUEST_EVENT,
  'payment_request.part': REQUEST_EVENT,
  'payment_request.closed': REQUEST_EVENT,
  'payment.wrong_asset': event('WrongAssetEvent', ['payment.wrong_asset'], wrongAssetEventData),
  'payment.lost': event('LostPaymentEvent', ['payment.lost'], lostPaymentData),
};

/** The schema of an event's body. */
export function eventShape(type: EventType): TSchema {
  if (isStepEvent(type)) return type.startsWith('invoice.') ? INVOICE_EVENT : ORDER_EVENT;
  return isRefundEvent(type) ? REFUND_EVENT : OTHER_EVENTS[type];
}

const header = (name: string, description: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
});

const HEADERS = [
  header('x-service-signature', 'Lowercase hex of HMAC-SHA256 over the raw body, keyed with the whole webhook secret.'),
  header('webhook-id', "Standard Webhooks header with the event's id."),
  header('webhook-timestamp', 'Standard Webhooks header with the Unix time of this attempt, in seconds.'),
  header(
    'webhook-signature',
    'Standard Webhooks header with one v1 signature for each valid secret, separated by spaces.',
  ),
];

const RULES =
  'Acknowledge the event with any 2xx status within 15 seconds. A 410 response disables the endpoint. After any other response, or without a response, the delivery is tried again immediately, then after 1, 5 and 30 minutes, and then after 2, 6, 12, 24 and 24 hours.';

const BY_NAME = 'The event is sent only to endpoints that subscribe to its type by name.';

/** The `webhooks` part of the OpenAPI document: the request to a registered endpoint, by event type. */
export function describeWebhooks(): Readonly<Record<string, object>> {
  return Object.fromEntries(
    EVENT_TYPES.map((type) => [
      type,
      {
        post: {
          operationId: `on ${type}`.replaceAll(/[ ._](\w)/g, (_match, letter: string) => letter.toUpperCase()),
          summary: meaningOf(type),
          description: isOptIn(type) ? `${RULES} ${BY_NAME}` : RULES,
          tags: ['Webhooks'],
          security: [],
          parameters: HEADERS,
          requestBody: { required: true, content: { 'application/json': { schema: eventShape(type) } } },
          responses: { '2XX': { description: 'The event is acknowledged.' } },
        },
      },
    ]),
  );
}
