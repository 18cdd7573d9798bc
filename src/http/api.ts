import type { FastifyReply, FastifyRequest, FastifyInstance } from 'fastify';
import type { AccessKey } from '../app/projects/access.ts';
import type { ChangeOutcome, PaymentSelector, RefusedChange } from '../app/payments/change-payment.ts';
import type { App } from '../app/context.ts';
import type { Replay } from '../app/idempotency.ts';
import type { WebhookDelivery } from '../app/webhooks/deliver-due.ts';
import type { CreateOutcome, PaymentCreator } from '../app/payments/create-payment.ts';
import type { PaymentReader } from '../app/payments/read-payment.ts';
import type { Payment, PaymentApi } from '../domain/payment.ts';
import { paymentIdOf } from '../domain/payment-kind.ts';
import type { Refusal } from '../domain/way-out.ts';
import { MAX_TOKEN_CHANGES } from '../domain/transition.ts';
import type { Audience } from '../wire/payment.ts';
import { invalid, notFound, RequestError } from './errors.ts';
import { messageOf } from './ways-out.ts';
import { sendJson, sendReplay } from './idempotency-key.ts';
import { createConcurrencyLimit } from '../app/concurrency-limit.ts';
import type { Operation } from '../domain/permission.ts';
import { MAX_STARTED } from './listener.ts';

/** The parts that the routes of both APIs need. */
export interface Api {
  readonly app: App;
  readonly creator: PaymentCreator;
  readonly reader: PaymentReader;
  /** Sends webhooks for a request: of test payments whose time is advanced. */
  readonly webhooks: () => Promise<WebhookDelivery>;
}

/** The key of a guarded route. */
export function keyOf(request: FastifyRequest): AccessKey {
  if (request.key === null) throw new Error('A route that needs a key is not guarded.');
  return request.key;
}

/**
 * The test key of a guarded route.
 *
 * @param what happens to test payments alone, as `test payments can be simulated`
 * @throws RequestError for a live key
 */
export function testKeyOf(request: FastifyRequest, what: string): AccessKey {
  const key = keyOf(request);
  if (key.mode === 'test') return key;
  throw new RequestError('permission_error', `Only ${what}. Use a test key.`);
}

/** The part of a payment that a key sees: a public one sees no customer data. */
export function audienceOf({ kind }: AccessKey): Audience {
  return kind === 'public' ? 'public' : 'merchant';
}

/**
 * Selects the payment of an id that a request names, among those that its key can see.
 *
 * @throws RequestError if the id is malformed
 */
export function selectorOf(key: AccessKey, api: PaymentApi, idText: string): PaymentSelector {
  const id = paymentIdOf(api, idText);
  if (id === null) throw notFound(`There is no such ${api}.`);
  return { id, projectId: key.project.id, mode: key.mode, api };
}

/**
 * The payment of an id that a request names.
 *
 * @throws RequestError if the key sees no such payment
 */
export async function readPayment(
  reader: PaymentReader,
  key: AccessKey,
  api: PaymentApi,
  idText: string,
): Promise<Payment> {
  const payment = await reader.read(selectorOf(key, api, idText));
  if (payment === null) throw notFound(`There is no such ${api}.`);
  return payment;
}

/** The outcome of a request: done, or refused for the content of the request. */
type DoneOrRefused =
  | { readonly kind: 'done'; readonly body: string }
  | ({ readonly kind: 'refused'; readonly param: string | null } & Refusal);

/** Sends the answer of a request that was done, or throws its refusal. */
export function sendDone(reply: FastifyReply, outcome: DoneOrRefused | Replay): FastifyReply {
  switch (outcome.kind) {
    case 'done':
      return sendJson(reply, outcome.body);
    case 'refused':
      throw invalid(outcome.param, messageOf(outcome));
    case 'replayed':
    case 'key_reused':
    case 'still_running':
      return sendReplay(reply, outcome);
  }
}

/** Answers a request that creates a payment or refund. */
export function sendCreated(reply: FastifyReply, outcome: CreateOutcome): FastifyReply {
  if (outcome.kind === 'no_rate' || outcome.kind === 'wrong_clock')
    throw new RequestError('service_unavailable', outcome.message);
  return sendDone(reply, outcome);
}

/** Answers a request for a change, such as cancel or accept. */
export function sendChanged(reply: FastifyReply, outcome: ChangeOutcome, noun: string, verb: string): FastifyReply {
  switch (outcome.kind) {
    case 'changed':
      return sendJson(reply, outcome.body);
    case 'not_found':
      throw notFound(`There is no such ${noun}.`);
    case 'refused':
      throw invalid(null, `The ${noun} cannot be ${verb} because ${whyNot(outcome.reason, outcome.payment)}`);
    case 'replayed':
    case 'key_reused':
    case 'still_running':
      return sendReplay(reply, outcome);
  }
}

/** Why a payment does not allow the change, as the end of a sentence. */
export function whyNot(reason: RefusedChange['reason'], payment: Payment): string {
  switch (reason) {
    case 'money_seen':
      return 'money has already been detected for it.';
    case 'not_open':
      return `it is ${payment.status}.`;
    case 'expired':
      return 'it has expired.';
    case 'too_many_changes':
      return `its token has already been changed ${MAX_TOKEN_CHANGES} times, which is the limit.`;
    case 'no_confirmed_money':
      return 'no confirmed money has been received for it.';
    case 'refunded':
      return 'all of its money has been refunded or is reserved for a pending refund. You can cancel a pending refund.';
    case 'already_completed':
      return 'it is already completed.';
    case 'only_asset':
      return `it is paid in ${payment.quote?.asset ?? 'a coin'}, and no other asset exists on ${payment.quote?.network ?? 'its network'}. Choose a payment on a network with tokens, such as ethereum.`;
    case 'no_completed_refund':
      return 'it has no completed refund. Create a refund first and wait until it is completed.';
    case 'counts_as_part':
      return 'its money counts as a part of its payment request, which asks for the rest again.';
    case 'money_changed':
      return 'its money has changed in the meantime. Check the current amounts, and decide again.';
  }
}

/** The number of reads that one connection can have running, so that a client with one connection never waits here. */
const MAX_CONCURRENT_READS = MAX_STARTED;

const LISTS: readonly Operation[] = ['read_payments', 'read_refunds'];

/**
 * Limits how many lists, refunds and statistics of one project are read at once. Each takes pool connections, and a
 * page of a hundred payments takes milliseconds of this process: without a limit they would hold up other requests.
 */
export function limitConcurrentReads(app: FastifyInstance): void {
  const limited = createConcurrencyLimit(MAX_CONCURRENT_READS);
  app.addHook('onRoute', (route) => {
    const { handler } = route;
    const guard = route.config?.guard;
    if (guard?.kind !== 'api' || guard.operation === null || !LISTS.includes(guard.operation)) return;
    route.handler = function (request, reply) {
      return limited(keyOf(request).project.id, async () => {
        // A client that hung up while it waited gets no answer and costs nothing more.
        if (request.raw.socket.destroyed) return reply.hijack();
        return handler.call(this, request, reply);
      });
    };
  });
}
