/** The Order API's words for the statuses. */
export const ORDER_STATUSES = ['pending', 'confirming', 'completed', 'failed', 'expired', 'cancelled'] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

interface StatusRow {
  /**
   * `open`: a token can be chosen, and the payment can expire. `counting`: all the money was seen and its confirmations
   * are counted. `final`: only new money or the merchant can change it.
   */
  readonly phase: 'open' | 'counting' | 'final';
  readonly order: OrderStatus;
}

/** The nine statuses of a payment, as the Transaction API shows them. `transition.ts` lists which can follow which. */
const STATUSES = {
  created: { phase: 'open', order: 'pending' },
  prepared: { phase: 'open', order: 'pending' },
  pending: { phase: 'open', order: 'pending' },
  processing: { phase: 'counting', order: 'confirming' },
  confirming: { phase: 'counting', order: 'confirming' },
  completed: { phase: 'final', order: 'completed' },
  failed: { phase: 'final', order: 'failed' },
  expired: { phase: 'final', order: 'expired' },
  cancelled: { phase: 'final', order: 'cancelled' },
} as const satisfies Readonly<Record<string, StatusRow>>;

export type PaymentStatus = keyof typeof STATUSES;
type StatusOf<Phase extends StatusRow['phase']> = {
  [Status in PaymentStatus]: (typeof STATUSES)[Status]['phase'] extends Phase ? Status : never;
}[PaymentStatus];
export type OpenStatus = StatusOf<'open'>;
export type FinalStatus = StatusOf<'final'>;

export const PAYMENT_STATUSES = Object.keys(STATUSES) as readonly PaymentStatus[];

export function isOpen(status: PaymentStatus): status is OpenStatus {
  return STATUSES[status].phase === 'open';
}

export function isCounting(status: PaymentStatus): status is StatusOf<'counting'> {
  return STATUSES[status].phase === 'counting';
}

export function isFinal(status: PaymentStatus): status is FinalStatus {
  return STATUSES[status].phase === 'final';
}

/** The Order API's word for a payment's status. */
export function orderStatus(status: PaymentStatus): OrderStatus {
  return STATUSES[status].order;
}

/** The payment statuses that an order status stands for. */
export function statusesOfOrder(status: OrderStatus): readonly PaymentStatus[] {
  return PAYMENT_STATUSES.filter((own) => STATUSES[own].order === status);
}
