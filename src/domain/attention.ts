import type { ProjectAction } from './role.ts';

/** The kinds of items that need a person's attention, most urgent first. */
const KINDS = {
  reorged: 'read_payments',
  till_money_gone: 'read_payments',
  paid_late: 'read_payments',
  paid_after_cancel: 'read_payments',
  underpaid: 'read_payments',
  overpaid: 'read_payments',
  slow: 'read_payments',
  refund_paid_twice: 'read_payments',
  refund_paid_anyway: 'read_payments',
  refund_to_sign: 'read_payments',
  endpoint_disabled: 'read_developer',
  endpoint_failing: 'read_developer',
  wallet_changed: 'read_wallets',
  key_beyond_role: 'read_audit',
  node_behind: 'read_wallets',
  no_wallet: 'read_wallets',
  sweep: 'read_wallets',
} as const satisfies Readonly<Record<string, ProjectAction>>;

export type AttentionKind = keyof typeof KINDS;
export const ATTENTION_KINDS = Object.keys(KINDS) as readonly AttentionKind[];

/** The action that a role must permit for a person to see the kind. */
export function actionOfAttention(kind: AttentionKind): ProjectAction {
  return KINDS[kind];
}

/**
 * The time that confirming may take before a person should look at the payment: `blockTimes` times the average time of
 * as many blocks as the payment needs and one more, and at least `leastMs`.
 */
export const SLOW = { leastMs: 3_600_000, blockTimes: 3 } as const;
