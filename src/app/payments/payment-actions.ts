import { isOpen } from '../../domain/status.ts';
import { inTimeUntil, requiredUnits, type Payment, type Quote, type Transfer } from '../../domain/payment.ts';
import { sumTransfers } from '../../domain/sum-transfers.ts';
import { tokenRefusal, type Observation } from '../../domain/transition.ts';
import { isPayableIn } from '../../domain/coin-choice.ts';
import { isInParts } from '../../domain/payment-request.ts';
import type { Token } from '../../domain/asset.ts';
import { saveQuoteAgain } from '../../store/payments/save-changes.ts';
import type { Database, Trx } from '../../store/database.ts';
import { findRequest } from '../../store/payments/payment-requests.ts';
import { countTokenChanges } from '../../store/payments/payments.ts';
import { refundedMoney } from '../../store/refunds/refunds.ts';
import { findTransfers, saveTransfers } from '../../store/payments/transfers.ts';
import {
  changePayment,
  type ChangeOutcome,
  type Decision,
  type PaymentSelector,
  type RefusedChange,
} from './change-payment.ts';
import type { App } from '../context.ts';
import type { IdempotencyRequest } from '../idempotency.ts';
import { chooseToken, issuedAddress, quotePayment, type TokenRefusal } from './quote-payment.ts';
import { receiptPrices } from './receipt-prices.ts';
import type { Rail, SandboxRail } from '../../modes/rail.ts';

export interface Presented {
  readonly present: (payment: Payment) => string;
  readonly idempotency: IdempotencyRequest | null;
}

/** The amounts that a decision was based on, in the quote's smallest units. */
export interface MoneyShown {
  readonly confirmedUnits: bigint;
  /** The sum of completed and pending refunds. */
  readonly refundedUnits: bigint;
}

/** Cancels a payment for which no money was seen in any token. */
export function cancelPayment(app: App, selector: PaymentSelector, presented?: Presented): Promise<ChangeOutcome> {
  return changePayment<never>(app, {
    selector,
    action: 'payment.cancel',
    decide: async (payment, trx) => {
      const there = await transfersOf(payment, trx);
      return observed({ kind: 'cancelled', moneyElsewhere: there.length > 0 });
    },
    ...presented,
  });
}

/** The transfers to the payment's addresses, mined or not, in any token. Read under the payment's lock. */
async function transfersOf({ id }: Payment, trx: Trx): Promise<readonly Transfer[]> {
  const transfers = (await findTransfers(trx, [id])).get(id) ?? [];
  return transfers.filter(({ state }) => state !== 'dropped');
}

/**
 * Accepts the confirmed money as full payment: the merchant's answer to underpaid and late payments. Money that was
 * refunded or promised as a refund does not count. Refused if the present amounts differ from `shown`, and for a part
 * of a payment request.
 */
export function acceptPayment(
  app: App,
  selector: PaymentSelector,
  { shown = null, ...presented }: Partial<Presented> & { readonly shown?: MoneyShown | null } = {},
): Promise<ChangeOutcome> {
  return changePayment<RefusedChange>(app, {
    selector,
    action: 'payment.accept',
    decide: async (payment, trx) => {
      if (await countsAsPart(trx, payment)) return { kind: 'refused', reason: 'counts_as_part', payment };
      const refunded = payment.quote === null ? 0n : (await refundedMoney(trx, payment.id, payment.quote)).units;
      const { confirmedUnits } = payment.received.all;
      if (shown !== null && (shown.confirmedUnits !== confirmedUnits || shown.refundedUnits !== refunded)) {
        return { kind: 'refused', reason: 'money_changed', payment };
      }
      return observed({ kind: 'accepted', refundedUnits: refunded });
    },
    ...presented,
  });
}

/**
 * Whether the confirmed money of a payment is less than it asks for, and counts for a request that is paid in parts.
 * Accepting it as the whole would count it twice: the next invoice asks for the rest.
 */
export async function countsAsPart(executor: Database | Trx, payment: Payment): Promise<boolean> {
  const { status, quote, received, paymentRequestId: id } = payment;
  const { confirmedUnits } = received.all;
  if (id === null || quote === null || status === 'completed') return false;
  if (confirmedUnits === 0n || confirmedUnits >= requiredUnits(quote)) return false;
  const request = await findRequest(executor, { id });
  return request !== null && isInParts(request);
}

/**
 * Chooses the token of a transaction, or another one while no money was seen, at most `MAX_TOKEN_CHANGES` times: makes
 * a quote and issues an address. If the payment already has an address on the network, the new quote uses it again. If
 * money came in a token that was not chosen, only that token can be chosen, and then the money counts.
 */
export function selectToken(
  app: App,
  selector: PaymentSelector,
  wanted: { readonly asset: string; readonly network: string | null },
): Promise<ChangeOutcome<TokenRefusal>> {
  return changePayment<TokenRefusal | RefusedChange>(app, {
    selector,
    action: 'payment.token',
    decide: async (payment, trx, now) => {
      // Counted under the payment's lock.
      const changes = await countTokenChanges(trx, payment.id);
      const reason = tokenRefusal(payment, changes, now);
      if (reason !== null) return { kind: 'refused', reason, payment };
      const rail = app.railFor(payment.mode);
      const choice = await chooseToken(rail, payment.projectId, wanted.asset, wanted.network, {
        coins: payment.coins,
        trx,
      });
      if (choice.kind !== 'ok') return choice;
      return chosen(app, rail, { payment, changes }, choice.token, trx, now);
    },
  });
}

