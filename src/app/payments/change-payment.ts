import type { Payment, PaymentApi } from '../../domain/payment.ts';
import type { Mode } from '../../domain/permission.ts';
import {
  nextDueAt,
  transition,
  type Transition,
  type Observation,
  type RefusalReason,
  type PaymentPolicy,
} from '../../domain/transition.ts';
import type { AuditValues } from '../../store/people/audit.ts';
import type { SimulationRefusal } from '../../domain/simulation.ts';
import type { Trx } from '../../store/database.ts';
import {
  saveChanges,
  type IssuedAddress,
  type NewEvent,
  type PaymentChange,
} from '../../store/payments/save-changes.ts';
import { lockPayments } from '../../store/payments/payments.ts';
import { publicPaymentId } from '../../domain/payment-kind.ts';
import { differences, recordPeoplesAudit } from '../audit.ts';
import type { App } from '../context.ts';
import { paymentEvents } from '../events.ts';
import { answerRow, inTransactionOnce, type IdempotencyRequest, type Replay } from '../idempotency.ts';
import { emitAfterCommit, type ObservedTrx } from '../in-transaction.ts';
import type { ConfirmedTransfer } from '../../store/payments/transfers.ts';
import { policiesOf } from './payment-policy.ts';
import { withMessages } from './shop-messages.ts';
import { withWrongAssets } from './wrong-assets.ts';

/** Selects one payment for one client. Fields left out do not restrict (the command line sees everything). */
export interface PaymentSelector {
  readonly id: string;
  readonly projectId?: string;
  readonly mode?: Mode;
  readonly api?: PaymentApi;
}

/** Whether the client may see the payment. */
export function selects(selector: PaymentSelector, payment: Payment): boolean {
  return (
    (selector.projectId === undefined || selector.projectId === payment.projectId) &&
    (selector.mode === undefined || selector.mode === payment.mode) &&
    (selector.api === undefined || selector.api === payment.api)
  );
}

/** The observations of one change, and the records to save with the payment. */
export interface Decision {
  readonly kind: 'observed';
  readonly observations: readonly Observation[];
  readonly address?: IssuedAddress | undefined;
  /** Confirmed transfers in assets that the payment never asked for, of which an event tells. */
  readonly wrongAssets?: readonly ConfirmedTransfer[];
}

/** A change that the payment's state does not allow. */
export interface RefusedChange {
  readonly kind: 'refused';
  /**
   * `money_changed`: the decision was based on amounts that are outdated now. `counts_as_part`: the money counts for a
   * payment request, which asks for the rest again.
   */
  readonly reason: RefusalReason | 'money_changed' | 'counts_as_part' | SimulationRefusal;
  readonly payment: Payment;
}

export type ChangeOutcome<Refusal = never> =
  | { readonly kind: 'changed'; readonly payment: Payment; readonly body: string; readonly change: PaymentChange }
  | RefusedChange
  | { readonly kind: 'not_found' }
  | Replay
  | Refusal;

export interface ChangeRequest<Refusal> {
  readonly selector: PaymentSelector;
  /** The audit log's name of the action, if a person or an operator does it: such as `payment.cancel`. */
  readonly action: string;
  /**
   * Decides the change of the locked payment, or refuses. Runs inside the transaction, so it makes no network calls.
   */
  readonly decide: (payment: Payment, trx: Trx, now: number) => Promise<Decision | Refusal> | Decision | Refusal;
  readonly present?: (payment: Payment) => string;
  readonly idempotency?: IdempotencyRequest | null;
}

/** Rolls back the transaction of a change that was refused half-way. */
class Refused extends Error {
  readonly outcome: RefusedChange;
  constructor(reason: RefusalReason, payment: Payment) {
    super(`Refused: ${reason}`);
    this.outcome = { kind: 'refused', reason, payment };
  }
}

/**
 * Changes one payment under a lock: every observation is applied in order, and the payment is saved with its
 * transitions, events and idempotent answer in one transaction, or not at all.
 */
export async function changePayment<Refusal extends { readonly kind: string }>(
  app: App,
  request: ChangeRequest<Refusal>,
): Promise<ChangeOutcome<Refusal>> {
  const idempotency = request.idempotency ?? null;
  try {
    return await inTransactionOnce(app, idempotency, (trx) => change(app, trx, request, idempotency));
  } catch (error) {
    if (error instanceof Refused) return error.outcome;
    throw error;
  }
}

async function change<Refusal extends { readonly kind: string }>(
  app: App,
  trx: ObservedTrx,
  { selector, action, decide, present }: ChangeRequest<Refusal>,
  idempotency: IdempotencyRequest | null,
): Promise<ChangeOutcome<Refusal>> {
  const [before] = await lockPayments(trx, [selector.id]);
  if (before === undefined || !selects(selector, before)) return { kind: 'not_found' };
  const now = app.clock();
  const decision = await decide(before, trx, now);
  if (!isDecision(decision)) return decision;
  const policy = (await policiesOf(app, trx, [before]))(before);
  const observed = observe(app, before, decision.observations, { now, policy });
  if (observed.kind === 'refused') throw new Refused(observed.reason, before);
  const changed = withWrongAssets(app, observed.change, decision.wrongAssets ?? [], now);
  const body = present?.(changed.after) ?? '';
  const answers = idempotency === null ? [] : [answerRow(idempotency, body, now)];
  const saved = await withMessages(app, trx, [{ ...changed, address: decision.address }], now);
  await saveChanges(trx, saved, 2, answers);
  await recordPeoplesAudit(app, trx, {
    action,
    projectId: before.projectId,
    subject: { kind: 'payment', id: publicPaymentId(before) },
    ...differences(auditedPayment(before), auditedPayment(changed.after)),
  });
  emitAfterCommit(trx, { kind: 'payment_changed', change: changed, requestId: app.requestId ?? null });
  return { kind: 'changed', payment: changed.after, body, change: changed };
}

/** A payment as the audit log records it. */
export function auditedPayment({ mode, status, exception, quote }: Payment): AuditValues {
  return { mode, status, exception, asset: quote?.asset ?? null, network: quote?.network ?? null };
}

function isDecision(decision: { readonly kind: string }): decision is Decision {
  return decision.kind === 'observed';
}

/** Applies observations one after the other. If one is refused, all are; `moved` says whether anything changed. */
export function observe(
  app: App,
  before: Payment,
  observations: readonly Observation[],
  { now, policy }: { readonly now: number; readonly policy: PaymentPolicy },
):
  | { readonly kind: 'observed'; readonly change: PaymentChange; readonly moved: boolean }
  | { readonly kind: 'refused'; readonly reason: RefusalReason } {
  let payment = before;
  const transitions: Transition[] = [];
  const events: NewEvent[] = [];
  let moved = false;
  for (const observation of observations) {
    const result = transition(payment, observation, now, policy);
    if (result.kind === 'refused') return result;
    if (result.kind === 'unchanged') continue;
    moved = true;
    const announced = paymentEvents(app, result.payment, result.steps, now);
    payment = announced.payment;
    transitions.push(...result.transitions);
    events.push(...announced.events);
  }
  const dueAt = nextDueAt(payment, policy);
  return { kind: 'observed', change: { before, after: payment, dueAt, transitions, events }, moved };
}
