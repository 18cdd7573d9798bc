import type { Payment, Transfer } from '../../domain/payment.ts';
import type { Refund } from '../../domain/refund.ts';
import { possibleSimulations, type Simulation } from '../../domain/simulation.ts';
import { isOpen } from '../../domain/status.ts';
import { nextDueAt, transition, type Observation, type PaymentPolicy } from '../../domain/transition.ts';

/** The actions that a payment's present state allows, before roles are checked. */
export interface PossibleActions {
  readonly complete: boolean;
  readonly cancel: boolean;
  readonly accept: boolean;
  readonly simulate: readonly Simulation[];
  /** Whether something of a test payment is due later. */
  readonly advance: boolean;
}

/**
 * The same result as the use cases reach under the payment's lock. `refundedUnits`: refunds made or promised, in the
 * quote's token.
 */
export function possibleActions(
  payment: Payment,
  there: {
    readonly transfers: readonly Transfer[];
    readonly refundedUnits: bigint;
    readonly refunds: readonly Pick<Refund, 'status'>[];
    readonly events: readonly { readonly deliveries: readonly { readonly nextAttemptAt: number | null }[] }[];
  },
  now: number,
  policy: PaymentPolicy,
): PossibleActions {
  const may = (observation: Observation): boolean => transition(payment, observation, now, policy).kind !== 'refused';
  const moneyElsewhere = there.transfers.some(({ state }) => state !== 'dropped');
  const isTest = payment.mode === 'test';
  const isWaiting =
    nextDueAt(payment, policy) !== null ||
    there.refunds.some(({ status }) => status === 'pending') ||
    there.events.some(({ deliveries }) => deliveries.some(({ nextAttemptAt }) => nextAttemptAt !== null));
  const hasCompletedRefund = there.refunds.some(({ status }) => status === 'completed');
  return {
    complete: isTest && isOpen(payment.status),
    cancel: may({ kind: 'cancelled', moneyElsewhere }),
    accept: may({ kind: 'accepted', refundedUnits: there.refundedUnits }),
    simulate: isTest ? possibleSimulations(payment, hasCompletedRefund) : [],
    advance: isTest && isWaiting,
  };
}
