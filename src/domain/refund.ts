import { pow10, type Fiat } from './money.ts';
import type { AssetCode } from './asset-code.ts';
import type { Network } from './networks.ts';
import type { Payment, PaymentApi } from './payment.ts';
import type { Mode } from './permission.ts';

export const REFUND_STATUSES = ['pending', 'completed', 'failed'] as const;
export type RefundStatus = (typeof REFUND_STATUSES)[number];

/**
 * Why a refund failed: the merchant cancelled it, it was not paid within 7 days, or the sandbox was asked to fail it.
 */
export type RefundFailure = 'cancelled' | 'unpaid' | 'test_failure';

/** An instruction to pay money back from the merchant's own wallet. Times in epoch milliseconds. */
export interface Refund {
  readonly id: string;
  readonly projectId: string;
  readonly mode: Mode;
  readonly paymentId: string;
  readonly paymentApi: PaymentApi;
  readonly status: RefundStatus;
  /** The amount in the payment's currency, at the locked quote. */
  readonly amountMinor: bigint;
  readonly currency: Fiat;
  readonly asset: AssetCode;
  readonly network: Network;
  readonly decimals: number;
  readonly units: bigint;
  /** The address to pay to; null until the customer enters one on the claim page. */
  readonly address: string | null;
  readonly reason: string | null;
  readonly failureReason: RefundFailure | null;
  readonly transactionHash: string | null;
  readonly createdAt: number;
  readonly completedAt: number | null;
  readonly dueAt: number | null;
}

/** The sandbox completes a refund 10 seconds after it has an address. */
export const SANDBOX_REFUND_MS = 10_000;
/** A refund that is not paid within 7 days fails, even if its customer gave no address. */
export const REFUND_LIFETIME_MS = 7 * 24 * 60 * 60_000;

export type RefundObservation =
  /** `paidAt`: when the block that confirmed it came; null if unknown, by default now. */
  | { readonly kind: 'paid'; readonly transactionHash: string; readonly paidAt?: number | null }
  /** A reorganisation removed its payout from the chain. `lifetimeMs`: the time for another one, by default 7 days. */
  | { readonly kind: 'taken_back'; readonly lifetimeMs?: number }
  | { readonly kind: 'failed'; readonly reason: RefundFailure };

/**
 * Applies an observation to a refund. A pending one completes or fails; a completed one whose payout was reorganised
 * away becomes pending again, with its full time. A failed one never changes again.
 */
export function refundTransition(
  refund: Refund,
  observation: RefundObservation,
  now: number,
): { readonly kind: 'changed'; readonly refund: Refund } | { readonly kind: 'refused' } {
  const changed = (facts: Partial<Refund>) => ({ kind: 'changed', refund: { ...refund, ...facts } }) as const;
  if (refund.status !== (observation.kind === 'taken_back' ? 'completed' : 'pending')) return { kind: 'refused' };
  switch (observation.kind) {
    case 'paid': {
      const { transactionHash } = observation;
      return changed({ status: 'completed', transactionHash, completedAt: now, dueAt: null });
    }
    case 'taken_back': {
      const dueAt = now + (observation.lifetimeMs ?? REFUND_LIFETIME_MS);
      return changed({ status: 'pending', transactionHash: null, completedAt: null, dueAt });
    }
    case 'failed':
      return changed({ status: 'failed', failureReason: observation.reason, dueAt: null });
  }
}

/** Refund amounts in JSON have at most this many decimals, which every reader can hold exactly. */
const REFUND_DECIMALS = 8;

function stepOf(decimals: number): bigint {
  return pow10(Math.max(0, decimals - REFUND_DECIMALS));
}

/** The money on a payment's current quote that its pending and completed refunds took. */
export interface RefundedMoney {
  readonly units: bigint;
  /** The sum of their stated amounts in the payment's currency. */
  readonly amountMinor: bigint;
}

export const NOTHING_REFUNDED: RefundedMoney = { units: 0n, amountMinor: 0n };

/**
 * How many units of a payment can still be refunded: confirmed money less what refunds already took. Rounded down to
 * the eighth decimal, because smaller amounts cannot be stated and are worth next to nothing.
 */
export function refundableUnits(payment: Payment, taken: RefundedMoney): bigint {
  const left = payment.received.all.confirmedUnits - taken.units;
  const step = stepOf(payment.quote?.decimals ?? 0);
  return left > 0n ? (left / step) * step : 0n;
}

/**
 * The size of a refund at the payment's locked quote, rounded down by less than one unit: the refunds can never exceed
 * the received money, neither in units nor in the sum of their stated amounts. Without an amount: everything that is
 * left.
 */
export function sizeRefund(
  payment: Payment,
  taken: RefundedMoney,
  wanted: { readonly amountMinor: bigint } | { readonly units: bigint } | null,
):
  | { readonly kind: 'ok'; readonly amountMinor: bigint; readonly units: bigint }
  | { readonly kind: 'too_much'; readonly leftUnits: bigint; readonly leftMinor: bigint }
  | { readonly kind: 'nothing_left' }
  | { readonly kind: 'too_little' } {
  const { quote } = payment;
  const leftUnits = refundableUnits(payment, taken);
  if (quote === null || leftUnits === 0n) return { kind: 'nothing_left' };
  const minorOf = (units: bigint): bigint => (units * payment.amountMinor) / quote.owedUnits;
  // Units are rounded down but amounts are kept as asked, so many small refunds state more than their units are worth.
  const unclaimed = minorOf(payment.received.all.confirmedUnits) - taken.amountMinor;
  const most = (minor: bigint): bigint => (minor < unclaimed ? minor : unclaimed > 0n ? unclaimed : 0n);
  const step = stepOf(quote.decimals);
  const unitsOf = (minor: bigint): bigint => ((minor * quote.owedUnits) / payment.amountMinor / step) * step;
  const units = wanted === null ? leftUnits : 'units' in wanted ? wanted.units : unitsOf(wanted.amountMinor);
  const amountMinor = wanted !== null && 'amountMinor' in wanted ? wanted.amountMinor : most(minorOf(units));
  if (units > leftUnits || amountMinor > most(amountMinor)) {
    return { kind: 'too_much', leftUnits, leftMinor: most(minorOf(leftUnits)) };
  }
  return units === 0n ? { kind: 'too_little' } : { kind: 'ok', units, amountMinor };
}
