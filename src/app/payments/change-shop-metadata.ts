import type { Payment } from '../../domain/payment.ts';
import { lockPayments } from '../../store/payments/payments.ts';
import { updateShopMetadata } from '../../store/payments/shop-invoices.ts';
import type { App } from '../context.ts';
import { selects, type PaymentSelector } from './change-payment.ts';

/** Replaces what a shop says of its invoice: its metadata, and the facts in it that pages and lists show. */
export async function changeShopMetadata(
  app: App,
  selector: PaymentSelector,
  facts: Parameters<typeof updateShopMetadata>[2],
): Promise<Payment | null> {
  return app.db.transaction().execute(async (trx) => {
    const [payment] = await lockPayments(trx, [selector.id]);
    if (payment === undefined || !selects(selector, payment)) return null;
    await updateShopMetadata(trx, payment.id, facts);
    return { ...payment, ...facts };
  });
}
