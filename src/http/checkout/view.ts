import type { AssetCode } from '../../domain/asset-code.ts';
import type { Network } from '../../domain/networks.ts';
import type { Fiat } from '../../domain/money.ts';
import type { Exception, FailureReason } from '../../domain/payment.ts';
import type { EvmTransfer } from '../../domain/payment-uri.ts';
import type { Refund } from '../../domain/refund.ts';
import type { Simulation } from '../../domain/simulation.ts';
import type { Locale } from './language/locale.ts';

/** How the page is shown to this visitor, independent of the payment. */
export interface Frame {
  readonly locale: Locale;
  /** Whether the address bar names the language; then the page's links name it too. */
  readonly languageGiven: boolean;
  readonly branding: Branding;
  /** Origin of the shop's page that frames this one, if it is allowed to; null outside a frame. */
  readonly embed: string | null;
  /** False once the customer has disabled automatic reloading (`?refresh=off`). */
  readonly autoRefresh: boolean;
  /** Whether the page reloaded itself while the payment was open: at the end it may continue to the shop. */
  readonly watching: boolean;
}

/** The looks of the pages that a shop can change. */
export interface Branding {
  readonly projectName: string;
  readonly logo: { readonly path: string; readonly width: number; readonly height: number } | null;
  /** The style sheet of the shop's colour; null for the default one. */
  readonly accentPath: string | null;
  /** An https, http or mailto URL. */
  readonly supportUrl: string | null;
  /** The picture of the browser's tab; null for the service's own. */
  readonly iconPath: string | null;
  /** One line of the shop's own text. */
  readonly pageText: string | null;
  /** https URLs. */
  readonly termsUrl: string | null;
  readonly imprintUrl: string | null;
}

/**
 * The content of the payment page as plain values. Times are epoch milliseconds, crypto amounts are in the token's
 * smallest units. There is no field for a customer's name or e-mail, because anybody with the link sees the page.
 */
export interface PaymentView {
  /** The id in `/pay/<id>`: a UUID, `ord_…` or `inv_…`; given to the shop as `payment_id`. */
  readonly paymentId: string;
  /** Changes exactly when the page would look different, for every visitor alike. */
  readonly version: string;
  readonly frame: Frame;
  /** Null in live mode. */
  readonly test: TestProgress | null;
  readonly description: string | null;
  /** `TXN-…`; Transaction API only. */
  readonly transactionNumber: string | null;
  readonly merchantOrderId: string | null;
  readonly amountMinor: bigint;
  readonly currency: Fiat;
  readonly successUrl: string | null;
  readonly cancelUrl: string | null;
  /** Whether the page may return to the shop automatically at the end. */
  readonly returnsToShop: boolean;
  /** The page of the payment request that it pays; null if there is none. */
  readonly requestPath: string | null;
  /** The time until which money counts as in time. */
  readonly payUntilAt: number;
  /** The time until which money that comes after the end is still found. */
  readonly watchedUntilAt: number;
  readonly now: number;
  /**
   * Set if the database does not answer: the shown state was read at `readAt`, in epoch ms, and may have changed since.
   */
  readonly readAt: number | null;
  readonly step: Step;
  readonly refunds: readonly RefundNews[];
  /** Money in tokens other than the requested one that no refund returns. */
  readonly wrongMoney: readonly WrongMoney[];
  /** Why the customer's last action was refused; the page is then sent with an error status. */
  readonly notice: Notice | null;
}

/** A refund of this payment, for anybody with the payment's link. */
export interface RefundNews extends TokenChoice {
  readonly path: string;
  readonly state: 'offered' | 'sending' | 'sent';
  readonly units: bigint;
  readonly decimals: number;
}

/** Money that the payment does not count: another asset, or the right one on another network. */
export interface WrongMoney extends TokenChoice {
  readonly units: bigint;
  readonly decimals: number;
}

/** The steps that a test payment takes automatically: nothing happens on a chain, so the page must announce them. */
export type TestProgress = {
  /** The outcomes that can be simulated now; none once it has ended, as its page asks for nothing any more. */
  readonly simulations: readonly Simulation[];
} & (
  | { readonly kind: 'completes'; readonly at: number }
  | { readonly kind: 'expires'; readonly at: number }
  /** Its money was seen, and advances by one stage at this time. */
  | { readonly kind: 'walks'; readonly at: number }
  /** Its timer was stopped; it continues when somebody simulates the next step. */
  | { readonly kind: 'by_hand' }
  | { readonly kind: 'ended' }
);

