import type { AssetCode } from './asset.ts';
import type { Network } from './networks.ts';
import type { Fiat } from './money.ts';
import type { Mode } from './permission.ts';
import type { PaymentStatus } from './status.ts';

/** What is unusual about a payment, beside its status; the strongest holds, in the order of this list. */
export const EXCEPTIONS = ['reorged', 'paid_late', 'underpaid', 'overpaid', 'none'] as const;
export type Exception = (typeof EXCEPTIONS)[number];

/** Why a payment failed: part of the amount at expiry, or never confirmed within the monitoring window. */
export type FailureReason = 'underpaid' | 'unconfirmed';

/** Which API made the payment; it is read by id only through that one. */
export const SURFACES = ['transaction', 'order'] as const;
export type Surface = (typeof SURFACES)[number];

/** What the customer pays: locked when the token is chosen. Amounts in the token's smallest units. */
export interface Quote {
  readonly asset: AssetCode;
  readonly network: Network;
  readonly decimals: number;
  readonly owedUnits: bigint;
  /** How much less than owed still counts as paid, and how much more is no overpayment. */
  readonly toleranceUnits: bigint;
  readonly address: string;
}

/** Money on a payment's current quote. `seen` includes the mempool, `mined` is in a block, `confirmed` deep enough. */
export interface Sums {
  readonly seenUnits: bigint;
  readonly minedUnits: bigint;
  readonly confirmedUnits: bigint;
}

/** All money on the current quote, the part of it that came in time, and the transfer that decided. */
export interface Received {
  readonly all: Sums;
  readonly inTime: Sums;
  /** Hash of the transfer that reached the amount, else of the latest one; null without any. */
  readonly transactionHash: string | null;
}

/** How deep a payment's money is. */
export interface Confirmations {
  /** Of the newest transfer that is in a block; 0 while none is. */
  readonly have: number;
  /** What was asked for when the address was handed out. */
  readonly need: number;
}

/** One transfer to one of the payment's addresses, as the rail knows it now. */
export interface Transfer {
  readonly network: Network;
  readonly transactionHash: string;
  /** Log index or output number; tells apart several transfers of one transaction. */
  readonly index: number;
  readonly address: string;
  /** What arrived, which need not be what was asked for. */
  readonly asset: AssetCode;
  readonly amountUnits: bigint;
  readonly firstSeenAt: number;
  /** Time of the block it is in; null while it is in none. */
  readonly blockAt: number | null;
  readonly blockHeight: number | null;
  /** Its place among the transfers of its block, from 0; null where it is in none, or the block does not list it. */
  readonly blockPosition: number | null;
  /** `dropped`: replaced, double-spent or reorganised away; it counts for nothing until it comes back. */
  readonly state: 'seen' | 'mined' | 'confirmed' | 'dropped';
}

/** What a merchant says of a payment under one name on both APIs. */
export interface CommonFields {
  readonly metadata: Readonly<Record<string, string>>;
}

/** All that a merchant may say of a payment and may leave unsaid. */
export interface MerchantFields extends CommonFields {
  /** The merchant's own reference. */
  readonly merchantOrderId: string | null;
  readonly description: string | null;
  readonly customerEmail: string | null;
  /** Transactions only. */
  readonly customerName: string | null;
  readonly successUrl: string | null;
  readonly cancelUrl: string | null;
}

/** Of which nothing was said. */
export const NO_MERCHANT_FIELDS: MerchantFields = {
  merchantOrderId: null,
  description: null,
  customerEmail: null,
  customerName: null,
  successUrl: null,
  cancelUrl: null,
  metadata: {},
};

/** The aggregate that both APIs present. Times in epoch milliseconds. */
export interface Payment extends MerchantFields {
  readonly id: string;
  readonly projectId: string;
  readonly mode: Mode;
  readonly surface: Surface;
  readonly status: PaymentStatus;
  readonly exception: Exception;
  readonly failureReason: FailureReason | null;
  /** `TXN-<year>-<sequence>`; transactions only. */
  readonly transactionNumber: string | null;

  readonly amountMinor: bigint;
  readonly currency: Fiat;
  /** The amount at creation's rate, for statistics. */
  readonly amountUsdCents: bigint;

  readonly quote: Quote | null;
  readonly received: Received;
  /** Hash of the payment that completed it. */
  readonly transactionHash: string | null;
  /** How much confirmed money the completion stood on; less than this in blocks later means a reorganisation. */
  readonly completedOnUnits: bigint | null;

  readonly createdAt: number;
  readonly expiresAt: number;
  /** Set when a seen payment was lost after expiry: until then its replacement still counts as in time. */
  readonly graceUntil: number | null;
  readonly completedAt: number | null;
  readonly cancelledAt: number | null;
  /** When the sandbox completes it by itself; null in live mode and once the timer was stopped. */
  readonly completesAt: number | null;
  /** Whether `order.confirming` was sent; it is sent once. */
  readonly confirmingSent: boolean;
  /** Number of the payment's newest event; events count from 1. */
  readonly lastSequence: number;
}

export const NO_SUMS: Sums = { seenUnits: 0n, minedUnits: 0n, confirmedUnits: 0n };
export const NO_MONEY: Received = { all: NO_SUMS, inTime: NO_SUMS, transactionHash: null };

