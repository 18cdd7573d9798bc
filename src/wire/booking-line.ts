import type { Booking } from '../domain/bookkeeping.ts';

/** A text in one line: DATEV allows no control characters, and Xero reads lines. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

/** An amount with all decimals of its currency. */
export function withDecimals(minor: bigint, decimals: number, point: '.' | ','): string {
  if (decimals === 0) return String(minor);
  const digits = String(minor).padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}${point}${digits.slice(-decimals)}`;
}

/** Whether money came in; it went out otherwise. */
export function isIncome({ kind }: Pick<Booking, 'kind'>): boolean {
  return kind === 'receipt';
}
