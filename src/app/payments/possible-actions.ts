import type { Payment, Transfer } from '../../domain/payment.ts';
import { SIMULATIONS, type Simulation } from '../../domain/simulation.ts';
import { isCounting, isOpen } from '../../domain/status.ts';
import { transition, type Observation, type PaymentPolicy } from '../../domain/transition.ts';

/** What people can do to a payment as it is now, whoever they are. */
export interface PossibleActions {
  readonly complete: boolean;
  readonly cancel: boolean;
  readonly accept: boolean;
  readonly simulate: readonly Simulation[];
}

/**
 * The same as the use cases would find under the payment's lock. `refundedUnits`: given or promised back of the quote's
 * token.
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

/** Whether this can happen to a test payment as it is now. */
export function canSimulate({ status, quote }: Payment, simulation: Simulation): boolean {
  if (isOpen(status)) return true;
  // All of its money is there, in time: what was seen goes on, and only more than was asked for can come.
  if (isCounting(status) && (simulation === 'part' || simulation === 'late')) return false;
  // Time ends what waits for its money; more money may come to any payment that has an address.
  const needsSeen = simulation === 'failed' || simulation === 'expired' || simulation === 'confirming';
  return quote !== null && (!needsSeen || status === 'processing');
}
