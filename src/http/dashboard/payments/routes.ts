import { sentenceError } from '../../page-sentences.ts';
import type { App } from '../../../app/context.ts';
import type { Replay } from '../../../app/idempotency.ts';
import type { ChangeOutcome, PaymentSelector, RefusedChange } from '../../../app/payments/change-payment.ts';
import {
  acceptPayment,
  cancelPayment,
  completeSandboxPayment,
  type MoneyShown,
  type NotSandbox,
} from '../../../app/payments/payment-actions.ts';
import type { RefusalCode } from '../../../domain/sentence.ts';
import type { TokenRefusal } from '../../../app/payments/quote-payment.ts';
import { advancePayment, type Advance, type Advanced, type AdvanceOutcome } from '../../../app/sandbox/advance.ts';
import { simulateOutcome } from '../../../app/sandbox/simulate-outcome.ts';
import { encodeId } from '../../../domain/id.ts';
import { parseDecimal } from '../../../domain/money.ts';
import { findPayments } from '../../../store/payments/payments.ts';
import type { PaymentChange } from '../../../store/payments/save-changes.ts';
import { isoTime } from '../../../wire/time.ts';
import { invalid } from '../../errors.ts';
import { refusedError } from '../refusal-words.ts';
import type { BodyOf } from '../contract.ts';
import type { Dashboard, Routes, PaymentCall } from '../route.ts';
import { noPayment, paymentSelector } from '../scope.ts';
import type { ADVANCES, Consequences, PaymentView } from './contract.ts';
import { viewOf } from './record.ts';

const PAYMENTS = '/dashboard/api/projects/:project/:mode/payments';

/** One payment in detail, and its actions. */
export function paymentRoutes(routes: Routes, { people: { app: core, sealingKeys }, webhooks }: Dashboard): void {
  routes.add(`GET ${PAYMENTS}/:payment`, { action: 'read_payments' }, ({ scope, params, request }) =>
    viewOf(core, request, scope, paymentSelector(scope, params.payment)),
  );
  const CHANGE = { action: 'change_payments' } as const;
  const act = async (
    { scope, own, params, request }: PaymentCall,
    run: (app: App, selector: PaymentSelector) => Promise<ChangeOutcome<TokenRefusal | NotSandbox>>,
  ) => {
    const selector = paymentSelector(scope, params.payment);
    const change = changeOf(await run(own, selector));
    const payment = await viewOf(own, request, scope, selector);
    return { payment, consequences: consequencesOf(change, payment) };
  };
  routes.add(`POST ${PAYMENTS}/:payment/complete`, CHANGE, (call) => act(call, completeSandboxPayment));
  routes.add(`POST ${PAYMENTS}/:payment/cancel`, CHANGE, (call) => act(call, cancelPayment));
  routes.add(`POST ${PAYMENTS}/:payment/accept`, CHANGE, (call) =>
    act(call, async (own, selector) =>
      acceptPayment(own, selector, { shown: await shownMoney(own, selector, call.body.shown) }),
    ),
  );
  routes.add(`POST ${PAYMENTS}/:payment/simulate`, CHANGE, (call) =>
    act(call, (own, selector) => simulateOutcome(own, selector, call.body.outcome)),
  );
  routes.add(`POST ${PAYMENTS}/:payment/advance`, CHANGE, async ({ scope, own, params, body, request }) => {
    const selector = paymentSelector(scope, params.payment);
    const sending = { sender: webhooks.sender(), sealingKeys: await sealingKeys() };
    const { now, moments } = advancedOf(await advancePayment(own, sending, selector, ADVANCED[body.to], NO_ANSWER));
    return { payment: await viewOf(own, request, scope, selector), now: isoTime(now), moments: moments.length };
  });
}

const HOUR_MS = 60 * 60_000;
const ADVANCED: Readonly<Record<(typeof ADVANCES)[number], Advance>> = {
  next: { kind: 'to_next' },
  hour: { kind: 'by', ms: HOUR_MS },
  day: { kind: 'by', ms: 24 * HOUR_MS },
  final: { kind: 'to_final' },
};
const NO_ANSWER = { present: () => '', idempotency: null };

/** @throws RequestError that says why no time passed */
function advancedOf(outcome: AdvanceOutcome): Advanced {
  if (outcome.kind === 'done') return outcome.advanced;
  if (outcome.kind === 'nothing_due') throw sentenceError('invalid_request_error', 'payment_nothing_due');
  if (outcome.kind === 'too_far') throw sentenceError('invalid_request_error', 'payment_too_far');
  if (outcome.kind === 'busy') throw sentenceError('conflict_error', 'payment_advancing');
  return refuse(outcome);
}

/** The amounts shown to the person who accepts, in the smallest units of the quote's token. */
async function shownMoney(
  { db }: App,
  { id }: PaymentSelector,
  shown: BodyOf<`POST ${typeof PAYMENTS}/:payment/accept`>['shown'],
): Promise<MoneyShown | null> {
  if (shown === undefined) return null;
  const [payment] = await findPayments(db, [id]);
  const decimals = payment?.quote?.decimals ?? 0;
  const unitsOf = (name: 'confirmed' | 'refunded'): bigint => {
    const units = parseDecimal(shown[name], decimals);
    if (units === null) throw invalid(`shown.${name}`, `shown.${name} must be the decimal number that was shown.`);
    return units;
  };
  return { confirmedUnits: unitsOf('confirmed'), refundedUnits: unitsOf('refunded') };
}

/** The sentence for each reason why a payment does not allow a change. */
const REFUSED = {
  money_seen: 'payment_money_seen',
  not_open: 'payment_not_open',
  expired: 'payment_expired',
  too_many_changes: 'payment_too_many_changes',
  no_confirmed_money: 'payment_no_money',
  refunded: 'payment_refunded',
  already_completed: 'payment_completed',
  money_changed: 'payment_money_changed',
  counts_as_part: 'payment_is_part',
  only_asset: 'payment_only_asset',
  no_completed_refund: 'payment_no_completed_refund',
} as const satisfies Record<RefusedChange['reason'], RefusalCode>;

/** Returns the changed payment. @throws RequestError that says why nothing was changed */
export function changeOf(outcome: ChangeOutcome<TokenRefusal | NotSandbox>): PaymentChange {
  switch (outcome.kind) {
    case 'changed':
      return outcome.change;
    case 'no_rate':
      throw sentenceError('service_unavailable', 'no_current_price');
    case 'refused':
      if (!('reason' in outcome)) throw refusedError(outcome, null);
      throw sentenceError(
        outcome.reason === 'money_changed' ? 'conflict_error' : 'invalid_request_error',
        REFUSED[outcome.reason],
      );
    default:
      return refuse(outcome);
  }
}

/** @throws RequestError or Error for outcomes that have nothing to do with the payment's state */
function refuse({ kind }: { readonly kind: 'not_found' } | NotSandbox | Replay): never {
  switch (kind) {
    case 'not_found':
      throw noPayment();
    case 'not_sandbox':
      throw sentenceError('invalid_request_error', 'payment_not_test');
    default:
      throw new Error('The dashboard sends no idempotency keys.');
  }
}

function consequencesOf({ before, after, events }: PaymentChange, { timeline }: PaymentView): Consequences {
  const ids = new Set(events.map(({ id }) => encodeId('event', id)));
  return {
    from: (before ?? after).status,
    to: after.status,
    exception: after.exception,
    events: events.map(({ type }) => type),
    deliveries: timeline
      .map((entry) => (entry.kind === 'event' && ids.has(entry.id) ? entry.deliveries.length : 0))
      .reduce((sum, count) => sum + count, 0),
  };
}
