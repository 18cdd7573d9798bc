import { inTimeUntil, sumTransfers, type Payment, type Quote, type Transfer } from '../../domain/payment.ts';
import { STAGED_SIMULATIONS, type Simulation } from '../../domain/simulation.ts';
import { isCounting, isOpen } from '../../domain/status.ts';
import type { Observation } from '../../domain/transition.ts';
import type { SandboxRail } from '../../modes/rail.ts';
import { findTransfers, saveTransfers, type PaymentTransfer } from '../../store/payments/transfers.ts';
import type { App } from '../context.ts';
import type { ChangeOutcome, PaymentSelector } from './change-payment.ts';
import { changeInSandbox, firstQuote, observed, type NotSandbox, type Presented } from './payment-actions.ts';
import { canSimulate } from './possible-actions.ts';
import type { TokenRefusal } from './quote-payment.ts';
import { receiptPrices } from './receipt-prices.ts';

/**
 * Takes a test payment through the real transitions and events, as if that money came, and stops its timer. With
 * `stageMs`, the money of `paid` and `over` is only seen at first; it is mined after that time and confirmed after the
 * same time again.
 */
export function simulatePayment(
  app: App,
  selector: PaymentSelector,
  simulation: Simulation,
  stageMs: number | null = null,
  presented?: Presented,
): Promise<ChangeOutcome<TokenRefusal | NotSandbox>> {
  const decide: Parameters<typeof changeInSandbox>[3] = async (rail, payment, trx, now) => {
    if (!canSimulate(payment, simulation)) return { kind: 'refused', reason: 'not_open', payment };
    const opening: Observation[] = [{ kind: 'timer_stopped' }];
    let quote = payment.quote;
    if (quote === null) {
      const first = await firstQuote(rail, payment, trx);
      if ('kind' in first) return first;
      quote = first;
      opening.push({ kind: 'token_chosen', quote, changes: 0 });
    }
    const known = (await findTransfers(trx, [payment.id])).get(payment.id) ?? [];
    const isStaged = stageMs !== null && isOpen(payment.status) && STAGED_SIMULATIONS.includes(simulation);
    const steps = stepsOf({ rail, payment: { ...payment, quote }, quote, known, now, isStaged }, simulation);
    await saveTransfers(trx, steps.transfers.map(ofPayment(payment)), receiptPrices(rail, now));
    const timer: readonly Observation[] = isStaged ? [{ kind: 'timer_set', at: now + stageMs }] : [];
    return observed(...opening, ...steps.observations, ...timer);
  };
  return changeInSandbox(app, selector, 'payment.simulate', decide, presented);
}

interface Steps {
  /** The transfers to save: new ones, and known ones in a new state. */
  readonly transfers: readonly Transfer[];
  readonly observations: readonly Observation[];
}

interface Simulated {
  readonly rail: SandboxRail;
  readonly payment: Payment;
  readonly quote: Quote;
  readonly known: readonly Transfer[];
  readonly now: number;
  /** The money is only seen at first. */
  readonly isStaged: boolean;
}

function stepsOf(simulated: Simulated, simulation: Simulation): Steps {
  const { payment, quote, known, now, isStaged } = simulated;
  const deadline: Steps = { transfers: [], observations: [{ kind: 'deadline', seenUpTo: 'by_hand' }] };
  const seen = payment.received.all.seenUnits;
  const missing = quote.owedUnits > seen ? quote.owedUnits - seen : quote.owedUnits;
  const first = isStaged ? 'seen' : 'confirmed';
  // A transfer already seen is confirmed instead of being simulated again.
  const isThere = isCounting(payment.status);
  switch (simulation) {
    case 'paid':
      return isThere ? moneyOf(simulated, advanced(known, 'confirmed', now)) : arrives(simulated, missing, now, first);
    case 'confirming':
      return isThere ? moneyOf(simulated, advanced(known, 'mined', now)) : arrives(simulated, missing, now, 'mined');
    case 'part':
      return arrives(simulated, missing > 1n ? missing / 2n : 1n, now, 'confirmed');
    case 'over': {
      const excess = quote.owedUnits / 2n + quote.toleranceUnits + 1n;
      const confirmed = isThere ? advanced(known, 'confirmed', now) : [];
      return arrives(simulated, isThere ? excess : missing + excess, now, first, confirmed);
    }
    case 'late': {
      const late = arrives(simulated, missing, Math.max(now, payment.expiresAt), 'confirmed');
      return isOpen(payment.status) ? both(deadline, late) : late;
    }
    case 'failed':
      return isThere ? deadline : both(arrives(simulated, missing, now, 'seen'), deadline);
    case 'expired':
      return deadline;
  }
}

/** Adds new money to known transfers in a new state. */
function arrives(
  simulated: Simulated,
  amountUnits: bigint,
  firstSeenAt: number,
  state: 'seen' | 'mined' | 'confirmed',
  changed: readonly Transfer[] = [],
): Steps {
  const { rail, payment, now } = simulated;
  return moneyOf(simulated, [...changed, rail.simulate(payment, { amountUnits, firstSeenAt, state }, now)]);
}

/** The payment's money once these transfers are saved, new ones and known ones in a new state. */
function moneyOf(
  { payment, quote, known }: Pick<Simulated, 'payment' | 'quote' | 'known'>,
  transfers: readonly Transfer[],
): Steps {
  const isSaved = ({ transactionHash }: Transfer) => transfers.some((one) => one.transactionHash === transactionHash);
  const all = [...known.filter((one) => !isSaved(one)), ...transfers];
  const received = sumTransfers(quote, all, inTimeUntil(payment), payment.completedOnUnits ?? undefined);
  return { transfers, observations: [{ kind: 'money', received }] };
}

function both(first: Steps, second: Steps): Steps {
  return {
    transfers: [...first.transfers, ...second.transfers],
    observations: [...first.observations, ...second.observations],
  };
}

/** The transfers that have not reached this state, moved to it in a block of `now` at the latest. */
function advanced(known: readonly Transfer[], state: 'mined' | 'confirmed', now: number): readonly Transfer[] {
  return known
    .filter((one) => one.state === 'seen' || (one.state === 'mined' && state === 'confirmed'))
    .map((one) => ({ ...one, state, blockAt: one.blockAt ?? now, blockHeight: one.blockHeight ?? 0 }));
}

function ofPayment({ id }: Payment): (transfer: Transfer) => PaymentTransfer {
  return (transfer) => ({ paymentId: id, transfer, blockHash: null });
}

/**
 * The next stage when the timer of a staged payment has run out: its money is mined, and one stage later confirmed. A
 * stage lasts as long as the one before it, which the transfers tell, so that a restart loses nothing. Null if the
 * payment has no quote or no money.
 */
export function nextStage(
  payment: Payment,
  known: readonly Transfer[],
  now: number,
): { readonly observations: readonly Observation[]; readonly transfers: readonly PaymentTransfer[] } | null {
  const { quote, completesAt } = payment;
  if (quote === null || completesAt === null || known.length === 0) return null;
  const isMined = payment.status === 'confirming';
  const steps = moneyOf({ payment, quote, known }, advanced(known, isMined ? 'confirmed' : 'mined', completesAt));
  const seenAt = Math.max(...known.map(({ firstSeenAt }) => firstSeenAt));
  const timer: readonly Observation[] = isMined
    ? []
    : [{ kind: 'timer_set', at: Math.max(now, completesAt) + Math.max(0, completesAt - seenAt) }];
  return { observations: [...steps.observations, ...timer], transfers: steps.transfers.map(ofPayment(payment)) };
}
