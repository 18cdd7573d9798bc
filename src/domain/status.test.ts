import { describe, expect, it } from 'vitest';
import { ORDER_STATUSES, PAYMENT_STATUSES, orderStatus, statusesOfOrder } from './status.ts';

describe('the order view', () => {
  it.each([
    ['created', 'pending'],
    ['prepared', 'pending'],
    ['pending', 'pending'],
    ['processing', 'confirming'],
    ['confirming', 'confirming'],
    ['completed', 'completed'],
    ['failed', 'failed'],
    ['expired', 'expired'],
    ['cancelled', 'cancelled'],
  ] as const)('shows %s as %s', (status, view) => {
    expect(orderStatus(status)).toBe(view);
  });

  it('filters by exactly the statuses that it shows under a word', () => {
    for (const view of ORDER_STATUSES) {
      expect(statusesOfOrder(view)).toEqual(PAYMENT_STATUSES.filter((status) => orderStatus(status) === view));
    }
    expect(ORDER_STATUSES.flatMap(statusesOfOrder).toSorted()).toEqual(PAYMENT_STATUSES.toSorted());
  });
});
