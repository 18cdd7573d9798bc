import { inTimeUntil, type Payment, type Quote, type Transfer } from '../../domain/payment.ts';
import { sumTransfers } from '../../domain/sum-transfers.ts';
import { isOtherAsset, simulationRefusal, STAGED_SIMULATIONS, type Simulation } from '../../domain/simulation.ts';
import { isCounting, isOpen } from '../../domain/status.ts';
import type { Token } from '../../domain/asset.ts';
import type { Observation } from '../../domain/transition.ts';
import type { SandboxRail } from '../../modes/rail.ts';
import type { Trx } from '../../store/database.ts';
import { farthestTime } from '../../store/payments/advanced-payments.ts';
import { findTransfers, saveTransfers, type PaymentTransfer } from '../../store/payments/transfers.ts';
import type { App } from '../context.ts';
import type { ChangeOutcome, PaymentSelector } from './change-payment.ts';
import { changeInSandbox, firstQuote, observed, type NotSandbox, type Presented } from './payment-actions.ts';
import { quotePayment, type TokenRefusal } from './quote-payment.ts';
import { receiptPrices } from './receipt-prices.ts';

/**
 * Takes a test payment through the real transitions and events, as if that money came, and stops its timer. With
 * `stageMs`, the money of `paid` and `over` is only seen at first; it is mined after that time and confirmed after the
 * same time again.
 */
export function simulatePayment(
  app: App,
  selector: PaymentSelector,
  simulation: PaymentSimulation,
  stageMs: number | null = null,
  presented?: Presented,
): Promise<ChangeOutcome<TokenRefusal | NotSandbox>> {
  const decide: Parameters<typeof changeInSandbox>[3] = async (rail, payment, trx, now) => {
    const reason = simulationRefusal(payment, simulation, false);
    if (reason !== null) return { kind: 'refused', reason, payment };
    const opening: Observation[] = [{ kind: 'timer_stopped' }];
    let quote = payment.quote;
    if (quote === null) {
      const first = await firstQuote(
        rail,
        payment,
        trx,
        simulation === 'wrong_asset' ? hasOtherAsset(rail) : undefined,
      );
      if ('kind' in first) return first;
      quote = first;
      opening.push({ kind: 'token_chosen', quote, changes: 0 });
    }
    const known = (await findTransfers(trx, [payment.id])).get(payment.id) ?? [];
    const isStaged = stageMs !== null && isOpen(payment.status) && STAGED_SIMULATIONS.includes(simulation);
    // Money is late if the payment's time was moved beyond its end; stages go by the clock.
    const seenAt = isStaged ? now : Math.max(now, (await farthestTime(trx, payment.id)) ?? now);
    const simulated: Simulated = { rail, payment: { ...payment, quote }, quote, known, now: seenAt, isStaged };
    const steps = simulation === 'wrong_asset' ? await otherAsset(simulated, trx) : stepsOf(simulated, simulation);
    if ('kind' in steps) return steps;
    await saveTransfers(trx, steps.transfers.map(ofPayment(payment)), receiptPrices(rail, now));
    const timer: readonly Observation[] = isStaged ? [{ kind: 'timer_set', at: now + stageMs }] : [];
    const decision = observed(...opening, ...steps.observations, ...timer);
    const wrong = simulation === 'wrong_asset' ? steps.transfers : [];
    return { ...decision, wrongAssets: wrong.map((transfer) => ({ ...transfer, paymentId: payment.id })) };
  };
  return changeInSandbox(app, selector, 'payment.simulate', decide, presented);
}

const hasOtherAsset =
  (rail: SandboxRail) =>
  (token: Token): boolean =>
    rail.seenTokens.some((other) => isOtherAsset(other, token));

/** A confirmed transfer of what the payment costs, in another asset of the same network. */
async function otherAsset({ rail, payment, quote, known, now }: Simulated, trx: Trx): Promise<Steps | TokenRefusal> {
  const token = rail.seenTokens.find((other) => isOtherAsset(other, quote));
  if (token === undefined) throw new Error(`There is no other asset on ${quote.network}.`);
  const priced = await quotePayment(rail, payment, token, trx);
  if (priced.kind !== 'ok') return priced;
  const { owedUnits: amountUnits } = priced.quote;
  const step = {
    asset: token.asset,
    amountUnits,
    earlier: known.length,
    firstSeenAt: now,
    state: 'confirmed',
  } as const;
  return { transfers: [rail.simulate(payment, step)], observations: [] };
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

function stepsOf(simulated: Simulated, simulation: Exclude<PaymentSimulation, 'wrong_asset'>): Steps {
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
      return isOpen(payment.status) ? inTurn(deadline, late) : late;
    }
    case 'failed':
      return isThere ? deadline : inTurn(arrives(simulated, missing, now, 'seen'), deadline);
    case 'expired':
      return deadline;
    case 'replaced': {
      const unmined = known.filter(({ state }) => state === 'seen');
      const detected = isThere ? { transfers: unmined, observations: [] } : arrives(simulated, missing, now, 'seen');
      const gone = moneyOf(simulated, dropped(detected.transfers));
      const amountUnits = detected.transfers.reduce((sum, one) => sum + one.amountUnits, 0n);
      return inTurn(detected, gone, arrives(simulated, amountUnits, now, 'confirmed', gone.transfers));
    }
    case 'reorged': {
      const isComplete = payment.status === 'completed' || isThere;
      const confirmed = isComplete
        ? moneyOf(simulated, advanced(known, 'confirmed', now))
        : arrives(simulated, missing, now, 'confirmed');
      const mined = [...known, ...confirmed.transfers].filter(({ state }) => state !== 'dropped');
      return inTurn(confirmed, moneyOf(simulated, dropped(mined)));
    }
  }
}

/** The outcomes of the payment alone. */
type PaymentSimulation = Exclude<Simulation, 'refund_reorged'>;

/** Adds new money to known transfers in a new state. */
function arrives(
  simulated: Simulated,
  amountUnits: bigint,
  firstSeenAt: number,
  state: 'seen' | 'mined' | 'confirmed',
  changed: readonly Transfer[] = [],
): Steps {
  const { rail, payment, known } = simulated;
  const earlier = new Set([...known, ...changed].map(({ transactionHash }) => transactionHash)).size;
  return moneyOf(simulated, [...changed, rail.simulate(payment, { amountUnits, earlier, firstSeenAt, state })]);
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

/** Steps in turn; the last state of each transfer is saved. */
function inTurn(...steps: readonly Steps[]): Steps {
  const transfers = new Map(
    steps.flatMap((one) => one.transfers.map((transfer) => [transfer.transactionHash, transfer] as const)),
  );
  return { transfers: [...transfers.values()], observations: steps.flatMap(({ observations }) => observations) };
}

/** These transfers as they are once no chain contains them any more. */
function dropped(transfers: readonly Transfer[]): readonly Transfer[] {
  return transfers.map((one) => ({ ...one, state: 'dropped', blockAt: null, blockHeight: null, blockPosition: null }));
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
