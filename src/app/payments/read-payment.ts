import type { Payment } from '../../domain/payment.ts';
import { findPayments } from '../../store/payments/payments.ts';
import { createBatcher } from '../batch.ts';
import { selects, type PaymentSelector } from './change-payment.ts';
import type { App } from '../context.ts';

export interface PaymentReader {
  /** Reads the payment, if the client may see it. */
  read(selector: PaymentSelector): Promise<Payment | null>;
}

/** Combines reads that arrive together into one query, as creations are. */
export function createPaymentReader(app: App): PaymentReader {
  const batcher = createBatcher<string, Payment | null>(
    { maxInFlight: 2, maxBatch: 200, maxWaiting: 5_000 },
    async (ids) => {
      const found = new Map((await findPayments(app.db, [...new Set(ids)])).map((payment) => [payment.id, payment]));
      return ids.map((id) => found.get(id) ?? null);
    },
  );
  return {
    read: async (selector) => {
      const payment = await batcher.add(selector.id);
      return payment !== null && selects(selector, payment) ? payment : null;
    },
  };
}
