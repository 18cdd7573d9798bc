import { expect } from 'vitest';
import type { Payment } from '../../domain/payment.ts';
import { simulatePayment } from '../payments/simulate-payment.ts';
import { deliverAll, shop, webhookApp, type Shop } from './webhooks.fixture.ts';

export const SHOP_SECRET = 'a secret of the shop';
/** An endpoint as a shop's plugin registers it. */
export const SHOP_ENDPOINT = { format: 'greenfield', secret: SHOP_SECRET } as const;

/** A message as a shop got it. */
interface Message {
  readonly type: string;
  readonly invoiceId: string;
  readonly deliveryId: string;
  readonly isRedelivery: boolean;
}

export function messagesAt({ requests }: Pick<Shop, 'requests'>): readonly Message[] {
  return requests.map(({ body }) => JSON.parse(body) as Message);
}

export function typesAt(receiver: Pick<Shop, 'requests'>): readonly string[] {
  return messagesAt(receiver).map(({ type }) => type);
}

/** The application with a shop's endpoint, whose receiver answers each type with a status code. */
export async function shopApp(answer: (type: string) => number = () => 200) {
  const webhooks = await webhookApp();
  const receiver = await shop((response, { body }) =>
    response.writeHead(answer((JSON.parse(body) as Message).type)).end(),
  );
  const { id, endpoint } = await webhooks.register(receiver.url, SHOP_ENDPOINT);
  const { app } = webhooks;
  return {
    ...webhooks,
    receiver,
    id,
    endpoint,
    invoice: (facts: object = {}): Promise<Payment> => app.pay({ api: 'invoice', token: null, ...facts }),
    pay: async (payment: Payment, simulation: 'paid' | 'part' | 'late' = 'paid') => {
      const outcome = await simulatePayment(app, { id: payment.id }, simulation);
      expect(outcome.kind).toBe('changed');
    },
    deliver: () => deliverAll(app, webhooks.deliverer()),
    states: async () => (await webhooks.log(id)).map(({ type, state }) => `${type} ${state}`),
    queue: () => app.db.selectFrom('message_queue').selectAll().execute(),
  };
}
