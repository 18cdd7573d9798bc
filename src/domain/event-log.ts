import { stepEvents } from './payment-kind.ts';
import { MONEY_MESSAGES, type StoredEventType } from './shop-message.ts';

/** Why nobody knows what some positions of a log meant: the database was restored from a backup, or recovered. */
export type GapReason = 'restored' | 'recovered';

/**
 * Events that "Needs attention", refunds and later messages read for as long as their payment exists: they leave the
 * log alone.
 */
export const KEPT_EVENTS: readonly StoredEventType[] = [
  ...stepEvents('exception'),
  'refund.created',
  ...MONEY_MESSAGES,
];

/** The longest that a call waits for the first entry. */
export const MAX_WAIT_SECONDS = 30;

/** Where reading a log begins. An event is named by its public id. */
export type LogCursor =
  | { readonly kind: 'start' }
  | { readonly kind: 'now' }
  | { readonly kind: 'position'; readonly position: bigint }
  | { readonly kind: 'event'; readonly id: string };

const POSITION = /^\d{1,18}$/;

/** The cursor in a text; null if it is none. */
export function parseLogCursor(text: string): LogCursor | null {
  if (text === 'start' || text === 'now') return { kind: text };
  if (POSITION.test(text)) return { kind: 'position', position: BigInt(text) };
  return text.startsWith('evt_') ? { kind: 'event', id: text } : null;
}
