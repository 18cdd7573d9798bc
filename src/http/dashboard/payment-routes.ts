import type { FastifyInstance, FastifyRequest } from 'fastify';
import { readPaymentDetails } from '../../app/dashboard/payment-details.ts';
import type { App } from '../../app/context.ts';
import type { ChangeOutcome, PaymentSelector } from '../../app/payments/change-payment.ts';
import {
  acceptPayment,
  cancelPayment,
  completeSandboxPayment,
  type NotSandbox,
} from '../../app/payments/payment-actions.ts';
import { simulatePayment } from '../../app/payments/simulate-payment.ts';
import type { TokenRefusal } from '../../app/payments/quote-payment.ts';
import { CHANGE_PAYMENTS, mayDo } from '../../domain/role.ts';
import type { PaymentChange } from '../../store/save-changes.ts';
import { searchPayments } from '../../store/payment-list.ts';
import { encodeId } from '../../domain/id.ts';
import { whyNot } from '../api.ts';
import { invalid, RequestError } from '../errors.ts';
import type { Consequences, PaymentView } from './contract/payments.ts';
import { readAfter, readFilters } from './payment-filters.ts';
import { paymentRow, paymentView } from './payment-views.ts';
import { noPayment, paymentSelector, scopeOf, type ProjectScope } from './project-scope.ts';
import { addRoute, appFor, type Dashboard } from './route.ts';

const PAYMENTS = '/dashboard/api/projects/:project/:mode/payments';
const PAGE = 50;

/** The list of both APIs' payments, one payment with all that is known of it, and what people do to it. */
export function paymentRoutes(app: FastifyInstance, { people: { app: core } }: Dashboard): void {
  const READ = { action: 'read_payments' } as const;
  addRoute(app, `GET ${PAYMENTS}`, READ, async ({ params, query, request }) => {
    const scope = scopeOf(request, params);
    const limit = query.limit ?? PAGE;
    const page = { after: readAfter(query.after), limit: limit + 1 };
    const found = await searchPayments(core.db, scope, readFilters(query), page);
    const shown = found.slice(0, limit);
    return { data: shown.map(paymentRow), next: found.length > limit ? (shown.at(-1)?.id ?? null) : null };
  });
  addRoute(app, `GET ${PAYMENTS}/:payment`, READ, ({ params, request }) => {
    const scope = scopeOf(request, params);
    return viewOf(core, scope, paymentSelector(scope, params.payment));
  });
  changeRoutes(app, core);
}

function changeRoutes(app: FastifyInstance, core: App): void {
  const CHANGE = { action: 'change_payments' } as const;
  const act = async (
    request: FastifyRequest,
    params: { readonly project: string; readonly mode: string; readonly payment: string },
    done: string,
    run: (app: App, selector: PaymentSelector) => Promise<ChangeOutcome<TokenRefusal | NotSandbox>>,
  ) => {
    const scope = scopeOf(request, params);
    const selector = paymentSelector(scope, params.payment);
    const change = changeOf(await run(appFor(core, request), selector), done);
    const payment = await viewOf(core, scope, selector);
    return { payment, consequences: consequencesOf(change, payment) };
  };
  addRoute(app, `POST ${PAYMENTS}/:payment/complete`, CHANGE, ({ params, request }) =>
    act(request, params, 'completed', completeSandboxPayment),
  );
  addRoute(app, `POST ${PAYMENTS}/:payment/cancel`, CHANGE, ({ params, request }) =>
    act(request, params, 'cancelled', cancelPayment),
  );
  addRoute(app, `POST ${PAYMENTS}/:payment/accept`, CHANGE, ({ params, request }) =>
    act(request, params, 'accepted', acceptPayment),
  );
  addRoute(app, `POST ${PAYMENTS}/:payment/simulate`, CHANGE, ({ params, body, request }) =>
    act(request, params, 'simulated', (own, selector) => simulatePayment(own, selector, body.outcome)),
  );
}

async function viewOf(core: App, { mode, role }: ProjectScope, selector: PaymentSelector): Promise<PaymentView> {
  const seen = await readPaymentDetails(core, selector);
  if (seen === null) throw noPayment();
  const mayChange = mayDo(role, CHANGE_PAYMENTS[mode]);
  return paymentView(seen, core.links, { mayChange, seesWebhooks: mayDo(role, 'read_developer') });
}

/** Throws why nothing was changed. */
function changeOf(outcome: ChangeOutcome<TokenRefusal | NotSandbox>, done: string): PaymentChange {
  switch (outcome.kind) {
    case 'changed':
      return outcome.change;
    case 'not_found':
      throw noPayment();
    case 'not_sandbox':
      throw invalid(null, `Only test payments can be ${done} by hand. A live one is paid on its chain.`);
    case 'no_rate':
      throw new RequestError('service_unavailable', outcome.message);
    case 'refused':
      throw invalid(
        null,
        'reason' in outcome
          ? `The payment cannot be ${done}: ${whyNot(outcome.reason, outcome.payment)}`
          : outcome.message,
      );
    case 'replayed':
    case 'key_reused':
    case 'still_running':
      throw new Error('The dashboard sends no idempotency keys.');
  }
}

function consequencesOf({ before, after, events }: PaymentChange, { timeline }: PaymentView): Consequences {
  const ids = new Set(events.map(({ id }) => encodeId('event', id)));
  return {
    from: (before ?? after).status,
    to: after.status,
    exception: after.exception,
    events: events.map(({ type }) => type),
    deliveries: timeline
      .map((entry) => (entry.kind === 'event' && ids.has(entry.id) ? entry.deliveries.length : 0))
      .reduce((sum, count) => sum + count, 0),
  };
}
