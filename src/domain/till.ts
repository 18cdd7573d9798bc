import { exceptionOf } from './exception.ts';
import type { Fiat } from './money.ts';
import type { Payment } from './payment.ts';
import { isCounting } from './status.ts';

/** Signs that a transaction may never be mined, as a node tells them while it waits. */
export const MEMPOOL_DOUBTS = ['replaceable', 'low_fee', 'unknown'] as const;
/**
 * `replaceable`: it says that another transaction may replace it (BIP 125), or spends one that says so. `low_fee`: it
 * pays less than the node's estimate for the next hour. `unknown`: the node could not tell.
 */
export type MempoolDoubt = (typeof MEMPOOL_DOUBTS)[number];

/** Why seen money does not count yet. `replaced`: a transaction of the payment is gone. */
export const TILL_DOUBTS = [...MEMPOOL_DOUBTS, 'replaced', 'reorged'] as const;
export type TillDoubt = (typeof TILL_DOUBTS)[number];

/** A project's choices for its till. */
export interface TillSettings {
  /** Below this amount, seen money without a doubtful sign counts as paid. Decimal text. Null: only confirmed money. */
  readonly seenBelow: { readonly amount: string; readonly currency: Fiat } | null;
  readonly tips: boolean;
}

export const USUAL_TILL: TillSettings = { seenBelow: null, tips: false };

/** The tips that the till offers, in percent. */
export const TIP_PERCENTS = [5, 10, 15] as const;

export interface TillOutcome {
  /** The reason why the payment counts as paid; null: it does not yet. */
  readonly paidBy: 'seen' | 'confirmed' | null;
  readonly doubt: TillDoubt | null;
}

/**
 * Whether a payment counts as paid for whoever stands at the till. The payment itself is not changed by this.
 *
 * @param doubts those of its unmined and dropped transactions
 * @param isBelow whether the amount is below the project's limit for seen money
 */
export function tillOutcome(payment: Payment, doubts: readonly TillDoubt[], isBelow: boolean): TillOutcome {
  if (exceptionOf(payment) === 'reorged') return { paidBy: null, doubt: 'reorged' };
  if (payment.status === 'completed') return { paidBy: 'confirmed', doubt: null };
  const [doubt = null] = doubts;
  // Once no money is seen any more, the only doubt left is why it is gone.
  if (!isCounting(payment.status)) return { paidBy: null, doubt: doubts.includes('replaced') ? 'replaced' : null };
  return { paidBy: isBelow && doubt === null ? 'seen' : null, doubt };
}
