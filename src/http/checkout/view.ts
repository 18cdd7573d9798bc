import type { AssetCode, Network } from '../../domain/asset.ts';
import type { Fiat } from '../../domain/money.ts';
import type { Exception, FailureReason } from '../../domain/payment.ts';

/**
 * What the payment page shows, as plain values. Times are epoch milliseconds, amounts of crypto are in the token's
 * smallest units. There is no field for a customer's name or e-mail: whoever has the link sees the page.
 */
export interface PaymentView {
  /** As it stands in `/pay/<id>`: a UUID or `ord_…`; given to the shop as `payment_id`. */
  readonly paymentId: string;
  /** Null in live mode. */
  readonly test: TestProgress | null;
  readonly projectName: string;
  readonly description: string | null;
  /** `TXN-…`; transactions only. */
  readonly transactionNumber: string | null;
  readonly merchantOrderId: string | null;
  readonly amountMinor: bigint;
  readonly currency: Fiat;
  readonly successUrl: string | null;
  readonly cancelUrl: string | null;
  /** Until when a payment counts as in time. */
  readonly payUntilAt: number;
  readonly now: number;
  readonly step: Step;
  /** Why the customer's last action was refused; the page is then sent with an error status. */
  readonly notice: Notice | null;
  /** False once the customer switched off that the page reloads itself (`?refresh=off`). */
  readonly autoRefresh: boolean;
}

/** What a test payment does by itself: nothing happens on a chain, so the page must say it. */
export type TestProgress =
  | { readonly kind: 'completes'; readonly at: number }
  | { readonly kind: 'expires'; readonly at: number }
  /** Its timer was stopped in the middle; it goes on when somebody simulates the next step. */
  | { readonly kind: 'by_hand' }
  | { readonly kind: 'ended' };

/** Where the payment is, with what that step's card needs. */
export type Step =
  | ChooseStep
  /** No token can be offered: a live project without a wallet. */
  | { readonly kind: 'unavailable'; readonly canCancel: boolean }
  | PayStep
  /** Time is up, but the chain was not read up to that moment yet: paying now would be too late. */
  | { readonly kind: 'checking' }
  /** The full amount is in the mempool. */
  | ({ readonly kind: 'detected' } & PaidFacts)
  | ({ readonly kind: 'confirming'; readonly confirmations: Confirmations | null } & PaidFacts)
  | CompletedStep
  | ClosedStep;

export interface TokenChoice {
  readonly asset: AssetCode;
  readonly network: Network;
}

export interface ChooseStep {
  readonly kind: 'choose';
  /** Most popular first; the networks of one asset follow each other. Not empty. */
  readonly tokens: readonly TokenChoice[];
  /** The token to go back to, when the customer came here to choose another. */
  readonly current: TokenChoice | null;
  readonly canCancel: boolean;
}

export interface PayStep {
  readonly kind: 'pay';
  readonly quote: QuoteView;
  /** What came in so far, 0 or a part. */
  readonly receivedUnits: bigint;
  /** What is still to be sent: `owed - received`, but never less than the network carries. */
  readonly missingUnits: bigint;
  /** For `missingUnits`, as wallets read it; null where the token has none. */
  readonly paymentUri: string | null;
  readonly canChangeToken: boolean;
  readonly canCancel: boolean;
}

export interface QuoteView extends TokenChoice {
  readonly decimals: number;
  readonly owedUnits: bigint;
  readonly address: string;
}

export interface PaidFacts {
  readonly quote: QuoteView;
  readonly receivedUnits: bigint;
  readonly transactionHash: string | null;
}

export interface Confirmations {
  readonly have: number;
  readonly need: number;
}

export interface CompletedStep {
  readonly kind: 'completed';
  readonly completedAt: number;
  readonly exception: Exception;
  readonly quote: QuoteView | null;
  readonly receivedUnits: bigint;
  readonly transactionHash: string | null;
}

/** It ended without being paid in full and in time. */
export interface ClosedStep {
  readonly kind: 'closed';
  readonly outcome: 'expired' | 'cancelled' | FailureReason;
  /** The full amount arrived, but after the end. */
  readonly paidLate: boolean;
  readonly quote: QuoteView | null;
  readonly receivedUnits: bigint;
  readonly transactionHash: string | null;
}

/** Why an action was refused: a code, never a text from the address bar. */
export const NOTICES = [
  'money_seen',
  'not_open',
  'expired',
  'token_unavailable',
  'amount_too_small',
  'price_unavailable',
] as const;
export type Notice = (typeof NOTICES)[number];

/** A page about no payment at all. */
export type ProblemView =
  | { readonly kind: 'unknown_payment' }
  | { readonly kind: 'unknown_refund' }
  | { readonly kind: 'too_many_requests'; readonly retryAfterSeconds: number; readonly retryPath: string }
  /** `retryPath` is the page to try again: an own path that answers GET. */
  | { readonly kind: 'trouble'; readonly retryPath: string };

/** The page where a customer says where a refund shall go. */
export interface RefundView {
  /** The page's own path; the form is posted to it, with the field `address`. */
  readonly claimPath: string;
  readonly mode: 'test' | 'live';
  readonly projectName: string;
  readonly amountMinor: bigint;
  readonly currency: Fiat;
  readonly asset: AssetCode;
  readonly network: Network;
  readonly decimals: number;
  readonly units: bigint;
  readonly now: number;
  readonly step: RefundStep;
}

export type RefundStep =
  /** `typed` is what the customer sent before; `problem` says what is wrong with it. */
  | { readonly kind: 'form'; readonly typed: string; readonly problem: string | null }
  | { readonly kind: 'waiting'; readonly address: string }
  | {
      readonly kind: 'completed';
      readonly address: string;
      readonly transactionHash: string | null;
      readonly completedAt: number;
    }
  | { readonly kind: 'failed' };

/** A finished page. */
export interface Page {
  readonly status: number;
  readonly html: string;
}
