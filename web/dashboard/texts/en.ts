import { enAccess } from './en-access.ts';
import { enAttention } from './en-attention.ts';
import { enDetail } from './en-detail.ts';
import { enHome } from './en-home.ts';
import { enList } from './en-list.ts';
import { enPayments } from './en-payments.ts';
import { enShell } from './en-shell.ts';

/**
 * Every text of the dashboard. `{name}` stands for a value; there is no markup. Counts are put so that no language
 * needs a plural. Other languages have the same keys and values.
 */
export const en = {
  ...enShell,
  ...enAccess,
  ...enPayments,
  ...enDetail,
  ...enHome,
  ...enList,
  ...enAttention,
} as const;

export type TextKey = keyof typeof en;
/** What another language must have: a missing text, or one too many, does not compile. */
export type Texts = Readonly<Record<TextKey, string>>;
/** The same of one part. */
export type TextsLike<Part> = { readonly [Key in keyof Part]: string };
