import type { FastifyInstance } from 'fastify';
import { Type, type Static } from 'typebox';
import { forRequest } from '../app/context.ts';
import { advancePayment, MAX_AHEAD_MS, type Advance, type Advanced } from '../app/sandbox/advance.ts';
import { parseDuration } from '../domain/duration.ts';
import type { PaymentApi } from '../domain/payment.ts';
import { isoTime } from '../wire/time.ts';
import { selectorOf, testKeyOf, type Api } from './api.ts';
import { invalid, notFound, RequestError } from './errors.ts';
import { described, idempotencyHeader, oneOf, text, time } from './fields.ts';
import { answersOf, paymentGuard, paymentParams, PAYMENT_ROUTES, titled } from './payment-routes.ts';
import { idempotencyOf, sendJson, sendReplay } from './idempotency-key.ts';

const advanceBody = Type.Object(
  {
    by: Type.Optional(
      text({
        max: 40,
        description: 'By this ISO 8601 duration, such as PT61M or P7D; at most ten years ahead of the present.',
      }),
    ),
    to_next: Type.Optional(
      Type.Boolean({ description: 'true: to the next moment at which something happens by itself.' }),
    ),
    to: Type.Optional({ ...oneOf(['final']), description: 'Until nothing happens by itself any more.' }),
  },
  { examples: [{ by: 'PT61M' }] },
);

const advancedFields = {
  now: time(
    "The time of the payment now. Earlier than asked for if your endpoint's answers took 10 seconds: then send the rest of the time.",
  ),
  moments: Type.Array(
    Type.Object({
      at: time(),
      what: described('Meant for people, and its wording may change.', {
        examples: ['order completed', 'delivery attempt 3: answered 500'],
      }),
      object: described('The id of the payment, refund or delivery.'),
    }),
    { description: 'Everything that happened, in order.' },
  ),
  events: Type.Array(Type.String(), { description: 'The ids of the new events, in order.' }),
  final: Type.Boolean({ description: 'Whether nothing happens by itself any more.' }),
};

/** `POST …/{id}/advance`, with test keys alone. */
export function advanceRoute(app: FastifyInstance, api: Api, kind: PaymentApi): void {
  const { path, tag, api: httpApi } = PAYMENT_ROUTES[kind];
  const schema = {
    tags: [tag],
    operationId: `advance${titled(kind)}`,
    summary: `Advance the time of a test ${kind}`,
    description: `What is due of this ${kind} happens now, moment by moment, as if its time had come: expiry, completion, stages of a simulation, its refunds, and the attempts of its webhooks. They are sent for real, each after the answer to the last one. Give exactly one of by, to_next and to. Requires a test key with Full Access, Write Only or the payments:change scope.`,
    headers: idempotencyHeader,
    params: paymentParams(kind),
    body: advanceBody,
    response: answersOf(kind, advancedFields, `Advanced${titled(kind)}`),
  };
  const present = ({ now, moments, events, isFinal }: Advanced): string =>
    JSON.stringify({
      ...(httpApi === 'transactions' ? { success: true } : {}),
      now: isoTime(now),
      moments: moments.map((moment) => ({ ...moment, at: isoTime(moment.at) })),
      events,
      final: isFinal,
    });
  app.post<{ Params: { id: string }; Body: Static<typeof advanceBody> }>(
    `${path}/:id/advance`,
    { config: paymentGuard(kind, 'change_payment'), schema },
    async (request, reply) => {
      const key = testKeyOf(request, 'the time of test payments can be advanced');
      const advance = readAdvance(request.body);
      const outcome = await advancePayment(
        forRequest(api.app, request.id),
        await api.webhooks(),
        selectorOf(key, kind, request.params.id),
        advance,
        { present, idempotency: idempotencyOf(request, key) },
      );
      switch (outcome.kind) {
        case 'done':
          return sendJson(reply, outcome.body);
        case 'not_found':
        case 'not_sandbox':
          throw notFound(`There is no such ${kind}.`);
        case 'nothing_due':
          throw invalid(null, `The ${kind} ${nothingDue(outcome.payment.status)}`);
        case 'busy':
          throw new RequestError(
            'conflict_error',
            `Another request advances this ${kind}. Send this one again, with its Idempotency-Key, when that is done.`,
          );
        case 'too_far':
          throw invalid('by', `by must end at most ten years ahead of the present. ${alreadyAt(outcome.now)}`);
        case 'replayed':
        case 'key_reused':
        case 'still_running':
          return sendReplay(reply, outcome);
      }
    },
  );
}

/** The end of the sentence that says why time changes nothing. */
export function nothingDue(status: string): string {
  return `is ${status}, and nothing of it will happen by itself any more. Create another one, or do something first: simulate an outcome or create a refund.`;
}

/** The sentence that says how far the time of a payment is. */
export function alreadyAt(now: number): string {
  return `The time of this payment is ${isoTime(now)} already.`;
}

function readAdvance({ by, to_next: toNext, to }: Static<typeof advanceBody>): Advance {
  const given = [by !== undefined, toNext === true, to !== undefined].filter(Boolean).length;
  if (given !== 1) {
    throw invalid('by', 'Give exactly one of by (a duration such as "PT61M"), to_next (true) and to ("final").');
  }
  if (to !== undefined) return { kind: 'to_final' };
  return by === undefined ? { kind: 'to_next' } : readSpan(by);
}

/** @throws RequestError for anything but a positive duration of at most ten years */
export function readSpan(by: string): Advance {
  const ms = parseDuration(by);
  if (ms === null || ms <= 0 || ms > MAX_AHEAD_MS) {
    throw invalid(
      'by',
      'by must be an ISO 8601 duration of weeks, days, hours, minutes and seconds, longer than zero and at most ten years (P3650D), such as PT61M or P7D. It takes no years, months or fractions.',
    );
  }
  return { kind: 'by', ms };
}
