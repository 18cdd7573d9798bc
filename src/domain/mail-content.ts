import type { AttentionKind } from './attention.ts';
import type { Fiat } from './money.ts';
import type { Network } from './networks.ts';
import type { MailLanguage } from './notification.ts';
import type { RefundFailure } from './refund.ts';
import type { Role } from './role.ts';

/**
 * The content of a mail, stored until it is sent. Times in epoch milliseconds, amounts as decimal text. It never
 * contains a secret: links that sign somebody in are made when the mail is sent.
 */
export type MailContent =
  | {
      readonly kind: 'invitation';
      /** An e-mail address; null: a person at the command line. */
      readonly by: string | null;
      readonly role: Role;
      /** The project's name; null: all projects. */
      readonly project: string | null;
      /** The language of the inviting person; null: unknown. */
      readonly language: MailLanguage | null;
    }
  /** Asks a new address to confirm that it is the person's. */
  | { readonly kind: 'email'; readonly address: string }
  | {
      readonly kind: 'account';
      /** The address that the account had before the change. */
      readonly address: string;
      readonly change: AccountChange;
      /** An e-mail address; null: a person at the command line. */
      readonly by: string | null;
      readonly ip: string | null;
      readonly at: number;
      /** The new address, a passkey's name or a browser. */
      readonly detail: string | null;
    }
  | {
      readonly kind: 'wallet_changed';
      readonly project: Named;
      readonly network: Network;
      readonly by: string;
      readonly ip: string | null;
      readonly at: number;
      /** The treasury's address, or the wallet's first one. Null: there was no wallet. */
      readonly before: string | null;
      readonly after: string;
    }
  | {
      readonly kind: 'endpoint';
      readonly state: 'failing' | 'disabled' | 'over';
      readonly project: Named;
      readonly url: string;
      readonly detail: string | null;
      /** The time at which it began or ended. */
      readonly at: number;
    }
  | { readonly kind: 'attention'; readonly isDaily: boolean; readonly projects: readonly AttentionSection[] }
  | {
      readonly kind: 'weekly';
      /** Days, both inclusive. */
      readonly from: string;
      readonly to: string;
      readonly projects: readonly WeekSection[];
    }
  /** A live payment was completed. */
  | { readonly kind: 'payment'; readonly project: Named; readonly payment: PaymentFact }
  | {
      readonly kind: 'payments_daily';
      readonly project: Named;
      /** Days, both inclusive. */
      readonly from: string;
      readonly to: string;
      readonly completed: CompletedFact;
    }
  | {
      readonly kind: 'monthly';
      readonly project: Named;
      /** The first day and the last day of the month. */
      readonly from: string;
      readonly to: string;
      readonly completed: CompletedFact;
      readonly refunded: RefundedFact;
    }
  | { readonly kind: 'refund'; readonly state: RefundState; readonly project: Named; readonly refund: RefundFact };

/**
 * A mail as it is stored. Of a payment or refund it has only the id, so that a mail that waits holds nothing that the
 * deletion of customers' data would have to find.
 */
export type SavedMail =
  | Exclude<MailContent, { readonly kind: 'payment' | 'refund' }>
  | { readonly kind: 'payment'; readonly project: Named; readonly paymentId: string }
  | { readonly kind: 'refund'; readonly state: RefundState; readonly project: Named; readonly refundId: string };

/** A mail to the customer of a payment. */
export type SavedCustomerMail =
  | { readonly kind: 'receipt' | 'part_arrived' }
  | { readonly kind: 'refund_claim'; readonly refundId: string };

/**
 * A mail to the buyer of an invoice: with the invoice, or with its receipt; or a reminder before or after it is due.
 */
export interface SavedInvoiceMail {
  readonly kind: 'invoice' | 'invoice_receipt' | 'invoice_due' | 'invoice_overdue';
}

/** A mail to a customer as it is sent. Addresses and coins are of the customer's payment. */
export type CustomerMail = { readonly shop: ShopFact; readonly payment: CustomerPaymentFact } & (
  | { readonly kind: 'receipt'; readonly paid: CoinFact | null; readonly at: number }
  | {
      readonly kind: 'part_arrived';
      readonly received: CoinFact;
      readonly owed: CoinFact;
      readonly missing: CoinFact;
      readonly until: number;
    }
  | {
      readonly kind: 'refund_claim';
      readonly currency: Fiat;
      readonly minor: string;
      readonly coin: CoinFact;
      readonly claimUrl: string;
      readonly until: number;
    }
  /** The payment is that of the invoice: its number, its sum or what is missing, and its page. The day is in UTC. */
  | { readonly kind: SavedInvoiceMail['kind']; readonly dueOn: string }
);

