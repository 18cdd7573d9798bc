import type { enAccess } from './en-access.ts';
import type { enAttention } from './en-attention.ts';
import type { enAudit } from './en-audit.ts';
import type { enBrowserWallets } from './en-browser-wallets.ts';
import type { enDetail } from './en-detail.ts';
import { enHome } from './en-home.ts';
import type { enKeys } from './en-keys.ts';
import type { enList } from './en-list.ts';
import type { enNotifications } from './en-notifications.ts';
import { enPayments } from './en-payments.ts';
import type { enPeople } from './en-people.ts';
import type { enRequests } from './en-requests.ts';
import { enShell } from './en-shell.ts';
import type { enSigning } from './en-signing.ts';
import type { enRefunds } from './en-refunds.ts';
import type { enReports } from './en-reports.ts';
import type { enSettings } from './en-settings.ts';
import type { enSweeps } from './en-sweeps.ts';
import type { enWallets } from './en-wallets.ts';
import type { enWebhooks } from './en-webhooks.ts';

/**
 * The texts that come with the first script, because Home has them. `{name}` stands for a value; there is no markup.
 * Counts are put so that no language needs a plural. Other languages have the same keys and values.
 */
export const en = { ...enShell, ...enHome, ...enPayments } as const;

/** The texts that come with the pages that show them; `load-texts.ts` has the files. */
export interface TextParts {
  readonly access: typeof enAccess;
  readonly attention: typeof enAttention;
  readonly audit: typeof enAudit;
  readonly browserWallets: typeof enBrowserWallets;
  readonly detail: typeof enDetail;
  readonly keys: typeof enKeys;
  readonly list: typeof enList;
  readonly notifications: typeof enNotifications;
  readonly people: typeof enPeople;
  readonly requests: typeof enRequests;
  readonly refunds: typeof enRefunds;
  readonly reports: typeof enReports;
  readonly settings: typeof enSettings;
  readonly signing: typeof enSigning;
  readonly sweeps: typeof enSweeps;
  readonly wallets: typeof enWallets;
  readonly webhooks: typeof enWebhooks;
}

export type TextPart = keyof TextParts;
/** The texts that every page has, and those of some parts. */
export type TextsOf<Part extends TextPart> = typeof en & UnionToIntersection<TextParts[Part]>;
/** The names of these texts. */
export type TextKey<Part extends TextPart = never> = keyof TextsOf<Part>;
/** What another language must have: a missing text, or one too many, does not compile. */
export type TextsLike<Part> = { readonly [Key in keyof Part]: string };

type UnionToIntersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (
  one: infer All,
) => void
  ? All
  : never;
