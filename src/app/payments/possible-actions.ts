import type { Payment, Transfer } from '../../domain/payment.ts';
import { SIMULATIONS, type Simulation } from '../../domain/simulation.ts';
import { isCounting, isOpen } from '../../domain/status.ts';
import { transition, type Observation, type PaymentPolicy } from '../../domain/transition.ts';

/** The actions that a payment's present state allows, before roles are checked. */
export interface PossibleActions {
  readonly complete: boolean;
  readonly cancel: boolean;
  readonly accept: boolean;
  readonly simulate: readonly Simulation[];
}

/**
 * The same result as the use cases reach under the payment's lock. `refundedUnits`: refunds made or promised, in the
 * quote's token.
 */
export function possibleActions(
  payment: Payment,
  there: { readonly transfers: readonly Transfer[]; readonly refundedUnits: bigint },
  now: number,
  policy: PaymentPolicy,
): PossibleActions {
  const may = (observation: Observation): boolean => transition(payment, observation, now, policy).kind !== 'refused';
  const moneyElsewhere = there.transfers.some(({ state }) => state !== 'dropped');
  const isTest = payment.mode === 'test';
  return {
    complete: isTest && isOpen(payment.status),
    cancel: may({ kind: 'cancelled', moneyElsewhere }),
    accept: may({ kind: 'accepted', refundedUnits: there.refundedUnits }),
    simulate: isTest ? SIMULATIONS.filter((simulation) => canSimulate(payment, simulation)) : [],
  };
}

/** Whether this event can be simulated for a test payment in its present state. */
export function canSimulate({ status, quote }: Payment, simulation: Simulation): boolean {
  if (isOpen(status)) return true;
  // All of its money is there, in time: it can only be confirmed, or more can be paid.
  if (isCounting(status) && (simulation === 'part' || simulation === 'late')) return false;
  // Only a payment that waits for money can expire or fail; one with an address can receive more money.
  const needsSeen = simulation === 'failed' || simulation === 'expired' || simulation === 'confirming';
  return quote !== null && (!needsSeen || status === 'processing');
}
