import type { EventType } from '../../../../src/domain/event-type.ts';
import type { TextKey } from '../../texts/parts.ts';

/** The text that says what each event means. */
export const MEANINGS = {
  'invoice.cancelled': 'meaning_invoice_cancelled',
  'invoice.completed': 'meaning_invoice_completed',
  'invoice.confirming': 'meaning_invoice_confirming',
  'invoice.created': 'meaning_invoice_created',
  'invoice.exception': 'meaning_invoice_exception',
  'invoice.expired': 'meaning_invoice_expired',
  'invoice.failed': 'meaning_invoice_failed',
  'order.cancelled': 'meaning_order_cancelled',
  'order.completed': 'meaning_order_completed',
  'order.confirming': 'meaning_order_confirming',
  'order.created': 'meaning_order_created',
  'order.exception': 'meaning_order_exception',
  'order.expired': 'meaning_order_expired',
  'order.failed': 'meaning_order_failed',
  'payment_request.closed': 'meaning_request_closed',
  'payment_request.paid': 'meaning_request_paid',
  'payment_request.part': 'meaning_request_part',
  'payment.lost': 'meaning_payment_lost',
  'payment.wrong_asset': 'meaning_payment_wrong_asset',
  'refund.completed': 'meaning_refund_completed',
  'refund.created': 'meaning_refund_created',
  'refund.failed': 'meaning_refund_failed',
  'refund.reorged': 'meaning_refund_reorged',
} as const satisfies Readonly<Record<EventType, TextKey<'webhooks'>>>;
