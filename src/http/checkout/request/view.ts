import type { Fiat } from '../../../domain/money.ts';
import type { Frame } from '../view.ts';

/**
 * The content of a payment request's page as plain values. Anybody with the link sees it, so it has nothing of those
 * who paid; what a request that is paid more than once took in is the merchant's alone.
 */
export interface RequestView {
  readonly frame: Frame;
  readonly isTest: boolean;
  /** `req_…`, as in the page's path. */
  readonly requestId: string;
  /** The page's whole address, for the printed code. */
  readonly url: string;
  readonly title: string;
  readonly description: string | null;
  readonly reference: string | null;
  readonly currency: Fiat;
  /** Null: the payer types it. */
  readonly amountMinor: bigint | null;
  /** The money of an amount that is asked for once; null of others. */
  readonly parts: Parts | null;
  readonly expiresAt: number | null;
  readonly now: number;
  /** The invoice and its receipt as PDF, and the day on which the money is due; null: there is no invoice. */
  readonly files: { readonly dueOn: string; readonly invoice: string; readonly receipt: string | null } | null;
  readonly step: RequestStep;
  /** The payment page of this visitor's last invoice here, if it has ended. */
  readonly lastPath: string | null;
}

export interface Parts {
  readonly paidMinor: bigint;
  /** Seen and not confirmed yet. */
  readonly pendingMinor: bigint;
  readonly leftMinor: bigint;
}

export type RequestStep =
  | FormStep
  /** An invoice waits for money: this visitor's own, or the one that everybody shares. */
  | { readonly kind: 'paying'; readonly path: string; readonly amountMinor: bigint; readonly isShared: boolean }
  /** Money was seen. Null: of an invoice that takes no more. */
  | { readonly kind: 'confirming'; readonly path: string | null }
  /** Others are paying what is left. Their invoices end at this time; null if that is unknown. */
  | { readonly kind: 'taken'; readonly until: number | null }
  | { readonly kind: 'paid'; readonly shop: string | null }
  | { readonly kind: 'closed' }
  | { readonly kind: 'expired'; readonly at: number }
  | { readonly kind: 'inactive' };

export interface FormStep {
  readonly kind: 'form';
  /** The amount of the next invoice; null: the payer types it. */
  readonly amountMinor: bigint | null;
  readonly minAmountMinor: bigint | null;
  readonly maxAmountMinor: bigint | null;
  /** The asked fields, in their order. */
  readonly asked: readonly AskedName[];
  readonly typed: Typed;
  readonly problems: Problems;
  /** Why nothing was made of the sent form, if that is no fault of a field. */
  readonly notice: RequestNotice | null;
}

/** `changed`: others were faster; the page shows what is left. */
export type RequestNotice = 'no_rate' | 'changed';

export const ASKED_NAMES = ['email', 'name', 'note'] as const;
export type AskedName = (typeof ASKED_NAMES)[number];
export const FIELD_NAMES = ['amount', ...ASKED_NAMES] as const;
export type FieldName = (typeof FIELD_NAMES)[number];
export type Typed = Readonly<Record<FieldName, string>>;
export type Problems = Readonly<Partial<Record<FieldName, FieldProblem>>>;
export type FieldProblem = 'invalid' | 'too_little' | 'too_much' | 'too_long';