/** What is known of a payment from the start. */
export type FirstFacts =
  | 'id'
  | 'projectId'
  | 'mode'
  | 'surface'
  | 'amountMinor'
  | 'currency'
  | 'amountUsdCents'
  | 'createdAt'
  | 'expiresAt';

/** A payment to which nothing has happened, but for what is said here. */
export function blankPayment(facts: Pick<Payment, FirstFacts> & Partial<Payment>): Payment {
  return {
    ...NO_MERCHANT_FIELDS,
    status: 'created',
    exception: 'none',
    failureReason: null,
    transactionNumber: null,
    quote: null,
    received: NO_MONEY,
    transactionHash: null,
    completedOnUnits: null,
    graceUntil: null,
    completedAt: null,
    cancelledAt: null,
    completesAt: null,
    confirmingSent: false,
    lastSequence: 0,
    ...facts,
  };
}

/** Until when money counts as in time: expiry or its grace, or the moment of cancelling. */
export function inTimeUntil(payment: Pick<Payment, 'expiresAt' | 'graceUntil' | 'cancelledAt'>): number {
  return payment.cancelledAt ?? payment.graceUntil ?? payment.expiresAt;
}

/** The least that counts as paid in full. */
export function requiredUnits(quote: Quote): bigint {
  return quote.owedUnits - quote.toleranceUnits;
}

/** One address may have been quoted several times, for several tokens or at several prices. */
export function sameQuote(a: Quote | null, b: Quote): boolean {
  return (
    a !== null &&
    a.asset === b.asset &&
    a.network === b.network &&
    a.address === b.address &&
    a.owedUnits === b.owedUnits &&
    a.toleranceUnits === b.toleranceUnits
  );
}

const UNTRACED = 'untraced:';

/** In place of a transaction's hash: money that is there, though no node could show which transaction brought it. */
export function untracedHash(what: string): string {
  return `${UNTRACED}${what}`;
}

/** The hash of a transfer's transaction; null where no node could show which it was. */
export function tracedHash(hash: string): string | null {
  return hash.startsWith(UNTRACED) ? null : hash;
}

/**
 * Adds up the transfers of the quote's own asset. In time is a transfer whose earlier of first sight and block time lies
 * before `untilAt`, and never money whose transaction is not known: no payment completes by itself on that. Transfers of
 * other assets never add up and are left to the merchant.
 */
export function tally(quote: Quote, transfers: readonly Transfer[], untilAt: number): Received {
  let all = NO_SUMS;
  let inTime = NO_SUMS;
  const counted = transfers
    .filter((transfer) => transfer.state !== 'dropped')
    .filter((transfer) => transfer.asset === quote.asset && transfer.network === quote.network)
    .toSorted(compareArrival);
  for (const transfer of counted) {
    all = plus(all, transfer);
    if (tracedHash(transfer.transactionHash) === null) continue;
    if (earliest(transfer) < untilAt) inTime = plus(inTime, transfer);
  }
  return { all, inTime, transactionHash: decidingHash(counted, requiredUnits(quote)) };
}

/**
 * The hash of the transfer that reached the amount: among the confirmed ones where these are enough, else among those in
 * blocks, else among all; what only waits may still be replaced. Of the last one where they are not enough.
 */
function decidingHash(counted: readonly Transfer[], required: bigint): string | null {
  const traced = counted.filter(({ transactionHash }) => tracedHash(transactionHash) !== null);
  const confirmed = traced.filter(({ state }) => state === 'confirmed');
  const mined = traced.filter(({ state }) => state !== 'seen');
  for (const some of [confirmed, mined, traced]) {
    let sum = 0n;
    for (const { amountUnits, transactionHash } of some) {
      sum += amountUnits;
      if (sum >= required) return transactionHash;
    }
  }
  return traced.at(-1)?.transactionHash ?? null;
}

const earliest = (transfer: Transfer): number => Math.min(transfer.firstSeenAt, transfer.blockAt ?? Infinity);

/**
 * The order in which transfers came: as they were first seen; those of one moment by their blocks, then by their places there.
 * The hash tells nothing more and only makes it one order, whatever order the rail lists them in. A block's own time is
 * no help: miners round it, and date blocks before transactions that are in them.
 */
function compareArrival(a: Transfer, b: Transfer): number {
  return (
    a.firstSeenAt - b.firstSeenAt ||
    (a.blockHeight ?? LAST) - (b.blockHeight ?? LAST) ||
    (a.blockPosition ?? LAST) - (b.blockPosition ?? LAST) ||
    compareText(a.transactionHash, b.transactionHash)
  );
}

/** What is in no block yet, or not in its list, comes after what is. */
const LAST = Number.MAX_SAFE_INTEGER;

/** By code units. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** The sums with one more transfer, which must not be dropped. */
export function plus(sums: Sums, transfer: Transfer): Sums {
  const amount = transfer.amountUnits;
  const mined = transfer.state === 'mined' || transfer.state === 'confirmed';
  return {
    seenUnits: sums.seenUnits + amount,
    minedUnits: sums.minedUnits + (mined ? amount : 0n),
    confirmedUnits: sums.confirmedUnits + (transfer.state === 'confirmed' ? amount : 0n),
  };
}
