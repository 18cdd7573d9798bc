import type { PaymentStatus } from '../../../../src/domain/status.ts';

/** The nine statuses of the state machine in the groups that people ask for. */
export const STATUS_GROUPS = {
  open: ['created', 'prepared', 'pending'],
  confirming: ['processing', 'confirming'],
  completed: ['completed'],
  failed: ['failed'],
  expired: ['expired'],
  cancelled: ['cancelled'],
} as const satisfies Readonly<Record<string, readonly PaymentStatus[]>>;
export type StatusGroup = keyof typeof STATUS_GROUPS;