/** The payment's step, with the data for that step's card. */
export type Step =
  | ChooseStep
  | UnavailableStep
  | PayStep
  /** The payment has expired, but the chain was not read up to that time yet: paying now would be too late. */
  | { readonly kind: 'checking' }
  /** The full amount is in the mempool. */
  | ({ readonly kind: 'detected' } & PaidFacts)
  | ({ readonly kind: 'confirming'; readonly confirmations: Confirmations | null } & PaidFacts)
  | CompletedStep
  | ClosedStep;

/** Nothing can be paid: the live project has no wallet, or it was deactivated. */
export interface UnavailableStep {
  readonly kind: 'unavailable';
  readonly why: 'no_wallet' | 'inactive';
  readonly canCancel: boolean;
}

export interface TokenChoice {
  readonly asset: AssetCode;
  readonly network: Network;
}

export interface ChooseStep {
  readonly kind: 'choose';
  /** Most popular first, with the networks of one asset together. Not empty. */
  readonly tokens: readonly TokenChoice[];
  /** The token to return to, if the customer came here to choose another one. */
  readonly current: TokenChoice | null;
  readonly canCancel: boolean;
}

export interface PayStep {
  readonly kind: 'pay';
  readonly quote: QuoteView;
  /** The amount that has arrived so far, 0 or a part. */
  readonly receivedUnits: bigint;
  /** The amount still to be sent: `owed - received`, but at least the smallest amount that the network relays. */
  readonly missingUnits: bigint;
  /** A URI for `missingUnits` to the quote's address, for wallets; null if the token has none. */
  readonly paymentUri: string | null;
  /**
   * A URI for a token: it starts with the token's contract, followed by the address, so that a wallet that only reads
   * the beginning would pay the contract. Null for a chain's own coin.
   */
  readonly tokenUri: string | null;
  /** The payment for wallets in the browser; null on networks that are not EVM chains. */
  readonly transfer: EvmTransfer | null;
  readonly canChangeToken: boolean;
  readonly canCancel: boolean;
}

export interface QuoteView extends TokenChoice {
  readonly decimals: number;
  readonly owedUnits: bigint;
  readonly address: string;
  /** The origin of the block explorer that shows its transactions; null in test mode and on test chains. */
  readonly explorer: string | null;
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
  /** The payment was cancelled before the money came, and the shop accepted the money. */
  readonly wasCancelled: boolean;
  readonly quote: QuoteView | null;
  readonly receivedUnits: bigint;
  readonly transactionHash: string | null;
}

/** The payment ended without being paid in full and in time. */
export interface ClosedStep {
  readonly kind: 'closed';
  readonly outcome: 'expired' | 'cancelled' | FailureReason;
  /** When it was cancelled or expired. */
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

/** A page that is not about a payment. */
export type ProblemView =
  | { readonly kind: 'unknown_payment' }
  | { readonly kind: 'unknown_refund' }
  | { readonly kind: 'unknown_request' }
  /** The link of a mail by which a customer would refuse more. */
  | { readonly kind: 'leave_unknown' }
  | { readonly kind: 'too_many_requests'; readonly retryAfterSeconds: number; readonly retryPath: string }
  /** `retryPath` is the page to try again: one of our paths that answers GET. */
  | { readonly kind: 'fault'; readonly retryPath: string };

/** The page where a customer enters the address for a refund. */
export interface RefundView extends Pick<
  Refund,
  'mode' | 'amountMinor' | 'currency' | 'asset' | 'network' | 'decimals' | 'units'
> {
  readonly frame: Frame;
  /** The origin of the block explorer that shows the refund's transaction; null in test mode and on test chains. */
  readonly explorer: string | null;
  readonly merchantOrderId: string | null;
  /** The payment's number or id, as its own page says it. */
  readonly paymentName: string;
  /** The page's own path, to which the form posts the field `address`. */
  readonly claimPath: string;
  readonly now: number;
  readonly step: RefundStep;
}

/** Why an address was not accepted; `not_yours`: it belongs to the shop or is a contract's. */
export type ClaimProblem = 'invalid' | 'not_yours' | 'again';

export type RefundStep =
  /** `typed` is the text that the customer sent before; `problem` is its fault. */
  | { readonly kind: 'form'; readonly typed: string; readonly problem: ClaimProblem | null }
  | { readonly kind: 'waiting'; readonly address: string }
  | {
      readonly kind: 'completed';
      readonly address: string;
      readonly transactionHash: string | null;
      /** Null: a transaction of an unknown time paid it after it had failed. */
      readonly completedAt: number | null;
    }
  | { readonly kind: 'failed' };

/** A finished page. */
export interface Page {
  readonly status: number;
  readonly html: string;
  /** One byte per character. */
  readonly isAscii: boolean;
}
