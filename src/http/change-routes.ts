import type { FastifyInstance } from 'fastify';
import type { TSchema } from 'typebox';
import { forRequest } from '../app/context.ts';
import { acceptPayment, cancelPayment } from '../app/payments/payment-actions.ts';
import type { Payment, PaymentApi } from '../domain/payment.ts';
import { keyOf, selectorOf, sendChanged, type Api } from './api.ts';
import { notFound } from './errors.ts';
import { idempotencyOf } from './idempotency-key.ts';
import { idempotencyHeader } from './fields.ts';

/** How an API addresses and presents the payments that can be changed through it. */
export interface ChangedApi {
  readonly paymentApi: PaymentApi;
  /** The collection, such as `/v1/orders`. */
  readonly path: string;
  readonly tag: string;
  /** The schema of the path parameter `id`. */
  readonly params: TSchema;
  /** The UUID of an id in the path; null if it is not a valid id. */
  readonly parseId: (text: string) => string | null;
  /** Makes the body of the answer. */
  readonly present: (payment: Payment) => string;
  /** Schemas of the answers by status. */
  readonly response: object;
}

const CHANGES = [
  {
    verb: 'cancel',
    done: 'cancelled',
    summary: (noun: string) => `Cancel an unpaid ${noun}`,
    description: (noun: string) =>
      `The ${noun} can be cancelled while it is open and no money has been detected for it. Otherwise, the request is rejected (400). Requires a key with Full Access, Write Only or the payments:change scope.`,
    run: cancelPayment,
  },
  {
    verb: 'accept',
    done: 'accepted',
    summary: (noun: string) => `Accept a partial or late payment for a${noun === 'order' ? 'n' : ''} ${noun}`,
    description: (noun: string) =>
      `Completes an expired, cancelled, failed or underpaid ${noun} with the confirmed money that was received for it. Requires a key with Full Access, Write Only or the payments:change scope.`,
    run: acceptPayment,
  },
] as const;

/** `POST …/{id}/cancel` and `POST …/{id}/accept`, the same on both APIs. */
export function changeRoutes(app: FastifyInstance, api: Api, of: ChangedApi): void {
  const { paymentApi } = of;
  for (const { verb, done, summary, description, run } of CHANGES) {
    app.post<{ Params: { id: string } }>(
      `${of.path}/:id/${verb}`,
      {
        config: { guard: { kind: 'api', api: paymentApi, operation: 'change_payment' } },
        schema: {
          tags: [of.tag],
          operationId: verb + (paymentApi === 'order' ? 'Order' : 'Transaction'),
          summary: summary(paymentApi),
          description: description(paymentApi),
          headers: idempotencyHeader,
          params: of.params,
          response: of.response,
        },
      },
      async (request, reply) => {
        const key = keyOf(request);
        const id = of.parseId(request.params.id);
        if (id === null) throw notFound(`There is no such ${paymentApi}.`);
        const idempotency = idempotencyOf(request, key);
        const outcome = await run(forRequest(api.app, request.id), selectorOf(key, paymentApi, id), {
          present: of.present,
          idempotency,
        });
        return sendChanged(reply, outcome, paymentApi, done);
      },
    );
  }
}
