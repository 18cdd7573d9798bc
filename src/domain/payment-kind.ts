import type { PaymentStep, StepEventType } from './event-type.ts';
import { decodeId, encodeId, ID_PREFIXES, parseUuid, type IdKind } from './id.ts';
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
  /** How the types of its events begin. */
  readonly events: 'order' | 'invoice';
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
    events: 'order',
  },
  order: {
    one: 'an order',
    idKind: 'order',
    choosesToken: false,
    isNumbered: false,
    refundField: 'order_id',
    shownStatus: orderStatus,
    events: 'order',
  },
  invoice: {
    one: 'an invoice',
    idKind: 'invoice',
    choosesToken: true,
    isNumbered: false,
    refundField: 'invoice_id',
    shownStatus: orderStatus,
    events: 'invoice',
  },
} as const satisfies Readonly<Record<PaymentApi, PaymentKind>>;

/** The kinds whose payments have numbers. */
export const NUMBERED_APIS = PAYMENT_APIS.filter((api) => PAYMENT_KINDS[api].isNumbered);

/** The id that clients use: a transaction's UUID, an order's `ord_…`, an invoice's `inv_…`. */
export function publicPaymentId({ id, api }: { readonly id: string; readonly api: PaymentApi }): string {
  const { idKind } = PAYMENT_KINDS[api];
  return idKind === null ? id : encodeId(idKind, id);
}

/** The forms of ids, as sentences name them: `ord_…, inv_… or a UUID`. */
export const PAYMENT_ID_FORMS = `${PAYMENT_APIS.map((api) => PAYMENT_KINDS[api].idKind)
  .flatMap((kind) => (kind === null ? [] : [`${ID_PREFIXES[kind]}…`]))
  .join(', ')} or a UUID`;

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

/** The type of the event of a payment's step. */
export function stepEvent({ api }: { readonly api: PaymentApi }, step: PaymentStep): StepEventType {
  return `${PAYMENT_KINDS[api].events}.${step}`;
}

/** The types of the events of a step, of all kinds. */
export function stepEvents(step: PaymentStep): readonly StepEventType[] {
  return [...new Set(PAYMENT_APIS.map((api) => stepEvent({ api }, step)))];
}
