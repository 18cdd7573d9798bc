import { deliveryId, encodeId } from '../domain/id.ts';
import type { Payment } from '../domain/payment.ts';
import { publicPaymentId } from '../domain/payment-kind.ts';
import type { ShopMessage, ToldMoney } from '../domain/shop-message.ts';
import { methodId } from '../domain/payment-method.ts';
import { greenfieldPayment, seconds, shopMetadataOf } from './greenfield.ts';

/**
 * The stored bytes of a message about an invoice, as BTCPay's plugins read it. `isTest`: an invented one; its id tells
 * plugins so.
 */
export function messageBody(
  payment: Payment,
  message: ShopMessage,
  { at, isTest = false }: { readonly at: number; readonly isTest?: boolean },
): string {
  const { type, ...details } = message;
  return JSON.stringify({
    type,
    timestamp: seconds(at),
    storeId: payment.projectId,
    invoiceId: `${isTest ? '__test__' : ''}${publicPaymentId(payment)}`,
    metadata: shopMetadataOf(payment),
    ...('transfer' in details ? moneyOf(payment, details) : details),
    ...(isTest && { test: true }),
  });
}

function moneyOf(
  { quote }: Payment,
  { transfer, afterExpiration }: Omit<Extract<ShopMessage, { readonly transfer: unknown }>, 'type'>,
): object {
  return {
    afterExpiration,
    paymentMethodId: methodId(transfer),
    payment: greenfieldPayment(transfer, quote?.decimals ?? 0),
  };
}

/** The money that stored messages about an invoice told of. */
export function toldMoney(bodies: readonly string[]): ToldMoney {
  const received = new Set<string>();
  const settled = new Set<string>();
  for (const body of bodies) {
    const { type, payment } = JSON.parse(body) as { readonly type: string; readonly payment: { readonly id: string } };
    (type === 'InvoicePaymentSettled' ? settled : received).add(payment.id);
  }
  return { received, settled };
}

/** One attempt to deliver a message: how many failed before, or a name of its own for one that a person asked for. */
interface MessageAttempt {
  readonly endpointId: string;
  readonly deliveryId: bigint;
  readonly attempt: number | string;
}

/** A message as it is sent: the stored bytes behind the four fields that tell one attempt from another. */
export function sentMessage(stored: string, { endpointId, deliveryId: number, attempt }: MessageAttempt): string {
  const original = deliveryId(number);
  const isFirst = attempt === 0;
  const fields = {
    deliveryId: isFirst ? original : `${original}-${attempt}`,
    webhookId: encodeId('endpoint', endpointId),
    originalDeliveryId: original,
    isRedelivery: !isFirst,
  };
  return `${JSON.stringify(fields).slice(0, -1)},${stored.slice(1)}`;
}
