import { PAYMENT_KINDS } from '../domain/payment-kind.ts';
import type { FastifyInstance } from 'fastify';
import { Type, type Static } from 'typebox';
import { forRequest } from '../app/context.ts';
import { acceptPayment, cancelPayment } from '../app/payments/payment-actions.ts';
import { simulateOutcome } from '../app/sandbox/simulate-outcome.ts';
import type { Payment, PaymentApi } from '../domain/payment.ts';
import {
  MAX_STAGE_SECONDS,
  meaningOfSimulation,
  possibleSimulations,
  SIMULATIONS,
  STAGED_SIMULATIONS,
  type Simulation,
} from '../domain/simulation.ts';
import { advanceRoute } from './advance-route.ts';
import { keyOf, selectorOf, sendChanged, testKeyOf, type Api } from './api.ts';
import { invalid, notFound, RequestError } from './errors.ts';
import { idempotencyOf } from './idempotency-key.ts';
import { idempotencyHeader, integer, oneOf } from './fields.ts';
import { paymentGuard, paymentParams, PAYMENT_ROUTES, titled } from './payment-routes.ts';
import { messageOf } from './ways-out.ts';

/** The payments that can be changed, and the answer to a change. */
export interface Changed {
  readonly kind: PaymentApi;
  /** Makes the body of the answer. */
  readonly present: (payment: Payment) => string;
  /** Schemas of the answers by status. */
  readonly response: object;
}

const CHANGES = [
  {
    verb: 'cancel',
    done: 'cancelled',
    summary: (noun: PaymentApi) => `Cancel an unpaid ${noun}`,
    description: (noun: string) =>
      `The ${noun} can be cancelled while it is open and no money has been detected for it. Otherwise, the request is rejected (400). Requires a key with Full Access, Write Only or the payments:change scope.`,
    run: cancelPayment,
  },
  {
    verb: 'accept',
    done: 'accepted',
    summary: (noun: PaymentApi) => `Accept a partial or late payment for ${PAYMENT_KINDS[noun].one}`,
    description: (noun: string) =>
      `Completes an expired, cancelled, failed or underpaid ${noun} with the confirmed money that was received for it. Requires a key with Full Access, Write Only or the payments:change scope.`,
    run: acceptPayment,
  },
] as const;

/** `POST …/{id}/cancel`, `…/accept`, `…/simulate` and `…/advance`, the same for all kinds of payments. */
export function changeRoutes(app: FastifyInstance, api: Api, of: Changed): void {
  const { kind } = of;
  const { path, tag } = PAYMENT_ROUTES[kind];
  for (const { verb, done, summary, description, run } of CHANGES) {
    app.post<{ Params: { id: string } }>(
      `${path}/:id/${verb}`,
      {
        config: paymentGuard(kind, 'change_payment'),
        schema: {
          tags: [tag],
          operationId: verb + titled(kind),
          summary: summary(kind),
          description: description(kind),
          headers: idempotencyHeader,
          params: paymentParams(kind),
          response: of.response,
        },
      },
      async (request, reply) => {
        const key = keyOf(request);
        const selector = selectorOf(key, kind, request.params.id);
        const presented = { present: of.present, idempotency: idempotencyOf(request, key) };
        const outcome = await run(forRequest(api.app, request.id), selector, presented);
        return sendChanged(reply, outcome, kind, done);
      },
    );
  }
  simulateRoute(app, api, of);
  advanceRoute(app, api, of.kind);
}

const simulateBody = Type.Object(
  {
    outcome: Type.Unsafe<Simulation>({
      ...oneOf(SIMULATIONS),
      description: SIMULATIONS.map((one) => `\`${one}\`: ${meaningOfSimulation(one)}`).join(' '),
    }),
    stages: Type.Optional(
      integer(
        1,
        MAX_STAGE_SECONDS,
        `With ${STAGED_SIMULATIONS.join(' or ')}: the seconds that each stage (detected, confirming, completed) takes. By default, all of them happen at once.`,
      ),
    ),
  },
  { examples: [{ outcome: 'paid' }] },
);

function notPossible(payment: Payment, simulation: Simulation): string {
  const possible = possibleSimulations(payment, false);
  const wayOut = possible.length === 0 ? 'Create another one.' : `Possible now: ${possible.join(', ')}.`;
  return `outcome ${simulation} is not possible because the ${payment.api} is ${payment.status}. ${wayOut}`;
}

/** `POST …/{id}/simulate`, with test keys alone. */
function simulateRoute(app: FastifyInstance, api: Api, of: Changed): void {
  const { kind } = of;
  const { path, tag } = PAYMENT_ROUTES[kind];
  const schema = {
    tags: [tag],
    operationId: `simulate${titled(kind)}`,
    summary: `Simulate the outcome of a test ${kind}`,
    description: `Takes the ${kind} through the same statuses and events as real money would. Requires a test key with Full Access, Write Only or the payments:change scope.`,
    headers: idempotencyHeader,
    params: paymentParams(kind),
    body: simulateBody,
    response: of.response,
  };
  app.post<{ Params: { id: string }; Body: Static<typeof simulateBody> }>(
    `${path}/:id/simulate`,
    { config: paymentGuard(kind, 'change_payment'), schema },
    async (request, reply) => {
      const key = testKeyOf(request, 'test payments can be simulated');
      const { outcome: simulation, stages } = request.body;
      if (stages !== undefined && !STAGED_SIMULATIONS.includes(simulation)) {
        throw invalid(
          'stages',
          `stages can only be given with ${STAGED_SIMULATIONS.join(' or ')}, because ${simulation} has only one stage.`,
        );
      }
      const stageMs = stages === undefined ? null : stages * 1_000;
      const presented = { present: of.present, idempotency: idempotencyOf(request, key) };
      const selector = selectorOf(key, kind, request.params.id);
      const outcome = await simulateOutcome(forRequest(api.app, request.id), selector, simulation, stageMs, presented);
      if (outcome.kind === 'not_sandbox') throw notFound(`There is no such ${kind}.`);
      if (outcome.kind === 'no_rate') throw new RequestError('service_unavailable', outcome.message);
      if (outcome.kind === 'refused' && 'reason' in outcome && outcome.reason === 'not_open') {
        throw invalid('outcome', notPossible(outcome.payment, simulation));
      }
      if (outcome.kind === 'refused' && 'param' in outcome) throw invalid(null, messageOf(outcome));
      return sendChanged(reply, outcome, kind, `simulated as ${simulation}`);
    },
  );
}
