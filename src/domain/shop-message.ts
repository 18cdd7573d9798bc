import { EVENT_TYPES, isEventType, type EventType } from './event-type.ts';
import { inTimeUntil, type Payment, type Transfer } from './payment.ts';
import { isCounting, isFinal, isOpen } from './status.ts';
import { cameBefore } from './sum-transfers.ts';
import type { Transition } from './transition.ts';

/** Formats beside our own events: `greenfield` are messages about invoices, as BTCPay's plugins read them. */
export const WEBHOOK_FORMATS = ['greenfield'] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

export const MESSAGE_TYPES = [
  'InvoiceCreated',
  'InvoiceReceivedPayment',
  'InvoiceProcessing',
  'InvoicePaymentSettled',
  'InvoiceSettled',
  'InvoiceExpired',
  'InvoiceInvalid',
] as const;
export type MessageType = (typeof MESSAGE_TYPES)[number];

/** Messages that tell of one transfer. */
export const MONEY_MESSAGES = ['InvoiceReceivedPayment', 'InvoicePaymentSettled'] as const satisfies MessageType[];

/** The types of all stored events. */
export type StoredEventType = EventType | MessageType;
export const STORED_EVENT_TYPES: readonly StoredEventType[] = [...EVENT_TYPES, ...MESSAGE_TYPES];

export function isMessageType(text: string): text is MessageType {
  return MESSAGE_TYPES.some((type) => type === text);
}

export function isStoredEventType(text: string): text is StoredEventType {
  return isEventType(text) || isMessageType(text);
}

/** The types that an endpoint of a format can ask for. */
export function typesOfFormat(format: WebhookFormat | null): readonly StoredEventType[] {
  return format === null ? EVENT_TYPES : MESSAGE_TYPES;
}

/** A message is given up after this many refusals once a newer one about its invoice waits behind it. */
export const OVERTAKEN_AFTER = 3;

/**
 * The statuses with which a server or proxy answers in the place of a shop that is down or busy. They refuse no
 * message: an order whose first message was given up may never be made.
 */
export const OUTAGE_STATUSES: readonly number[] = [429, 502, 503, 504, 520, 521, 522, 523, 524, 530];

/** Money was seen, or is confirmed. */
interface MoneyMessage {
  readonly type: (typeof MONEY_MESSAGES)[number];
  readonly afterExpiration: boolean;
  readonly transfer: Transfer;
}

export type ShopMessage =
  | { readonly type: 'InvoiceCreated' }
  | MoneyMessage
  | { readonly type: 'InvoiceProcessing'; readonly overPaid: boolean }
  | { readonly type: 'InvoiceSettled'; readonly manuallyMarked: boolean; readonly overPaid: boolean }
  | { readonly type: 'InvoiceExpired'; readonly partiallyPaid: boolean }
  | { readonly type: 'InvoiceInvalid'; readonly manuallyMarked: boolean };

/** The money that earlier messages told of, by {@link moneyId}. */
export interface ToldMoney {
  readonly received: ReadonlySet<string>;
  readonly settled: ReadonlySet<string>;
}

/** The name of a transfer in messages. */
export function moneyId({ transactionHash, index }: Pick<Transfer, 'transactionHash' | 'index'>): string {
  return `${transactionHash}-${index}`;
}

interface InvoiceChange {
  readonly before: Payment;
  readonly after: Payment;
  readonly transitions: readonly Transition[];
}

/**
 * The messages that a change of an invoice makes, in order. Shops set an order's state by the type of the latest
 * message, so money in time comes before the end that it belongs to, and later money after it.
 */
export function messagesOf(
  { before, after, transitions }: InvoiceChange,
  transfers: readonly Transfer[],
  told: ToldMoney,
): readonly ShopMessage[] {
  const own = transfers.filter(({ asset, network }) => asset === after.quote?.asset && network === after.quote.network);
  const present = own.filter(({ state }) => state !== 'dropped');
  // Money that completed the invoice and was lost again in the same change, as in a simulated reorganisation.
  const isLost = present.length === 0 && transitions.some(({ to }) => to === 'completed');
  const counted = isLost ? own : present;
  const about = (type: MoneyMessage['type'], toldOf: ReadonlySet<string>): readonly MoneyMessage[] =>
    counted
      .filter((transfer) => !toldOf.has(moneyId(transfer)))
      .filter(({ state }) => type === 'InvoiceReceivedPayment' || state === 'confirmed' || isLost)
      .map((transfer) => ({ type, afterExpiration: isAfterEnd(transfer, before, after), transfer }));
  const received = about('InvoiceReceivedPayment', told.received);
  const settled = about('InvoicePaymentSettled', told.settled);
  const processing = transitions.some(({ from, to }) => isOpen(from) && isCounting(to))
    ? [{ type: 'InvoiceProcessing', overPaid: isOverpaid(after) } as const]
    : [];
  const end = before.status === after.status ? null : endOf(after);
  if (end === null || end.type === 'InvoiceSettled') {
    return [...received, ...processing, ...settled, ...(end === null ? [] : [end])];
  }
  const isLate = ({ afterExpiration }: MoneyMessage): boolean => afterExpiration;
  const isInTime = ({ afterExpiration }: MoneyMessage): boolean => !afterExpiration;
  return [
    ...received.filter(isInTime),
    ...processing,
    ...settled.filter(isInTime),
    end,
    ...received.filter(isLate),
    ...settled.filter(isLate),
  ];
}

/**
 * Whether money came to an invoice that had ended without it. Shops take such an order for failed, so it is never said
 * of one that is paid, whatever comes to it later.
 */
function isAfterEnd(transfer: Transfer, before: Payment, after: Payment): boolean {
  if (hasEndedUnpaid(before)) return true;
  return hasEndedUnpaid(after) && !cameBefore(transfer, inTimeUntil(after));
}

function hasEndedUnpaid({ status }: Payment): boolean {
  return isFinal(status) && status !== 'completed';
}

function endOf(payment: Payment): ShopMessage | null {
  const manuallyMarked = payment.endedByHand === true;
  switch (payment.status) {
    case 'completed':
      return { type: 'InvoiceSettled', manuallyMarked, overPaid: isOverpaid(payment) };
    case 'expired':
      return { type: 'InvoiceExpired', partiallyPaid: false };
    case 'failed':
      return payment.failureReason === 'underpaid'
        ? { type: 'InvoiceExpired', partiallyPaid: true }
        : { type: 'InvoiceInvalid', manuallyMarked };
    case 'cancelled':
      return { type: 'InvoiceInvalid', manuallyMarked };
    case 'created':
    case 'prepared':
    case 'pending':
    case 'processing':
    case 'confirming':
      return null;
  }
}

function isOverpaid({ quote, received }: Payment): boolean {
  return quote !== null && received.all.minedUnits > quote.owedUnits + quote.toleranceUnits;
}
