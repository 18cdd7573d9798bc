/** The documented events. */
export const DOCUMENTED_EVENTS = [
  'order.created',
  'order.confirming',
  'order.completed',
  'order.expired',
  'order.failed',
  'refund.created',
  'refund.completed',
  'refund.failed',
] as const;

/** Beyond the documented ones: an endpoint gets these only by name. */
export const OPT_IN_EVENTS = [
  'order.cancelled',
  'order.exception',
  'refund.reorged',
  'payment.wrong_asset',
  'payment.lost',
] as const;

export const EVENT_TYPES = [...DOCUMENTED_EVENTS, ...OPT_IN_EVENTS] as const;
export type EventType = (typeof EVENT_TYPES)[number];
export type OrderEventType = Extract<EventType, `order.${string}`>;
export type RefundEventType = Extract<EventType, `refund.${string}`>;

export function isEventType(text: string): text is EventType {
  return (EVENT_TYPES as readonly string[]).includes(text);
}
