import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { App } from '../../../app/context.ts';
import { addLabel, dropLabel, labelNames } from '../../../app/dashboard/labels.ts';
import { addNote, editNote, removeNote, type AnnotationOutcome } from '../../../app/dashboard/notes.ts';
import type { PaymentSelector } from '../../../app/payments/change-payment.ts';
import { parseUuid } from '../../../domain/id.ts';
import { mayDo } from '../../../domain/role.ts';
import { invalid, notFound, RequestError } from '../../errors.ts';
import type { PaymentView } from '../payments/contract.ts';
import { viewOf } from '../payments/record.ts';
import { addRoute, appFor, type Dashboard } from '../route.ts';
import { noPayment, paymentSelector, scopeOf, type ProjectScope } from '../scope.ts';

const PAYMENT = '/dashboard/api/projects/:project/:mode/payments/:payment';

/** Notes and labels of payments. */
export function annotationRoutes(app: FastifyInstance, { people: { app: core } }: Dashboard): void {
  const WRITE = { action: 'write_notes' } as const;
  const act = async (
    request: FastifyRequest,
    params: { readonly project: string; readonly mode: string; readonly payment: string },
    run: (own: App, selector: PaymentSelector, scope: ProjectScope) => Promise<AnnotationOutcome>,
  ): Promise<PaymentView> => {
    const scope = scopeOf(request, params);
    const selector = paymentSelector(scope, params.payment);
    checkDone(await run(appFor(core, request), selector, scope));
    return viewOf(core, request, scope, selector);
  };
  addRoute(app, 'GET /dashboard/api/projects/:project/labels', { action: 'read_payments' }, async ({ params }) => ({
    // The guard has checked that the project exists.
    data: [...(await labelNames(core, params.project.toLowerCase()))],
  }));
  addRoute(app, `POST ${PAYMENT}/notes`, WRITE, ({ params, body, request }) =>
    act(request, params, (own, selector) => addNote(own, selector, body.text)),
  );
  addRoute(app, `POST ${PAYMENT}/notes/edit`, WRITE, ({ params, body, request }) =>
    act(request, params, (own, selector) => editNote(own, selector, { ...body, id: noteId(body.id) })),
  );
  addRoute(app, `POST ${PAYMENT}/notes/delete`, WRITE, ({ params, body, request }) =>
    act(request, params, (own, selector, { role }) => {
      const mayDeleteOthers = mayDo(role, 'delete_notes');
      return removeNote(own, selector, { ...body, id: noteId(body.id), mayDeleteOthers });
    }),
  );
  addRoute(app, `POST ${PAYMENT}/labels`, WRITE, ({ params, body, request }) =>
    act(request, params, (own, selector) => addLabel(own, selector, body.label)),
  );
  addRoute(app, `POST ${PAYMENT}/labels/remove`, WRITE, ({ params, body, request }) =>
    act(request, params, (own, selector) => dropLabel(own, selector, body.label)),
  );
}

function noteId(text: string): string {
  const id = parseUuid(text);
  if (id === null) throw notFound('There is no such note.');
  return id;
}

/** Throws the refusal if nothing was changed. */
export function checkDone(outcome: AnnotationOutcome): void {
  switch (outcome.kind) {
    case 'done':
      return;
    case 'not_found':
      throw noPayment();
    case 'refused':
      throw invalid(outcome.param, outcome.message);
    case 'conflict':
      throw new RequestError('conflict_error', outcome.message);
  }
}
