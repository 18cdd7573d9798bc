import { Type, type TSchema } from 'typebox';
import {
  EVENT_TYPES,
  isOptIn,
  isOrderEvent,
  isRefundEvent,
  meaningOf,
  type EventType,
  type OtherEventType,
} from '../../domain/event-type.ts';
import { ORDER_STATUSES, PAYMENT_STATUSES } from '../../domain/status.ts';
import { EXCEPTIONS, PAYMENT_APIS } from '../../domain/payment.ts';
import { refundFields } from '../refunds/schema.ts';
import { described, nullable, time, oneOf } from '../fields.ts';

const test = Type.Optional(Type.Literal(true, { description: 'Only in a test event, whose data is a sample.' }));

const orderEventData = Type.Object(
  {
    object: Type.Unsafe<string>({ ...oneOf(PAYMENT_APIS), description: 'Which API made it.' }),
    id: described("The order's or transaction's id."),
    transaction_number: Type.Optional(described('Transactions only.', { examples: ['TXN-2026-000001'] })),
    status: Type.Unsafe<string>({
      ...oneOf([...new Set([...ORDER_STATUSES, ...PAYMENT_STATUSES])]),
      description: "Named as in the object's own API.",
    }),
    amount: Type.Number(),
    currency: Type.String(),
    crypto_currency: nullable(Type.String(), 'Null before a token is chosen, as all that is crypto.'),
    crypto_amount: nullable(Type.Number()),
    network: nullable(Type.String()),
    transaction_hash: nullable(Type.String()),
    customer_email: nullable(Type.String()),
    exception: oneOf(EXCEPTIONS),
    failure_reason: nullable(oneOf(['underpaid', 'unconfirmed'])),
    metadata: Type.Object(
      { order_id: described("The merchant's reference, else the id of the payment.") },
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
      amount: Type.Number({ description: 'In crypto units.' }),
      address: Type.String(),
      transaction_hash: nullable(
        Type.String(),
        'Null where a contract passed it on and no node shows by which transaction.',
      ),
    }),
  },
  { title: 'WrongAssetEventData', description: 'The payment as it is, and what came.' },
);

const refundEventData = Type.Object({ ...refundFields, test }, { title: 'RefundEventData' });

const lostPaymentData = Type.Object(
  {
    address: described('Where the money came to.'),
    index: Type.Integer({ minimum: 0, description: 'The number of the address in its wallet.' }),
    amount: Type.Number(),
    asset: Type.String(),
    network: described('On which of the networks of the asset: an address may be the same on several.'),
    transaction_hash: Type.String(),
    test,
  },
  { title: 'LostPaymentEventData' },
);

function event(title: string, types: readonly EventType[], data: TSchema) {
  return Type.Object(
    {
      id: described('The same for every delivery of the event: deduplicate by it.', {
        examples: ['evt_01kadfw4t3f7vb8y2z6m5n9qrs'],
      }),
      type: oneOf(types),
      created_at: time(),
      sequence: Type.Integer({
        minimum: 1,
        description: "Counts the payment's events; deliveries may arrive in another order.",
      }),
      data,
    },
    { title },
  );
}

const typesOf = (prefix: string): readonly EventType[] => EVENT_TYPES.filter((type) => type.startsWith(prefix));

const ORDER_EVENT = event('OrderEvent', typesOf('order.'), orderEventData);
const REFUND_EVENT = event('RefundEvent', typesOf('refund.'), refundEventData);
const OTHER_EVENTS: Readonly<Record<OtherEventType, TSchema>> = {
  'payment.wrong_asset': event('WrongAssetEvent', ['payment.wrong_asset'], wrongAssetEventData),
  'payment.lost': event('LostPaymentEvent', ['payment.lost'], lostPaymentData),
};

/** The schema of an event's body. */
export function eventShape(type: EventType): TSchema {
  if (isOrderEvent(type)) return ORDER_EVENT;
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
  header('webhook-id', "Standard Webhooks: the event's id."),
  header('webhook-timestamp', 'Standard Webhooks: Unix time of this attempt in seconds.'),
  header('webhook-signature', 'Standard Webhooks: one v1 signature for each valid secret, separated by spaces.'),
];

const RULES =
  'Acknowledge with any 2xx within 15 seconds; 410 disables the endpoint, everything else is tried again: at once, then after 1, 5 and 30 minutes, 2, 6, 12, 24 and 24 hours.';

/** The `webhooks` part of the OpenAPI document: the request to a registered endpoint, by event type. */
export function describeWebhooks(): Readonly<Record<string, object>> {
  return Object.fromEntries(
    EVENT_TYPES.map((type) => [
      type,
      {
        post: {
          operationId: `on ${type}`.replaceAll(/[ ._](\w)/g, (_match, letter: string) => letter.toUpperCase()),
          summary: meaningOf(type),
          description: isOptIn(type) ? `${RULES} Sent only to endpoints that ask for this type by name.` : RULES,
          tags: ['Webhooks'],
          security: [],
          parameters: HEADERS,
          requestBody: { required: true, content: { 'application/json': { schema: eventShape(type) } } },
          responses: { '2XX': { description: 'Acknowledged.' } },
        },
      },
    ]),
  );
}
