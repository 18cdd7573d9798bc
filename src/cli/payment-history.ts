import { selects, type PaymentSelector } from '../app/payments/change-payment.ts';
import { irregularPayouts, type IrregularPayout } from '../app/refunds/refund-cover.ts';
import { encodeId } from '../domain/id.ts';
import { otherMoney, type OtherMoney } from '../domain/other-money.ts';
import type { Payment, Transfer } from '../domain/payment.ts';
import type { PaymentStatus } from '../domain/status.ts';
import { publicPaymentId } from '../domain/payment-kind.ts';
import { creationTransitions } from '../domain/creation.ts';
import type { Database } from '../store/database.ts';
import { findPayments, listTransitions, listEvents } from '../store/payments/payments.ts';
import { findTransfers } from '../store/payments/transfers.ts';
import { noPayment } from './refusal.ts';

/** The history of a payment. Times in epoch milliseconds. */
export interface PaymentHistory {
  readonly timeline: readonly TimelineStep[];
  readonly events: readonly PaymentEvent[];
  readonly transfers: readonly Transfer[];
  /** Money in tokens other than the quote's. */
  readonly others: readonly OtherMoney[];
  readonly irregularPayouts: readonly IrregularPayout[];
}

/** A transition; the first one, from null, is the creation. An order's token is chosen at the same moment. */
export interface TimelineStep {
  readonly at: number;
  readonly from: PaymentStatus | null;
  readonly to: PaymentStatus;
  readonly cause: string;
}

interface PaymentEvent {
  readonly id: string;
  readonly type: string;
  readonly sequence: number | null;
  readonly createdAt: number;
}

/** The payment; ends the command if there is none. */
export async function findPayment(db: Database, selector: PaymentSelector): Promise<Payment> {
  const [payment] = await findPayments(db, [selector.id]);
  if (payment !== undefined && selects(selector, payment)) return payment;
  throw noPayment(publicPaymentId({ id: selector.id, api: selector.api ?? 'transaction' }));
}

/** Reads the history of a payment, oldest first. */
export async function readHistory(db: Database, payment: Payment): Promise<PaymentHistory> {
  const transitions = await listTransitions(db, payment.id);
  const transfers = (await findTransfers(db, [payment.id])).get(payment.id) ?? [];
  const creation: TimelineStep = { at: payment.createdAt, from: null, to: 'created', cause: 'created' };
  return {
    timeline: [creation, ...creationTransitions(payment), ...transitions],
    events: (await listEvents(db, payment.id))
      .map(({ id, body, ...event }) => ({ ...event, id: encodeId('event', id), sequence: sequenceOf(body) }))
      // Messages to shops' plugins have no numbers.
      .toSorted((a, b) => a.createdAt - b.createdAt || (a.sequence ?? 0) - (b.sequence ?? 0)),
    transfers,
    others: otherMoney(payment, transfers),
    irregularPayouts: await irregularPayouts({ db }, payment.id),
  };
}

function sequenceOf(body: string): number | null {
  const event: unknown = JSON.parse(body);
  const found = typeof event === 'object' && event !== null && 'sequence' in event ? event.sequence : null;
  return typeof found === 'number' ? found : null;
}
