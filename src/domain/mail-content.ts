import type { AttentionKind } from './attention.ts';
import type { Fiat } from './money.ts';
import type { Network } from './networks.ts';
import type { MailLanguage } from './notification.ts';
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
    };

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
