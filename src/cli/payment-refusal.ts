import { PAYMENT_KINDS, publicPaymentId } from '../domain/payment-kind.ts';
import type { ChangeOutcome, RefusedChange } from '../app/payments/change-payment.ts';
import type { NotSandbox } from '../app/payments/payment-actions.ts';
import type { TokenRefusal } from '../app/payments/quote-payment.ts';
import type { Payment } from '../domain/payment.ts';
import { possibleSimulations } from '../domain/simulation.ts';
import { isCounting } from '../domain/status.ts';
import { MAX_TOKEN_CHANGES } from '../domain/transition.ts';
import { whyNot } from '../http/api.ts';
import { messageOf } from '../http/ways-out.ts';
import { CommandFailure } from './failure.ts';
import { noPayment } from './refusal.ts';
import { moneySeen } from './payment-record.ts';

export type PaymentAction = 'complete' | 'simulate' | 'accept' | 'cancel';

/** The payment after its change; a refusal ends the command, and says why and what is possible. */
export function changed(
  outcome: ChangeOutcome<TokenRefusal | NotSandbox>,
  action: PaymentAction,
  givenId: string,
): Payment {
  switch (outcome.kind) {
    case 'changed':
      return outcome.payment;
    case 'not_found':
      throw noPayment(givenId);
    case 'not_sandbox':
      throw new CommandFailure(
        `${givenId} is a live payment, and only test payments can be ${PARTICIPLES[action]} by hand. ` +
          'A live payment is paid on its chain. Accept confirmed money with: cointill payment accept',
      );
    case 'no_rate':
      throw new CommandFailure(outcome.message);
    case 'refused':
      throw new CommandFailure(
        'reason' in outcome
          ? refusal(outcome.payment, outcome.reason, action)
          : `${givenId} cannot be ${PARTICIPLES[action]}: ${messageOf(outcome)}`,
      );
    case 'replayed':
    case 'key_reused':
    case 'still_running':
      throw new Error('A command carries no idempotency key and cannot be a replay.');
  }
}

const PARTICIPLES = {
  complete: 'completed',
  simulate: 'simulated',
  accept: 'accepted',
  cancel: 'cancelled',
} as const satisfies Record<PaymentAction, string>;

const POSSIBLE = {
  complete: 'Only a payment that is created, prepared or pending can be completed.',
  accept: 'Only a payment that expired, failed, was cancelled, or is pending and underpaid can be accepted.',
  cancel: 'Only a payment that is created, prepared or pending and has received no money can be cancelled.',
} as const satisfies Record<Exclude<PaymentAction, 'simulate'>, string>;

/** The simulations that are possible instead. */
function simulatable(payment: Payment): string {
  const possible = possibleSimulations(payment, false);
  if (possible.length === 0) return 'The payment ended before a token was chosen, so no money can arrive.';
  const why = isCounting(payment.status) ? 'All of the money arrived in time' : 'The payment has ended';
  return `${why}. Possible outcomes now: ${possible.join(', ')}.`;
}

function refusal(payment: Payment, reason: RefusedChange['reason'], action: PaymentAction): string {
  const id = publicPaymentId(payment);
  switch (reason) {
    case 'already_completed':
      return `${id} is already completed. To send money back, refund the payment.`;
    case 'not_open':
      return action === 'simulate'
        ? `${id} is ${payment.status}, so this outcome is not possible. ${simulatable(payment)}`
        : `${id} is ${payment.status} and cannot be ${PARTICIPLES[action]}. ${POSSIBLE[action]}`;
    case 'money_seen':
      if (payment.received.all.seenUnits === 0n) {
        return `Money in another token has been detected for ${id}, so this payment cannot be ${PARTICIPLES[action]}.${PAYMENT_KINDS[payment.api].choosesToken ? ' The money counts once the customer chooses that token.' : ''}`;
      }
      return action === 'cancel'
        ? `Money has been detected for ${id} (${moneySeen(payment)}), so this payment cannot be cancelled. Wait until the payment completes or expires, then refund the money.`
        : `Money has already been detected for ${id} (${moneySeen(payment)}), so its token cannot be changed.`;
    case 'too_many_changes':
      return `The token of ${id} has been changed ${MAX_TOKEN_CHANGES} times, which is the maximum. Pay in the present token, or create a new payment for another token.`;
    case 'no_confirmed_money':
      return `There is no confirmed money for ${id} to accept. Wait until the money is confirmed.`;
    case 'refunded':
      return `All money received for ${id} has been refunded or is in a pending refund, so there is nothing to accept. You can cancel a pending refund over the API.`;
    case 'only_asset':
    case 'no_completed_refund':
      return `${id} cannot be simulated because ${whyNot(reason, payment)}`;
    case 'counts_as_part':
      return `The money of ${id} counts as a part of its payment request, which asks for the rest again. There is nothing to accept.`;
    case 'money_changed':
      return `The money received for ${id} has changed meanwhile. Show the payment with: cointill payment show ${id}`;
    case 'expired':
      return `The time to pay ${id} is over, so no token can be chosen. Create a new payment.`;
  }
}
