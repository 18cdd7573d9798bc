import type { Payment, Quote } from './payment.ts';
import { transition, type Transition } from './transition.ts';

/**
 * The steps that a payment was created with. They are not stored, since they are known: an order's token is chosen when it is
 * made, a transaction's by its customer later.
 */
export function creationTransitions({
  surface,
  createdAt: at,
}: Pick<Payment, 'surface' | 'createdAt'>): readonly Transition[] {
  if (surface === 'transaction') return [];
  return [
    { from: 'created', to: 'prepared', cause: 'token_chosen', at },
    { from: 'prepared', to: 'pending', cause: 'token_chosen', at },
  ];
}

/** A payment with its first token, as the one who creates it names it. */
export function withFirstToken(payment: Payment, quote: Quote): Payment {
  const chosen = transition(payment, { kind: 'token_chosen', quote, changes: 0 }, payment.createdAt);
  if (chosen.kind !== 'changed') throw new Error(`A new payment that takes no token: ${JSON.stringify(chosen)}`);
  return chosen.payment;
}
