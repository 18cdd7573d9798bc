import type { AssetCode } from '../../domain/asset.ts';
import type { Network } from '../../domain/networks.ts';
import type { Fiat } from '../../domain/money.ts';
import type { Exception, FailureReason } from '../../domain/payment.ts';
import type { EvmTransfer } from '../../domain/payment-uri.ts';
import type { Refund } from '../../domain/refund.ts';
import type { Locale } from './locale.ts';

/** How the page is shown to this visitor: nothing of it is about the payment itself. */
export interface Frame {
  readonly locale: Locale;
  /** Whether the address bar names the language; the page's links then go on naming it. */
  readonly languageGiven: boolean;
  readonly branding: Branding;
  /** Origin of the shop's page that shows this one in a frame, which has been allowed to; null outside of one. */
  readonly embed: string | null;
  /** False once the customer switched off that the page reloads itself (`?refresh=off`). */
  readonly autoRefresh: boolean;
  /** This page reloaded itself while the payment was open: at the end it may go on to the shop. */
  readonly watching: boolean;
}

/** What a shop makes its own. */
export interface Branding {
  readonly projectName: string;
  readonly logo: { readonly path: string; readonly width: number; readonly height: number } | null;
  /** The style sheet of the shop's colour, or null for the house's. */
  readonly accentPath: string | null;
  /** An https, http or mailto URL. */
  readonly supportUrl: string | null;
}

/**
 * What the payment page shows, as plain values. Times are epoch milliseconds, amounts of crypto are in the token's
 * smallest units. There is no field for a customer's name or e-mail: whoever has the link sees the page.
 */
export interface PaymentView {
  /** As it stands in `/pay/<id>`: a UUID or `ord_…`; given to the shop as `payment_id`. */
  readonly paymentId: string;
  /** Changes exactly when the page would look different, whoever looks. */
  readonly version: string;
  readonly frame: Frame;
  /** Null in live mode. */
  readonly test: TestProgress | null;
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
  readonly refunds: readonly RefundNews[];
  /** Why the customer's last action was refused; the page is then sent with an error status. */
  readonly notice: Notice | null;
}

/** A refund of this payment, for the one who holds the payment's link. */
export interface RefundNews {
  readonly path: string;
  readonly state: 'offered' | 'sending' | 'sent';
  readonly units: bigint;
  readonly decimals: number;
  readonly asset: AssetCode;
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
  /** For `missingUnits`, to the quote's own address, as wallets read it; null where the token has none. */
  readonly paymentUri: string | null;
  /**
   * The same for a token: the URI names its contract first, and the address only after that, so that a wallet which
   * reads but the beginning would pay the contract. Null on a chain's own coin.
   */
  readonly tokenUri: string | null;
  /** The same for wallets in the browser; null on networks that are not EVM chains. */
  readonly transfer: EvmTransfer | null;
  /** Which of the wallet's addresses it is, counted from 0; null where it was not derived. */
  readonly addressIndex: number | null;
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
  /** When it was cancelled, or its time ran out. */
  readonly endedAt: number;
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
  'too_many_changes',
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
export interface RefundView extends Pick<
  Refund,
  'mode' | 'amountMinor' | 'currency' | 'asset' | 'network' | 'decimals' | 'units'
> {
  readonly frame: Frame;
  /** The page's own path; the form is posted to it, with the field `address`. */
  readonly claimPath: string;
  readonly now: number;
  readonly step: RefundStep;
}

/** Why a typed address was not taken; `not_yours`: it is of the shop, or a contract's. */
export type ClaimProblem = 'invalid' | 'not_yours' | 'again';

export type RefundStep =
  /** `typed` is what the customer sent before; `problem` says what became of it. */
  | { readonly kind: 'form'; readonly typed: string; readonly problem: ClaimProblem | null }
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
  /** One byte a character. */
  readonly isAscii: boolean;
}