/** The looks of a shop. */
export interface ShopFact {
  readonly name: string;
  /** Six hex digits, on which white text is legible; null: the pages' own colour. */
  readonly accent: string | null;
  /** The size of its logo in CSS pixels; null: it has none. */
  readonly logo: { readonly width: number; readonly height: number } | null;
  /** An http, https or mailto URL. */
  readonly supportUrl: string | null;
}

export interface CustomerPaymentFact {
  /** The shop's number of the order, or else the payment's own. */
  readonly name: string;
  readonly currency: Fiat;
  readonly minor: string;
  readonly pageUrl: string;
  /** Whether no money moves. */
  readonly isTest: boolean;
}

export type RefundState = 'created' | 'completed' | 'failed';

/** A payment as a mail shows it. */
export interface PaymentFact {
  /** The id that clients see. */
  readonly id: string;
  /** The shop's number of the order, or else the payment's own. */
  readonly name: string;
  readonly currency: Fiat;
  /** In the currency's smallest unit. */
  readonly minor: string;
  readonly received: CoinFact | null;
  /** The customer's name and address, as far as they are known. */
  readonly customer: string | null;
  readonly at: number;
}

/** An amount of a coin as decimal text. */
export interface CoinFact {
  readonly amount: string;
  readonly asset: string;
  readonly network: Network;
}

export interface RefundFact {
  readonly id: string;
  /** The name of its payment. */
  readonly name: string;
  readonly currency: Fiat;
  readonly minor: string;
  readonly coin: CoinFact;
  /** The address that it is or was to be paid to; null: the customer has entered none. */
  readonly address: string | null;
  /** Why it failed; null: it did not. */
  readonly failure: RefundFailure | null;
  readonly at: number;
}

/** The refunds that were paid in a time. */
export interface RefundedFact {
  readonly refunds: number;
  /** Their value in the currency of the payments, in its smallest unit; null: it took too long to compute. */
  readonly minor: string | null;
  readonly coins: readonly CoinFact[];
}

/** The payments that were completed in a time. */
export interface CompletedFact {
  readonly payments: number;
  readonly currency: Fiat;
  /** Their value in the currency's smallest unit. */
  readonly minor: string;
  /** How many are in no value, because no rate is known. */
  readonly unvalued: number;
  readonly coins: readonly CoinFact[];
}

/** The changes that people are mailed about their own accounts; `codes_used_up` is caused by strangers. */
export const ACCOUNT_CHANGES = [
  'password',
  'totp_added',
  'totp_removed',
  'passkey_added',
  'passkey_removed',
  'recovery_codes',
  'email_asked',
  'email',
  'new_browser',
  'reset',
  'factors_removed',
  'codes_used_up',
] as const;
export type AccountChange = (typeof ACCOUNT_CHANGES)[number];

export interface Named {
  readonly id: string;
  readonly name: string;
}

export interface AttentionSection {
  readonly project: Named;
  readonly items: readonly AttentionFact[];
  /** The number of further items. */
  readonly more: number;
}

/** One item that needs attention. */
export interface AttentionFact {
  readonly kind: AttentionKind;
  /** The name of the payment, endpoint or network. */
  readonly name: string;
  /** The amount with its asset, such as `0.5 ETH`. */
  readonly amount: string | null;
  readonly detail: string | null;
}

export interface WeekSection {
  readonly project: Named;
  readonly currency: Fiat;
  /** This week's and last week's, in the currency's smallest unit as text. */
  readonly minor: Both<string>;
  readonly created: Both<number>;
  readonly completed: Both<number>;
  /** In ten-thousandths; null: no payment has ended. */
  readonly conversion: Both<number | null>;
  /** The most urgent items that need attention now. */
  readonly attention: readonly AttentionFact[];
  readonly more: number;
}

export type Both<Value> = readonly [now: Value, before: Value];
