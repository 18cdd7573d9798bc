import type { Payment, Transfer } from '../../domain/payment.ts';
import { SIMULATIONS, type Simulation } from '../../domain/simulation.ts';
import { isOpen } from '../../domain/status.ts';
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

function canSimulate({ status, quote }: Payment, simulation: Simulation): boolean {
  if (isOpen(status)) return true;
  // Time ends what waits for its money; more money may come to any payment that has an address.
  const needsSeen = simulation === 'failed' || simulation === 'expired' || simulation === 'confirming';
  return quote !== null && (!needsSeen || status === 'processing');
}
