import type access from '../../../texts/dashboard/en/access.json';
import type attention from '../../../texts/dashboard/en/attention.json';
import type audit from '../../../texts/dashboard/en/audit.json';
import type bulk from '../../../texts/dashboard/en/bulk.json';
import type common from '../../../texts/dashboard/en/common.json';
import type connect from '../../../texts/dashboard/en/connect.json';
import type customers from '../../../texts/dashboard/en/customers.json';
import type detail from '../../../texts/dashboard/en/detail.json';
import type keys from '../../../texts/dashboard/en/keys.json';
import type list from '../../../texts/dashboard/en/list.json';
import type notifications from '../../../texts/dashboard/en/notifications.json';
import type palette from '../../../texts/dashboard/en/palette.json';
import type paymentRequests from '../../../texts/dashboard/en/payment-requests.json';
import type people from '../../../texts/dashboard/en/people.json';
import type refunds from '../../../texts/dashboard/en/refunds.json';
import type reports from '../../../texts/dashboard/en/reports.json';
import type requests from '../../../texts/dashboard/en/requests.json';
import type sending from '../../../texts/dashboard/en/sending.json';
import type settings from '../../../texts/dashboard/en/settings.json';
import type signing from '../../../texts/dashboard/en/signing.json';
import type sweeps from '../../../texts/dashboard/en/sweeps.json';
import type till from '../../../texts/dashboard/en/till.json';
import type wallets from '../../../texts/dashboard/en/wallets.json';
import type webhooks from '../../../texts/dashboard/en/webhooks.json';
import type { TextValues } from './text-values.ts';

/** The texts that are loaded with the pages that show them: a file per language. */
export interface TextParts {
  readonly access: typeof access;
  readonly attention: typeof attention;
  readonly audit: typeof audit;
  readonly bulk: typeof bulk;
  readonly connect: typeof connect;
  readonly customers: typeof customers;
  readonly detail: typeof detail;
  readonly keys: typeof keys;
  readonly list: typeof list;
  readonly notifications: typeof notifications;
  readonly palette: typeof palette;
  readonly 'payment-requests': typeof paymentRequests;
  readonly people: typeof people;
  readonly refunds: typeof refunds;
  readonly reports: typeof reports;
  readonly requests: typeof requests;
  readonly sending: typeof sending;
  readonly settings: typeof settings;
  readonly signing: typeof signing;
  readonly sweeps: typeof sweeps;
  readonly till: typeof till;
  readonly wallets: typeof wallets;
  readonly webhooks: typeof webhooks;
}

export type TextPart = keyof TextParts;
/** The names of the texts in the first script, which Home needs, and of those in some parts. */
export type TextKey<Part extends TextPart = never> = keyof typeof common | KeyOf<Part>;
type KeyOf<Part extends TextPart> = Part extends TextPart ? keyof TextParts[Part] : never;

/** The names of the values that a text takes. */
type ValueNames<Key extends string> = TextValues[Extract<Key, keyof TextValues>];
/** The arguments of a text; none for texts without values. */
export type Given<Key extends string> = [ValueNames<Key>] extends [never]
  ? []
  : [Readonly<Record<ValueNames<Key>, string | number>>];
