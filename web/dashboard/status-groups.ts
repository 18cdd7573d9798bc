import type { PaymentStatus } from '../../src/domain/status.ts';

/** The nine statuses of the state machine in the groups that people see and filter by. */
export const STATUS_GROUPS = {
  open: ['created', 'prepared', 'pending'],
  confirming: ['processing', 'confirming'],
  completed: ['completed'],
  failed: ['failed'],
  expired: ['expired'],
  cancelled: ['cancelled'],
} as const satisfies Readonly<Record<string, readonly PaymentStatus[]>>;
export type StatusGroup = keyof typeof STATUS_GROUPS;
export const GROUP_NAMES = Object.keys(STATUS_GROUPS) as readonly StatusGroup[];

export function groupOf(status: PaymentStatus): StatusGroup {
  return GROUP_NAMES.find((group) => (STATUS_GROUPS[group] as readonly PaymentStatus[]).includes(status)) ?? 'open';
}
