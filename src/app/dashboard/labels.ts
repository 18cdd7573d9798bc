import { labelsOfPayments, labelsOfProject, putLabel, removeLabel, takeLabel } from '../../store/payments/notes.ts';
import { hasVisible } from '../../domain/visible.ts';
import { newId, type App } from '../context.ts';
import { recordAudit } from '../audit.ts';
import { rejected, type Rejected } from '../rejected.ts';
import type { PaymentSelector } from '../payments/change-payment.ts';
import { annotate, ofPayment, type AnnotationOutcome } from './notes.ts';

export const MAX_LABELS_OF_PAYMENT = 20;
/** The maximum number of suggested labels. */
const MAX_LABELS_OF_PROJECT = 500;

/** The names of a project's labels, sorted. */
export async function labelNames(app: App, projectId: string): Promise<readonly string[]> {
  return (await labelsOfProject(app.db, projectId, MAX_LABELS_OF_PROJECT)).map(({ name }) => name);
}

/** A label as it is saved: its words, with single spaces between them. */
export function readLabel(text: string): string | Rejected {
  const name = text.trim().replaceAll(/\s+/g, ' ');
  // Filters separate labels by commas.
  return !hasVisible(name) || name.includes(',') ? rejected('label', { param: 'label' }) : name;
}

/** Adds a label to a payment. If the project has this label in another case, that one is used. */
export function addLabel(app: App, selector: PaymentSelector, text: string): Promise<AnnotationOutcome> {
  return annotate(app, selector, async (trx, payment) => {
    const name = readLabel(text);
    if (typeof name !== 'string') return name;
    const there = (await labelsOfPayments(trx, [payment.id])).get(payment.id) ?? [];
    if (there.length >= MAX_LABELS_OF_PAYMENT) {
      return rejected('too_many_labels', { param: 'label', max: MAX_LABELS_OF_PAYMENT });
    }
    const createdAt = app.clock();
    const { projectId } = payment;
    const label = await takeLabel(trx, { id: newId(app, createdAt), projectId, name, createdAt });
    if (await putLabel(trx, label.id, payment)) {
      await recordAudit(app, trx, ofPayment(payment, 'payment.label', { after: { label_id: label.id } }));
    }
    return { kind: 'done' };
  });
}

/** Removes a label from a payment, if it still has it. */
export function dropLabel(app: App, selector: PaymentSelector, name: string): Promise<AnnotationOutcome> {
  return annotate(app, selector, async (trx, payment) => {
    const removed = await removeLabel(trx, payment.projectId, payment.id, name);
    if (removed !== null) {
      await recordAudit(app, trx, ofPayment(payment, 'payment.label_remove', { before: { label_id: removed } }));
    }
    return { kind: 'done' };
  });
}
