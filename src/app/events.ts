import type { EventType, PaymentStep } from '../domain/event-type.ts';
import { stepEvent } from '../domain/payment-kind.ts';
import type { Payment } from '../domain/payment.ts';
import { eventBody, paymentEventData } from '../wire/event.ts';
import type { NewEvent } from '../store/payments/save-changes.ts';
import { newId, type App } from './context.ts';

/** The events of a payment's steps, numbered after its last event, and the payment with its new last number. */
export function paymentEvents(
  app: Pick<App, 'random' | 'requestId' | 'realClock'>,
  payment: Payment,
  steps: readonly PaymentStep[],
  now: number,
): { readonly payment: Payment; readonly events: readonly NewEvent[] } {
  if (steps.length === 0) return { payment, events: [] };
  const events = steps.map((step, index) => {
    const data = paymentEventData(asOf(step, payment));
    return newEvent(app, payment, stepEvent(payment, step), payment.lastSequence + index + 1, data, now);
  });
  return { payment: { ...payment, lastSequence: payment.lastSequence + steps.length }, events };
}

/** An event with its serialised body. */
export function newEvent(
  app: Pick<App, 'random' | 'requestId' | 'realClock'>,
  payment: Pick<Payment, 'id' | 'projectId' | 'mode'>,
  type: EventType,
  sequence: number,
  data: object,
  now: number,
): NewEvent {
  const id = newId(app, now);
  return {
    id,
    projectId: payment.projectId,
    mode: payment.mode,
    paymentId: payment.id,
    type,
    body: eventBody({ id, type, createdAt: now, sequence, data }),
    createdAt: now,
    requestId: app.requestId ?? null,
  };
}

/**
 * The payment as an event shows it. One observation may cause several transitions, and each event shows the status it
 * announces, not the last one reached.
 */
function asOf(step: PaymentStep, payment: Payment): Payment {
  return step === 'confirming' && payment.status === 'completed' ? { ...payment, status: 'confirming' } : payment;
}
