import { parsePaymentId } from '../../../domain/payment-kind.ts';
import { addLabel, dropLabel, labelNames } from '../../../app/dashboard/labels.ts';
import { labelMany } from '../../../app/dashboard/label-many.ts';
import { addNote, editNote, removeNote, type AnnotationOutcome } from '../../../app/dashboard/notes.ts';
import type { PaymentSelector } from '../../../app/payments/change-payment.ts';
import { parseUuid } from '../../../domain/id.ts';
import { mayDo } from '../../../domain/role.ts';
import { notFound } from '../../errors.ts';
import { done } from '../refusal-words.ts';
import type { PaymentView } from '../payments/contract.ts';
import { viewOf } from '../payments/record.ts';
import type { Dashboard, Routes, PaymentCall } from '../route.ts';
import { paymentSelector } from '../scope.ts';

const PAYMENT = '/dashboard/api/projects/:project/:mode/payments/:payment';

/** Notes and labels of payments. */
export function annotationRoutes(routes: Routes, { people: { app: core } }: Dashboard): void {
  const WRITE = { action: 'write_notes' } as const;
  const act = async (
    { scope, own, params, request }: PaymentCall,
    run: (selector: PaymentSelector) => Promise<AnnotationOutcome>,
  ): Promise<PaymentView> => {
    const selector = paymentSelector(scope, params.payment);
    done(await run(selector));
    return viewOf(own, request, scope, selector);
  };
  routes.add('GET /dashboard/api/projects/:project/labels', { action: 'read_payments' }, async ({ scope }) => ({
    data: [...(await labelNames(core, scope.projectId))],
  }));
  routes.add('POST /dashboard/api/projects/:project/:mode/labels', WRITE, async ({ scope, own, body }) => {
    const { what, label, payments } = body;
    // A text that is no id is named like a payment that is not there.
    const asked = payments.map((text) => [parsePaymentId(text)?.id ?? null, text] as const);
    const ids = asked.flatMap(([id]) => id ?? []);
    const { changed, failed } = done(await labelMany(own, scope, { ids, label, what }));
    const textOf = new Map(asked);
    return {
      changed: changed.map((id) => textOf.get(id) ?? id),
      failed: [
        ...failed.map((one) => ({ ...one, id: textOf.get(one.id) ?? one.id })),
        ...asked.flatMap(([id, text]) => (id === null ? [{ id: text, name: null, reason: 'missing' as const }] : [])),
      ],
    };
  });
  routes.add(`POST ${PAYMENT}/notes`, WRITE, (call) =>
    act(call, (payment) => addNote(call.own, payment, call.body.text)),
  );
  routes.add(`POST ${PAYMENT}/notes/edit`, WRITE, (call) =>
    act(call, (payment) => editNote(call.own, payment, { ...call.body, id: noteId(call.body.id) })),
  );
  routes.add(`POST ${PAYMENT}/notes/delete`, WRITE, (call) => {
    const mayDeleteOthers = mayDo(call.scope.role, 'delete_notes');
    return act(call, (payment) =>
      removeNote(call.own, payment, { ...call.body, id: noteId(call.body.id), mayDeleteOthers }),
    );
  });
  routes.add(`POST ${PAYMENT}/labels`, WRITE, (call) =>
    act(call, (payment) => addLabel(call.own, payment, call.body.label)),
  );
  routes.add(`POST ${PAYMENT}/labels/remove`, WRITE, (call) =>
    act(call, (payment) => dropLabel(call.own, payment, call.body.label)),
  );
}

function noteId(text: string): string {
  const id = parseUuid(text);
  if (id === null) throw notFound('There is no such note.');
  return id;
}
