import type { AttentionKind } from './attention.ts';
import type { Network } from './networks.ts';
import type { MailLanguage } from './notification.ts';
import type { Role } from './role.ts';

/**
 * The content of a mail, stored until it is sent. Times in epoch milliseconds, amounts as decimal text. No secret
 * is ever in it: links that sign somebody in are made when it is sent.
 */
export type MailContent =
  | {
      readonly kind: 'invitation';
      /** An e-mail address; null: somebody at the command line. */
      readonly by: string | null;
      readonly role: Role;
      /** The project's name; null: all projects. */
      readonly project: string | null;
      /** The name of the person who invites; null: not known. */
      readonly language: MailLanguage | null;
    }
  /** Asks a new address to confirm that it is the person's. */
  | { readonly kind: 'email'; readonly address: string }
  | {
      readonly kind: 'account';
      /** The address that the account had before the change. */
      readonly address: string;
      readonly change: AccountChange;
      /** An e-mail address; null: somebody at the command line. */
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
      /** When it began or ended. */
      readonly at: number;
    }
  | { readonly kind: 'attention'; readonly isDaily: boolean; readonly projects: readonly AttentionSection[] }
  | {
      readonly kind: 'weekly';
      /** Days, the last one inclusive. */
      readonly from: string;
      readonly to: string;
      readonly projects: readonly WeekSection[];
    };

/** What people are told of their own accounts; `codes_used_up` is what strangers do. */
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
  /** How many more there are. */
  readonly more: number;
}

/** One thing that needs attention. */
export interface AttentionFact {
  readonly kind: AttentionKind;
  /** The name of the payment, endpoint or network. */
  readonly name: string;
  /** With its asset, such as `0.5 ETH`. */
  readonly amount: string | null;
  readonly detail: string | null;
}

export interface WeekSection {
  readonly project: Named;
  /** Of this week and of the one before, in US cents as text. */
  readonly usdCents: Both<string>;
  readonly created: Both<number>;
  readonly completed: Both<number>;
  /** In ten-thousandths; null: no payment is over. */
  readonly conversion: Both<number | null>;
  /** The most urgent things that need attention now. */
  readonly attention: readonly AttentionFact[];
  readonly more: number;
}

export type Both<Value> = readonly [now: Value, before: Value];
