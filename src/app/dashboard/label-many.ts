import type { LABEL_FAULTS } from '../../domain/label-many.ts';
import type { ProjectMode } from '../../domain/permission.ts';
import { insertAuditEntries } from '../../store/people/audit.ts';
import { holdPayments, putLabelOn, takeLabelFrom, type NamedPayment } from '../../store/payments/label-many.ts';
import { takeLabel } from '../../store/payments/notes.ts';
import type { Trx } from '../../store/database.ts';
import { wake } from '../../store/wake.ts';
import { publicPaymentId } from '../../domain/payment-kind.ts';
import { auditEntry } from '../audit.ts';
import { newId, type App } from '../context.ts';
import type { Rejected } from '../rejected.ts';
import { MAX_LABELS_OF_PAYMENT, readLabel } from './labels.ts';

interface LabelledMany {
  readonly kind: 'done';
  /** The ids that changed: the others had the label already, or had it not. */
  readonly changed: readonly string[];
  readonly failed: readonly {
    readonly id: string;
    /** The merchant's name for the payment, if it is there. */
    readonly name: string | null;
    readonly reason: (typeof LABEL_FAULTS)[number];
  }[];
}

/** A change of the labels of a selection. */
interface LabelChange {
  readonly ids: readonly string[];
  readonly label: string;
  readonly what: 'add' | 'remove';
}

/**
 * Adds a label to payments or removes it, as far as possible: what cannot be changed is named, and the rest is changed.
 * Sent twice, the second time changes nothing. Two people may act on the same payments: each label is added or removed
 * once, and both are in the log.
 */
export async function labelMany(app: App, scope: ProjectMode, change: LabelChange): Promise<LabelledMany | Rejected> {
  const read = readLabel(change.label);
  if (typeof read !== 'string') return read;
  const ids = [...new Set(change.ids)];
  return app.db.transaction().execute(async (trx) => {
    const payments = await holdPayments(trx, scope, ids);
    const known = new Map(payments.map((payment) => [payment.id, payment]));
    const { labelId, changed, full } = await changeLabels(app, trx, scope, {
      ...change,
      label: read,
      ids: [...known.keys()],
    });
    const action = change.what === 'add' ? 'payment.label' : 'payment.label_remove';
    const values = { [change.what === 'add' ? 'after' : 'before']: { label_id: labelId } };
    const entries = changed.flatMap((id) => {
      const payment = known.get(id);
      if (payment === undefined) return [];
      const subject = { kind: 'payment', id: publicPaymentId(payment) };
      return auditEntry(app, { action, projectId: scope.projectId, subject, ...values });
    });
    await insertAuditEntries(trx, entries);
    if (changed.length > 0) await wake(trx, ['payments', ...changed]);
    const failed = ids.flatMap((id): LabelledMany['failed'] => {
      const payment = known.get(id);
      if (payment === undefined) return [{ id, name: null, reason: 'missing' }];
      return full.includes(id) ? [{ id, name: payment.name, reason: 'full' }] : [];
    });
    return { kind: 'done', changed, failed };
  });
}

interface Changed {
  readonly labelId: string | null;
  readonly changed: readonly NamedPayment['id'][];
  readonly full: readonly NamedPayment['id'][];
}

async function changeLabels(
  app: App,
  trx: Trx,
  scope: ProjectMode,
  { ids, label: name, what }: LabelChange,
): Promise<Changed> {
  const { projectId } = scope;
  if (what === 'remove') {
    const taken = await takeLabelFrom(trx, projectId, name, ids);
    return { labelId: taken?.labelId ?? null, changed: taken?.removed ?? [], full: [] };
  }
  if (ids.length === 0) return { labelId: null, changed: [], full: [] };
  const createdAt = app.clock();
  const { id: labelId } = await takeLabel(trx, { id: newId(app, createdAt), projectId, name, createdAt });
  const { added, full } = await putLabelOn(trx, labelId, scope, { ids, max: MAX_LABELS_OF_PAYMENT });
  return { labelId, changed: added, full };
}
