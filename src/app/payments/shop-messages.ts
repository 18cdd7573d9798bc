import type { Payment } from '../../domain/payment.ts';
import { messagesOf, type ShopMessage } from '../../domain/shop-message.ts';
import type { Trx } from '../../store/database.ts';
import type { PaymentChange } from '../../store/payments/save-changes.ts';
import { findTransfers } from '../../store/payments/transfers.ts';
import { toldOf, type NewMessage } from '../../store/webhooks/shop-messages.ts';
import { messageBody, toldMoney } from '../../wire/shop-message.ts';
import { newId, type App } from '../context.ts';

type Maker = Pick<App, 'random' | 'requestId'>;

/** Changes of payments, with the messages that shops' plugins get of them. Call it after the transfers are saved. */
export async function withMessages(
  app: Maker,
  trx: Trx,
  changes: readonly PaymentChange[],
  now: number,
): Promise<readonly PaymentChange[]> {
  const invoices = changes.filter(({ before, after }) => before !== null && after.api === 'invoice');
  if (invoices.length === 0) return changes;
  const ids = invoices.map(({ after }) => after.id);
  const told = new Map((await toldOf(trx, ids)).map(({ paymentId, bodies }) => [paymentId, bodies]));
  if (told.size === 0) return changes;
  const transfers = await findTransfers(trx, [...told.keys()]);
  return changes.map((change) => {
    const { before, after, transitions } = change;
    const bodies = told.get(after.id);
    if (before === null || bodies === undefined) return change;
    const made = messagesOf({ before, after, transitions }, transfers.get(after.id) ?? [], toldMoney(bodies));
    // Ids in the order of the messages, which were made at the same time.
    const ids = made.map(() => newId(app, now)).toSorted();
    return { ...change, messages: made.map((message, at) => newMessage(app, after, message, { id: ids[at], now })) };
  });
}

/** The message of a new invoice. It is stored only if somebody gets it. */
export function createdMessages(app: Maker, payment: Payment): readonly NewMessage[] | undefined {
  if (payment.api !== 'invoice') return undefined;
  return [newMessage(app, payment, { type: 'InvoiceCreated' }, { now: payment.createdAt })];
}

function newMessage(
  app: Maker,
  payment: Payment,
  message: ShopMessage,
  { now, id = newId(app, now) }: { readonly now: number; readonly id?: string | undefined },
): NewMessage {
  return {
    id,
    projectId: payment.projectId,
    mode: payment.mode,
    paymentId: payment.id,
    type: message.type,
    body: messageBody(payment, message, { at: now }),
    createdAt: now,
    requestId: app.requestId ?? null,
  };
}
