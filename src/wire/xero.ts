import type { Booking, BookingKind } from '../domain/bookkeeping.ts';
import { fiatDecimals, type Fiat } from '../domain/money.ts';
import { NETWORK_FACTS } from '../domain/networks.ts';
import { isIncome, oneLine, withDecimals } from './booking-line.ts';

/** The columns of Xero's template of a bank statement; those with an asterisk are required. */
export const XERO_HEAD = '*Date,*Amount,Payee,Description,Reference\r\n';

const WORDS: Readonly<Record<BookingKind, string>> = { receipt: 'Received', refund: 'Refunded', fee: 'Network fee' };

/** A line of a bank statement: money that went out is negative, and the day cannot be read as another one. */
export function xeroLine(booking: Booking, currency: Fiat): string {
  const { kind, day, minor, id, orderId, customer, amount, coin, network, exception } = booking;
  const said = [
    `${WORDS[kind]} ${amount} ${coin} on ${NETWORK_FACTS[network].label}`,
    ...(exception === null || exception === 'none' ? [] : [exception.replaceAll('_', ' ')]),
    id,
  ];
  const values = [
    day,
    `${isIncome(booking) ? '' : '-'}${withDecimals(minor, fiatDecimals(currency), '.')}`,
    customer ?? '',
    said.join(', '),
    orderId ?? id,
  ];
  return `${values.map((value) => fieldOf(oneLine(value))).join(',')}\r\n`;
}

function fieldOf(text: string): string {
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
