import { PAYMENT_KINDS } from './payment-kind.ts';
import type { Payment, Quote } from './payment.ts';
import { transition, type Transition } from './transition.ts';

/**
 * The transitions that a payment was created with. They are not stored because they follow from the kind: it has its
 * token when it is created, or gets it later from its customer.
 */
export function creationTransitions({ api, createdAt }: Pick<Payment, 'api' | 'createdAt'>): readonly Transition[] {
  return PAYMENT_KINDS[api].choosesToken ? [] : tokenTransitions(createdAt);
}

/**
 * The transitions of a new payment that must be stored: those of a token that its creator chose although its kind
 * leaves that to the customer, as at the till.
 */
export function storedTransitions({ api, createdAt, quote }: Payment): readonly Transition[] {
  return quote !== null && PAYMENT_KINDS[api].choosesToken ? tokenTransitions(createdAt) : [];
}

function tokenTransitions(at: number): readonly Transition[] {
  return [
    { from: 'created', to: 'prepared', cause: 'token_chosen', at },
    { from: 'prepared', to: 'pending', cause: 'token_chosen', at },
  ];
}

/** The payment with its first token, as its creator named it. */
export function withFirstToken(payment: Payment, quote: Quote): Payment {
  const chosen = transition(payment, { kind: 'token_chosen', quote, changes: 0 }, payment.createdAt);
  if (chosen.kind !== 'changed') throw new Error(`A new payment refused its token: ${JSON.stringify(chosen)}`);
  return chosen.payment;
}
