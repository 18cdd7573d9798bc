import type { RefundStatus } from './refund.ts';
import type { OrderStatus } from './status.ts';

interface EventRow<Status> {
  /** The meaning, as the documentation words it. */
  readonly meaning: string;
  /** The status in the sample event. */
  readonly sample: Status;
  /** An endpoint gets it only when it asks for it by name. */
  readonly isOptIn?: true;
}

/** The steps of a payment that have events: of transactions and orders `order.…`, of invoices `invoice.…`. */
export const PAYMENT_STEPS = [
  'created',
  'confirming',
  'completed',
  'expired',
  'failed',
  'cancelled',
  'exception',
] as const;
export type PaymentStep = (typeof PAYMENT_STEPS)[number];
export type StepEventType = `${'order' | 'invoice'}.${PaymentStep}`;

interface EventRows extends Readonly<Record<StepEventType, EventRow<OrderStatus>>> {
  readonly [type: `refund.${string}`]: EventRow<RefundStatus>;
  /** Events with data of their own. */
  readonly [type: `payment.${string}` | `payment_request.${string}`]: Omit<EventRow<never>, 'sample'>;
}

/**
 * Every type of event. A new type needs a row here and a place that sends it; one with data of its own also needs a
 * shape and a sample.
 */
const EVENTS = {
  'order.created': { meaning: 'An order or a transaction was created.', sample: 'pending' },
  'order.confirming': {
    meaning: 'The payment was detected and is waiting for confirmations. This event is sent only once.',
    sample: 'confirming',
  },
  'order.completed': {
    meaning: 'The payment was confirmed and is completed. Deliver the goods when you receive this event.',
    sample: 'completed',
  },
  'order.expired': { meaning: 'The order or transaction expired without payment.', sample: 'expired' },
  'order.failed': {
    meaning:
      'The payment failed because only part of the amount had arrived at expiry (underpaid), or because the payment was never confirmed (unconfirmed).',
    sample: 'failed',
  },
  'invoice.created': { meaning: 'An invoice was created.', sample: 'pending' },
  'invoice.confirming': {
    meaning: 'The payment of the invoice was detected and is waiting for confirmations. This event is sent only once.',
    sample: 'confirming',
  },
  'invoice.completed': {
    meaning: 'The payment of the invoice was confirmed and is completed.',
    sample: 'completed',
  },
  'invoice.expired': { meaning: 'The invoice expired without payment.', sample: 'expired' },
  'invoice.failed': {
    meaning:
      'The invoice failed because only part of the amount had arrived at expiry (underpaid), or because the payment was never confirmed (unconfirmed).',
    sample: 'failed',
  },
  'refund.created': { meaning: 'A refund was initiated.', sample: 'pending' },
  'refund.completed': { meaning: 'A refund was paid.', sample: 'completed' },
  'refund.failed': {
    meaning: 'A refund was cancelled, was not paid in time, or was made to fail in test mode.',
    sample: 'failed',
  },
  'payment_request.paid': { meaning: 'A payment request has all that it asked for.' },
  'payment_request.part': { meaning: 'A payment request got money and still asks for more.' },
  'payment_request.closed': {
    meaning: 'A payment request takes no more payments, because its date passed or the merchant closed it.',
  },
  'order.cancelled': {
    meaning: 'The order or transaction was cancelled by the merchant or the customer.',
    sample: 'cancelled',
    isOptIn: true,
  },
  'order.exception': {
    meaning: 'Something unusual happened to the payment. The field data.exception says what happened.',
    sample: 'pending',
    isOptIn: true,
  },
  'invoice.cancelled': {
    meaning: 'The invoice was cancelled by the merchant or the customer.',
    sample: 'cancelled',
    isOptIn: true,
  },
  'invoice.exception': {
    meaning: 'Something unusual happened to the payment of the invoice. The field data.exception says what happened.',
    sample: 'pending',
    isOptIn: true,
  },
  'refund.reorged': {
    meaning:
      'A chain reorganisation undid the transaction that had paid a completed refund. The refund is pending again.',
    sample: 'pending',
    isOptIn: true,
  },
  'payment.wrong_asset': {
    meaning:
      'Confirmed money arrived in an asset that the payment never asked for. The money does not count towards the payment. Once the payment is final, you can refund the money by giving its crypto_currency.',
    isOptIn: true,
  },
  'payment.lost': {
    meaning:
      'Money arrived at an address that may have been handed out after the restored backup was made. The operator can record a payment for this money with the command recover book. This event exists only in live mode.',
    isOptIn: true,
  },
} as const satisfies EventRows;

export type EventType = keyof typeof EVENTS;
export type RefundEventType = Extract<EventType, `refund.${string}`>;
/** Events whose data is neither a payment nor a refund. */
export type OtherEventType = Exclude<EventType, StepEventType | RefundEventType>;

export const EVENT_TYPES = Object.keys(EVENTS) as readonly EventType[];

export function isOptIn(type: EventType): boolean {
  return 'isOptIn' in EVENTS[type];
}

/** The event types that `all` stands for. */
export const DOCUMENTED_EVENTS: readonly EventType[] = EVENT_TYPES.filter((type) => !isOptIn(type));
/** The event types that an endpoint gets only by name. */
export const OPT_IN_EVENTS: readonly EventType[] = EVENT_TYPES.filter(isOptIn);

export function isEventType(text: string): text is EventType {
  return Object.hasOwn(EVENTS, text);
}

export function isStepEvent(type: EventType): type is StepEventType {
  return type.startsWith('order.') || type.startsWith('invoice.');
}

export function isRefundEvent(type: EventType): type is RefundEventType {
  return type.startsWith('refund.');
}

/** The meaning of an event of this type. */
export function meaningOf(type: EventType): string {
  return EVENTS[type].meaning;
}

/** The status that a sample of this event shows. */
export function sampleStatus<Type extends StepEventType | RefundEventType>(
  type: Type,
): (typeof EVENTS)[Type]['sample'] {
  return EVENTS[type].sample;
}
