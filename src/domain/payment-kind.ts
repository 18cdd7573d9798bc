import { decodeId, encodeId, parseUuid, type IdKind } from './id.ts';
import { PAYMENT_APIS, type PaymentApi } from './payment.ts';
import { orderStatus, type PaymentStatus } from './status.ts';

interface PaymentKind {
  /** The kind with its article, as in sentences. */
  readonly one: string;
  /** The form of its ids; null: a UUID, which is the form of one kind alone. */
  readonly idKind: IdKind | null;
  /** Whether its customer chooses the token, on the payment page; otherwise the merchant did. */
  readonly choosesToken: boolean;
  /** Whether its project numbers it: `TXN-2026-000001`. */
  readonly isNumbered: boolean;
  /** The field by which a refund names it. */
  readonly refundField: string;
  /** The status that clients see. */
  readonly shownStatus: (status: PaymentStatus) => string;
}

/** The differences between the kinds of payments. A kind is what one API makes, and is called like that API. */
export const PAYMENT_KINDS = {
  transaction: {
    one: 'a transaction',
    idKind: null,
    choosesToken: true,
    isNumbered: true,
    refundField: 'transaction_id',
    shownStatus: (status) => status,
  },
  order: {
    one: 'an order',
    idKind: 'order',
    choosesToken: false,
    isNumbered: false,
    refundField: 'order_id',
    shownStatus: orderStatus,
  },
} as const satisfies Readonly<Record<PaymentApi, PaymentKind>>;

/** The id that clients use: a transaction's UUID, an order's `ord_…`. */
export function publicPaymentId({ id, api }: { readonly id: string; readonly api: PaymentApi }): string {
  const { idKind } = PAYMENT_KINDS[api];
  return idKind === null ? id : encodeId(idKind, id);
}

/** The payment that an id of any kind names; null if it is malformed. */
export function parsePaymentId(text: string): { readonly id: string; readonly api: PaymentApi } | null {
  for (const api of PAYMENT_APIS) {
    const id = paymentIdOf(api, text);
    if (id !== null) return { id, api };
  }
  return null;
}

/** The UUID of an id of one kind; null if it is malformed. */
export function paymentIdOf(api: PaymentApi, text: string): string | null {
  const { idKind } = PAYMENT_KINDS[api];
  return idKind === null ? parseUuid(text) : decodeId(idKind, text);
}
