import type { AssetCode } from './asset-code.ts';
import type { Network } from './networks.ts';
import type { Fiat } from './money.ts';
import type { Mode } from './permission.ts';
import type { PaymentStatus } from './status.ts';

/** Irregularities of a payment, beside its status. Where several apply, the first in this list wins. */
export const EXCEPTIONS = ['reorged', 'paid_late', 'underpaid', 'overpaid', 'none'] as const;
export type Exception = (typeof EXCEPTIONS)[number];

/** Why a payment failed: only a part came before it expired, or its money never confirmed in the monitoring window. */
export type FailureReason = 'underpaid' | 'unconfirmed';

/** The APIs that create payments. Only the creating API can read a payment by id. */
export const PAYMENT_APIS = ['transaction', 'order', 'invoice'] as const;
export type PaymentApi = (typeof PAYMENT_APIS)[number];

/** The amount that the customer has to pay, fixed when the token is chosen. Amounts in the token's smallest units. */
export interface Quote {
  readonly asset: AssetCode;
  readonly network: Network;
  readonly decimals: number;
  readonly owedUnits: bigint;
  /** How much less than owed still counts as paid, and how much more is not yet an overpayment. */
  readonly toleranceUnits: bigint;
  readonly address: string;
}

/**
 * Money on a payment's current quote. `seen` includes the mempool, `mined` is in a block, `confirmed` has enough
 * confirmations.
 */
export interface Sums {
  readonly seenUnits: bigint;
  readonly minedUnits: bigint;
  readonly confirmedUnits: bigint;
}

/** All money on the current quote, the part that came in time, and the transfer that decided the payment. */
export interface Received {
  readonly all: Sums;
  readonly inTime: Sums;
  /**
   * Hash of the transfer that completed the amount, or of the latest one if the amount is not reached; null without
   * any.
   */
  readonly transactionHash: string | null;
}

/** The confirmations of a payment's money. */
export interface Confirmations {
  /** Confirmations of the newest mined transfer; 0 while nothing is mined. */
  readonly have: number;
  /** The number required when the address was handed out. */
  readonly need: number;
}

/** One transfer to one of the payment's addresses, in its latest known state. */
export interface Transfer {
  readonly network: Network;
  readonly transactionHash: string;
  /** Log index or output index; distinguishes several transfers of one transaction. */
  readonly index: number;
  readonly address: string;
  /** The asset that arrived, which may differ from the one quoted. */
  readonly asset: AssetCode;
  readonly amountUnits: bigint;
  readonly firstSeenAt: number;
  /** Timestamp of its block; null while unmined. */
  readonly blockAt: number | null;
  readonly blockHeight: number | null;
  /** Its position among the transfers of its block, from 0; null if unmined, or if the block does not list it. */
  readonly blockPosition: number | null;
  /** `dropped`: replaced, double-spent or reorganised away. It does not count unless it comes back. */
  readonly state: 'seen' | 'mined' | 'confirmed' | 'dropped';
}

/** Fields that a merchant sets under the same name in both APIs. */
export interface CommonFields {
  readonly metadata: Readonly<Record<string, string>>;
}

/** All optional fields that a merchant may set for a payment. */
export interface MerchantFields extends CommonFields {
  /** The merchant's own reference. */
  readonly merchantOrderId: string | null;
  readonly description: string | null;
  readonly customerEmail: string | null;
  /** Not of orders. */
  readonly customerName: string | null;
  readonly successUrl: string | null;
  readonly cancelUrl: string | null;
  /** The assets (`BTC`) and coins (`USDT/polygon`) that its customer may choose; null: all that the project offers. */
  readonly coins: readonly string[] | null;
  /** The request that it pays; null if it stands alone. */
  readonly paymentRequestId: string | null;
  /** The JSON objects that a shop's plugin sent with its invoice, as texts; null: no plugin made it. */
  readonly shopMetadata: string | null;
  readonly shopCheckout: string | null;
}

/** The fields of a payment for which the merchant set none. */
export const NO_MERCHANT_FIELDS: MerchantFields = {
  merchantOrderId: null,
  description: null,
  customerEmail: null,
  customerName: null,
  successUrl: null,
  cancelUrl: null,
  coins: null,
  paymentRequestId: null,
  shopMetadata: null,
  shopCheckout: null,
  metadata: {},
};

/** The aggregate that all APIs present. Times in epoch milliseconds. */
export interface Payment extends MerchantFields {
  readonly id: string;
  readonly projectId: string;
  readonly mode: Mode;
  readonly api: PaymentApi;
  readonly status: PaymentStatus;
  readonly exception: Exception;
  readonly failureReason: FailureReason | null;
  /** `TXN-<year>-<sequence>`; Transaction API only. */
  readonly transactionNumber: string | null;

  readonly amountMinor: bigint;
  readonly currency: Fiat;
  /** The amount in USD at the rate of its creation, for statistics. */
  readonly amountUsdCents: bigint;

  readonly quote: Quote | null;
  readonly received: Received;
  /** Hash of the transaction that completed it. */
  readonly transactionHash: string | null;
  /** How much confirmed money the completion was based on; if later blocks contain less, the chain was reorganised. */
  readonly completedOnUnits: bigint | null;

  readonly createdAt: number;
  readonly expiresAt: number;
  /** Set when a payment lost its money after expiry: until then a replacement still counts as in time. */
  readonly graceUntil: number | null;
  readonly completedAt: number | null;
  readonly cancelledAt: number | null;
  /** Whether a person ended it: accepted, completed or cancelled it; null: no. */
  readonly endedByHand: boolean | null;
  /**
   * When the sandbox completes the payment, or moves seen money one stage further; null in live mode and once the timer
   * was stopped.
   */
  readonly completesAt: number | null;
  /** Whether the event of its step `confirming` was made; it is made only once. */
  readonly confirmingSent: boolean;
  /** Sequence number of the payment's newest event; events count from 1. */
  readonly lastSequence: number;
}

export const NO_SUMS: Sums = { seenUnits: 0n, minedUnits: 0n, confirmedUnits: 0n };
export const NO_MONEY: Received = { all: NO_SUMS, inTime: NO_SUMS, transactionHash: null };

/** The fields that are known when a payment is created. */
export type FirstFacts =
  | 'id'
  | 'projectId'
  | 'mode'
  | 'api'
  | 'amountMinor'
  | 'currency'
  | 'amountUsdCents'
  | 'createdAt'
  | 'expiresAt';

/** A payment to which nothing has happened yet. */
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
    endedByHand: null,
    completesAt: null,
    confirmingSent: false,
    lastSequence: 0,
    ...facts,
  };
}

/** The time until which money counts as in time: expiry, the end of the grace period, or the cancellation. */
export function inTimeUntil(payment: Pick<Payment, 'expiresAt' | 'graceUntil' | 'cancelledAt'>): number {
  return payment.cancelledAt ?? payment.graceUntil ?? payment.expiresAt;
}

/** The smallest amount that counts as paid in full. */
export function requiredUnits(quote: Quote): bigint {
  return quote.owedUnits - quote.toleranceUnits;
}

/** Whether two quotes are the same. One address may have been quoted several times, for several tokens or prices. */
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

/** The prefix of the replacement for an unknown transaction hash. */
export const UNTRACED = 'untraced:';
/** Replaces a transaction hash when money is there but no node could show its transaction. */
export function untracedHash(what: string): string {
  return `${UNTRACED}${what}`;
}

/** The hash of a transfer's transaction; null if no node could show the transaction. */
export function tracedHash(hash: string): string | null {
  return hash.startsWith(UNTRACED) ? null : hash;
}
