import { expect, it } from 'vitest';
import {
  DOCUMENTED_EVENTS,
  EVENT_TYPES,
  OPT_IN_EVENTS,
  isEventType,
  isStepEvent,
  isRefundEvent,
  meaningOf,
  sampleStatus,
} from './event-type.ts';
import { ORDER_STATUSES } from './status.ts';
import { REFUND_STATUSES } from './refund.ts';

it('an endpoint that names no events gets the documented ones, and each event is of one kind', () => {
  expect(DOCUMENTED_EVENTS).toEqual([
    'order.created',
    'order.confirming',
    'order.completed',
    'order.expired',
    'order.failed',
    'invoice.created',
    'invoice.confirming',
    'invoice.completed',
    'invoice.expired',
    'invoice.failed',
    'refund.created',
    'refund.completed',
    'refund.failed',
    'payment_request.paid',
    'payment_request.part',
    'payment_request.closed',
  ]);
  expect([...DOCUMENTED_EVENTS, ...OPT_IN_EVENTS].toSorted()).toEqual(EVENT_TYPES.toSorted());
  expect(EVENT_TYPES.filter((type) => !isStepEvent(type) && !isRefundEvent(type))).toEqual([
    'payment_request.paid',
    'payment_request.part',
    'payment_request.closed',
    'payment.wrong_asset',
    'payment.lost',
  ]);
  expect(EVENT_TYPES.filter(isRefundEvent)).toEqual([
    'refund.created',
    'refund.completed',
    'refund.failed',
    'refund.reorged',
  ]);
});

it('every event says what it means, and its sample has a status that exists', () => {
  for (const type of EVENT_TYPES) expect(meaningOf(type)).toMatch(/^[A-Z].+[a-z]$|\.$/);
  for (const type of EVENT_TYPES.filter(isStepEvent)) expect(ORDER_STATUSES).toContain(sampleStatus(type));
  for (const type of EVENT_TYPES.filter(isRefundEvent)) expect(REFUND_STATUSES).toContain(sampleStatus(type));
  expect(sampleStatus('order.completed')).toBe('completed');
});

it('is known only by its exact name, and never by what objects inherit', () => {
  for (const type of EVENT_TYPES) expect(isEventType(type)).toBe(true);
  for (const text of ['', 'order', 'order.', 'Order.created', 'order.created ', 'toString', '__proto__']) {
    expect(isEventType(text)).toBe(false);
  }
});
