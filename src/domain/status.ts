/** The Order API's names of the statuses. */
export const ORDER_STATUSES = ['pending', 'confirming', 'completed', 'failed', 'expired', 'cancelled'] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

interface StatusRow {
  /**
   * `open`: a token can be chosen, and the payment can expire. `counting`: all the money was seen and its confirmations
   * are counted. `final`: only new money or the merchant can change it.
   */
  readonly statusGroup: 'open' | 'counting' | 'final';
  readonly order: OrderStatus;
}

/** The nine statuses of a payment, as the Transaction API shows them. `transition.ts` lists which can follow which. */
const STATUSES = {
  created: { statusGroup: 'open', order: 'pending' },
  prepared: { statusGroup: 'open', order: 'pending' },
  pending: { statusGroup: 'open', order: 'pending' },
  processing: { statusGroup: 'counting', order: 'confirming' },
  confirming: { statusGroup: 'counting', order: 'confirming' },
  completed: { statusGroup: 'final', order: 'completed' },
  failed: { statusGroup: 'final', order: 'failed' },
  expired: { statusGroup: 'final', order: 'expired' },
  cancelled: { statusGroup: 'final', order: 'cancelled' },
} as const satisfies Readonly<Record<string, StatusRow>>;

export type PaymentStatus = keyof typeof STATUSES;
type StatusOf<Group extends StatusRow['statusGroup']> = {
  [Status in PaymentStatus]: (typeof STATUSES)[Status]['statusGroup'] extends Group ? Status : never;
}[PaymentStatus];
export type OpenStatus = StatusOf<'open'>;
export type FinalStatus = StatusOf<'final'>;

export const PAYMENT_STATUSES = Object.keys(STATUSES) as readonly PaymentStatus[];

export function isOpen(status: PaymentStatus): status is OpenStatus {
  return STATUSES[status].statusGroup === 'open';
}

export function isCounting(status: PaymentStatus): status is StatusOf<'counting'> {
  return STATUSES[status].statusGroup === 'counting';
}

export function isFinal(status: PaymentStatus): status is FinalStatus {
  return STATUSES[status].statusGroup === 'final';
}

/** The Order API's name of a payment's status. */
export function orderStatus(status: PaymentStatus): OrderStatus {
  return STATUSES[status].order;
}

/** The payment statuses that an order status covers. */
export function statusesOfOrder(status: OrderStatus): readonly PaymentStatus[] {
  return PAYMENT_STATUSES.filter((own) => STATUSES[own].order === status);
}
