import type { Fiat } from './money.ts';
import type { Mode } from './permission.ts';

/** `open` takes payments, `paid` has all that it asked for, `closed` was ended by hand, `expired` by its date. */
export const REQUEST_STATUSES = ['open', 'paid', 'closed', 'expired'] as const;
export type RequestStatus = (typeof REQUEST_STATUSES)[number];

/** The most payments that a request can be limited to. */
export const MAX_PAYMENTS = 100_000;

/** A merchant's request for money. It has no price: each payment is an invoice at the price of its moment. */
export interface PaymentRequest {
  readonly id: string;
  readonly projectId: string;
  readonly mode: Mode;
  readonly status: RequestStatus;
  readonly title: string;
  readonly description: string | null;
  /** The merchant's own. */
  readonly reference: string | null;
  /** In minor units of the currency; null: the payer types it, within the bounds. */
  readonly amountMinor: bigint | null;
  readonly minAmountMinor: bigint | null;
  readonly maxAmountMinor: bigint | null;
  readonly currency: Fiat;
  /** 1: the amount once, in parts if need be. Null: as often as people like. */
  readonly maxPayments: number | null;
  /** The assets and coins that payers choose from, like a payment's. */
  readonly coins: readonly string[] | null;
  readonly successUrl: string | null;
  readonly askEmail: boolean;
  readonly askName: boolean;
  readonly askNote: boolean;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly endedAt: number | null;
  /** The sum and the number of payments that its last event told of. */
  readonly toldMinor: bigint;
  readonly toldPayments: number;
  readonly lastSequence: number;
}

/** The money of a request's invoices, in minor units of its currency, each at the rate of its own quote. */
export interface RequestSums {
  /** Confirmed money. */
  readonly paidMinor: bigint;
  /** Money that was seen and is not confirmed yet; without that of failed invoices, which may never be confirmed. */
  readonly pendingMinor: bigint;
  /** Completed refunds. */
  readonly refundedMinor: bigint;
  /** Completed invoices. */
  readonly payments: number;
  /** Invoices that take the place of a payment: completed ones, and those that are being paid or can be. */
  readonly taken: number;
}

export const NO_REQUEST_SUMS: RequestSums = {
  paidMinor: 0n,
  pendingMinor: 0n,
  refundedMinor: 0n,
  payments: 0,
  taken: 0,
};

/** Whether the amount is asked for once, so that what one payment leaves the next one can pay. */
export function isInParts({ amountMinor, maxPayments }: PaymentRequest): boolean {
  return amountMinor !== null && maxPayments === 1;
}

/** Whether a request has all that it asked for. */
export function isPaid(request: PaymentRequest, { paidMinor, payments }: RequestSums): boolean {
  if (isInParts(request)) return paidMinor >= (request.amountMinor ?? 0n);
  return request.maxPayments !== null && payments >= request.maxPayments;
}

/** The amount left to pay, of a request whose amount is asked for once; null of others. Not below 0. */
export function leftMinor(request: PaymentRequest, { paidMinor, pendingMinor }: RequestSums): bigint | null {
  if (request.amountMinor === null || !isInParts(request)) return null;
  const left = request.amountMinor - paidMinor - pendingMinor;
  return left > 0n ? left : 0n;
}

/** Whether a request takes payments at a time. */
export function takesPayments({ status, expiresAt }: PaymentRequest, now: number): boolean {
  return status === 'open' && (expiresAt === null || now < expiresAt);
}

/** A change of a request that its merchant hears of. */
export type RequestStep = 'paid' | 'part' | 'closed';

/**
 * The request as its invoices leave it, and what to tell of it. A sum that grew is told of once; one that shrank,
 * because a chain was reorganised, is not: the invoice's own events tell of it. A request that has ended becomes paid
 * if late money makes up its sum.
 */
export function settled(
  request: PaymentRequest,
  sums: RequestSums,
  now: number,
): { readonly request: PaymentRequest; readonly steps: readonly RequestStep[] } {
  const grew = sums.paidMinor > request.toldMinor || sums.payments > request.toldPayments;
  const told = { ...request, toldMinor: sums.paidMinor, toldPayments: sums.payments };
  if (request.status !== 'paid' && isPaid(request, sums)) {
    return { request: { ...told, status: 'paid', endedAt: now }, steps: ['paid'] };
  }
  const part: readonly RequestStep[] = grew ? ['part'] : [];
  const isOver = request.status === 'open' && !takesPayments(request, now);
  if (!isOver) return { request: told, steps: part };
  return { request: { ...told, status: 'expired', endedAt: now }, steps: [...part, 'closed'] };
}
