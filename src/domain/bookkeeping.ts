import type { Network } from './networks.ts';
import type { Exception } from './payment.ts';
import type { ReportDays } from './report.ts';

/** The kinds of bookings: money received, refunds paid, and the network's fees for sweeps. */
export const BOOKING_KINDS = ['receipt', 'refund', 'fee'] as const;
export type BookingKind = (typeof BOOKING_KINDS)[number];

/** The accounting software that bookings are written for. */
export const BOOKING_FORMATS = ['datev', 'xero'] as const;
export type BookingFormat = (typeof BOOKING_FORMATS)[number];

/** A movement of money with its value at receipt or disposal. */
export interface Booking {
  readonly kind: BookingKind;
  /** The day in the report's time zone, `2026-01-31`. */
  readonly day: string;
  /** More than 0, in the smallest unit of the project's currency. */
  readonly minor: bigint;
  /** The public id of the payment, or the number of the sweep. */
  readonly id: string;
  readonly orderId: string | null;
  readonly customer: string | null;
  /** Exact decimal. */
  readonly amount: string;
  readonly coin: string;
  readonly network: Network;
  /** The payment's irregularity, for money received. */
  readonly exception: Exception | null;
  readonly transaction: string | null;
}

/** Movements that have no booking: no value is known, or it is less than the smallest unit of the currency. */
export interface LeftOut {
  readonly kind: BookingKind;
  readonly day: string;
  readonly id: string;
  readonly amount: string;
  readonly coin: string;
  readonly why: 'no_value' | 'too_small';
}

/** The most lines that Xero imports from one file. */
export const XERO_MAX_LINES = 1_000;

/** A project's numbers and accounts in its tax consultant's DATEV. */
export interface DatevSettings {
  readonly consultantNumber: number;
  readonly clientNumber: number;
  /** The month with whose first day the fiscal year begins, 1 to 12. */
  readonly fiscalYearMonth: number;
  /** The length of the numbers of general ledger accounts. */
  readonly accountLength: number;
  readonly walletAccount: string;
  readonly receiptsAccount: string;
  readonly refundsAccount: string;
  /** Null: fees are not booked. */
  readonly feesAccount: string | null;
}

/** The bounds of the numbers, from DATEV's description of the header. */
export const DATEV_BOUNDS = {
  consultantNumber: { min: 1_001, max: 9_999_999 },
  clientNumber: { min: 1, max: 99_999 },
  fiscalYearMonth: { min: 1, max: 12 },
  accountLength: { min: 4, max: 8 },
} as const satisfies Partial<Record<keyof DatevSettings, { readonly min: number; readonly max: number }>>;

export const DATEV_ACCOUNTS = [
  'walletAccount',
  'receiptsAccount',
  'refundsAccount',
  'feesAccount',
] as const satisfies readonly (keyof DatevSettings)[];

/** Whether a text is an account's number: personal accounts have one digit more than those of the general ledger. */
export function isDatevAccount(text: string, accountLength: number): boolean {
  return /^\d{1,9}$/.test(text) && text.length <= accountLength + 1 && !/^0+$/.test(text);
}

/** Whether all days are in one month: dates in a DATEV file have no year. */
export function isInOneMonth({ from, to }: ReportDays): boolean {
  return from.slice(0, 7) === to.slice(0, 7);
}

/** The first day of the fiscal year that a day is in. */
export function fiscalYearStart(day: string, fiscalYearMonth: number): string {
  const [year = 0, month = 0] = day.split('-').map(Number);
  const start = month >= fiscalYearMonth ? year : year - 1;
  return `${start}-${String(fiscalYearMonth).padStart(2, '0')}-01`;
}