async function chosen(
  app: App,
  rail: Rail,
  { payment, changes }: { readonly payment: Payment; readonly changes: number },
  token: Token,
  trx: Trx,
  now: number,
): Promise<Decision | TokenRefusal> {
  const held = payment.quote === null ? null : await rail.held(payment, token, trx);
  const quoted = await quotePayment(rail, payment, token, trx, held);
  if (quoted.kind !== 'ok') return quoted;
  const { quote, wallet } = quoted;
  const there = await transfersOf(payment, trx);
  const choice: Observation = { kind: 'token_chosen', quote, changes, moneyIn: there };
  const money: Observation = { kind: 'money', received: sumTransfers(quote, there, inTimeUntil(payment)) };
  const observations = there.length === 0 ? [choice] : [choice, money];
  if (wallet === null) return { kind: 'observed', observations };
  const address = issuedAddress(app, payment, quote, wallet, now);
  if (held === null) return { kind: 'observed', observations, address };
  await saveQuoteAgain(trx, address);
  return { kind: 'observed', observations };
}

/** A sandbox-only action was requested for a live payment. */
export interface NotSandbox {
  readonly kind: 'not_sandbox';
}

/** Completes a test payment at once, as its timer would: only `order.completed` is sent. */
export function completeSandboxPayment(
  app: App,
  selector: PaymentSelector,
  presented?: Presented,
): Promise<ChangeOutcome<TokenRefusal | NotSandbox>> {
  const decide: Parameters<typeof changeInSandbox>[3] = async (rail, payment, trx, now) => {
    const known = (await findTransfers(trx, [payment.id])).get(payment.id) ?? [];
    const settled = await settle(rail, payment, known, now, trx);
    if (settled.kind !== 'settled') return settled;
    if (isOpen(payment.status)) {
      const transfer = { paymentId: payment.id, transfer: settled.transfer, blockHash: null };
      await saveTransfers(trx, [transfer], receiptPrices(rail, now));
    }
    return observed({ ...settled.observation, byHand: true });
  };
  return changeInSandbox(app, selector, 'payment.complete', decide, presented);
}

/** Makes a change that only the sandbox's rail allows. */
export function changeInSandbox(
  app: App,
  selector: PaymentSelector,
  action: string,
  decide: (
    rail: SandboxRail,
    payment: Payment,
    trx: Trx,
    now: number,
  ) => Promise<Decision | RefusedChange | TokenRefusal | NotSandbox>,
  presented?: Presented,
): Promise<ChangeOutcome<TokenRefusal | NotSandbox>> {
  return changePayment<RefusedChange | TokenRefusal | NotSandbox>(app, {
    selector,
    action,
    ...presented,
    decide: (payment, trx, now) => {
      const rail = app.railFor(payment.mode);
      return rail.kind === 'sandbox' ? decide(rail, payment, trx, now) : { kind: 'not_sandbox' };
    },
  });
}

/** Pays a sandbox payment in full: in the chosen token, or in the first one whose minimum the amount reaches. */
export async function settle(
  rail: Rail,
  payment: Payment,
  known: readonly Transfer[],
  now: number,
  trx: Trx,
): Promise<
  | {
      readonly kind: 'settled';
      readonly observation: Observation & { readonly kind: 'settled' };
      readonly transfer: Transfer;
    }
  | TokenRefusal
  | NotSandbox
> {
  if (rail.kind !== 'sandbox') return { kind: 'not_sandbox' };
  const quote = payment.quote ?? (await firstQuote(rail, payment, trx));
  if ('kind' in quote) return quote;
  const missing = quote.owedUnits - payment.received.all.seenUnits;
  // If the service was down when the timer ran out, the payment is still paid in time.
  const firstSeenAt = Math.min(now, payment.completesAt ?? now);
  const step = { amountUnits: missing, earlier: known.length, firstSeenAt, state: 'confirmed' } as const;
  const transfer = rail.simulate({ ...payment, quote }, step);
  const received = sumTransfers(quote, [...known, transfer], inTimeUntil(payment));
  return { kind: 'settled', observation: { kind: 'settled', quote, received }, transfer };
}

/** A quote in the first of these tokens, by default the project's, whose minimum the amount reaches. */
export async function firstQuote(
  rail: Rail,
  payment: Payment,
  trx: Trx,
  isWanted: (token: Token) => boolean = () => true,
): Promise<Quote | TokenRefusal> {
  let refusal: TokenRefusal = { kind: 'refused', param: 'crypto_currency', message: 'No token is enabled.' };
  const tokens = (await rail.tokens(payment.projectId, trx)).filter((token) => isPayableIn(payment.coins, token));
  for (const token of tokens.filter(isWanted)) {
    const quoted = await quotePayment(rail, payment, token, trx);
    if (quoted.kind === 'ok') return quoted.quote;
    refusal = quoted;
  }
  return refusal;
}

/** A decision that consists of these observations only. */
export function observed(...observations: readonly Observation[]): Decision {
  return { kind: 'observed', observations };
}
