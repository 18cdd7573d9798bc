import type { PaymentStatus } from './payment.ts';

/** How the Order API words the nine statuses. */
export const ORDER_STATUSES = ['pending', 'confirming', 'completed', 'failed', 'expired', 'cancelled'] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

const VIEW = {
  created: 'pending',
  prepared: 'pending',
  pending: 'pending',
  processing: 'confirming',
  confirming: 'confirming',
  completed: 'completed',
  failed: 'failed',
  expired: 'expired',
  cancelled: 'cancelled',
} as const satisfies Record<PaymentStatus, OrderStatus>;

/** The Order API's word for a payment's status. */
export function orderStatus(status: PaymentStatus): OrderStatus {
  return VIEW[status];
}

/** The payment statuses that an order status stands for. */
export function statusesOfOrder(status: OrderStatus): readonly PaymentStatus[] {
  return (Object.keys(VIEW) as PaymentStatus[]).filter((own) => VIEW[own] === status);
}
