import {
  countCustomerData,
  countOpenBefore,
  deleteCustomerData,
  type CustomerChoice,
  type CustomerDataCounts,
} from '../../store/payments/customer-data.ts';
import { findProject } from '../../store/projects/projects.ts';
import { recordAudit } from '../audit.ts';
import type { App } from '../context.ts';
import { noProject, rejected, type Rejected } from '../rejected.ts';

/** The customer, given by exactly one of the two. */
export interface CustomerRequest {
  readonly email?: string | undefined;
  /** Only payments older than this many days. */
  readonly days?: number | undefined;
}

export type { CustomerDataCounts };

const DAY_MS = 24 * 60 * 60_000;
const DAYS = { min: 1, max: 3_650 } as const;
const MAX_EMAIL = 254;
/** Upper limit per call (1-2 s in one transaction); the caller repeats for more. */
const MAX_PAYMENTS = 1_000;
/** Events are read to be counted, which would take minutes for a million payments. */
const MAX_COUNTED = 10_000;

function choiceOf(app: App, { email, days }: CustomerRequest): CustomerChoice | Rejected {
  if ((email === undefined) === (days === undefined))
    return rejected('customer_choice', email === undefined ? {} : { param: 'email' });
  if (days !== undefined) {
    const isFine = Number.isInteger(days) && days >= DAYS.min && days <= DAYS.max;
    if (!isFine) return rejected('whole_number', { param: 'days', ...DAYS });
    return { kind: 'before', before: app.clock() - days * DAY_MS };
  }
  const text = email?.trim() ?? '';
  const isAddress = /^[^\s@]+@[^\s@]+$/.test(text) && text.length <= MAX_EMAIL;
  return isAddress ? { kind: 'email', email: text } : rejected('customer_email', { param: 'email' });
}

/**
 * The data that a deletion would clear, from the first 10,000 payments, and whether there are more. `open` counts
 * payments old enough whose data stay until they have ended.
 */
export async function previewCustomerData(
  app: App,
  projectId: string,
  request: CustomerRequest,
): Promise<
  | { readonly kind: 'done'; readonly counts: CustomerDataCounts; readonly hasMore: boolean; readonly open: number }
  | Rejected
> {
  const choice = choiceOf(app, request);
  if (choice.kind === 'rejected') return choice;
  if ((await findProject(app.db, projectId)) === null) return noProject(projectId);
  const [counted, open] = await Promise.all([
    countCustomerData(app.db, projectId, choice, MAX_COUNTED),
    choice.kind === 'before' ? countOpenBefore(app.db, projectId, choice.before) : 0,
  ]);
  return { kind: 'done', ...counted, open };
}

/**
 * Deletes customers' data of at most a thousand payments, in one transaction with its audit entry, which has their
 * number but no names.
 *
 * @param after the end of the call before; null at first
 */
export async function removeCustomerData(
  app: App,
  projectId: string,
  request: CustomerRequest,
  after: string | null,
): Promise<{ readonly kind: 'done'; readonly counts: CustomerDataCounts; readonly next: string | null } | Rejected> {
  const choice = choiceOf(app, request);
  if (choice.kind === 'rejected') return choice;
  return app.db.transaction().execute(async (trx) => {
    if ((await findProject(trx, projectId)) === null) return noProject(projectId);
    const { counts, auditEntries, next } = await deleteCustomerData(trx, projectId, choice, {
      after,
      limit: MAX_PAYMENTS,
    });
    if (counts.payments > 0 || counts.invoices > 0 || auditEntries > 0) {
      const of = choice.kind === 'email' ? { customers: 'one' } : { older_than_days: request.days };
      await recordAudit(app, trx, {
        action: 'project.delete_customer_data',
        projectId,
        subject: { kind: 'project', id: projectId },
        after: {
          ...of,
          payments: counts.payments,
          events: counts.events,
          notes: counts.notes,
          invoices: counts.invoices,
          audit_entries: auditEntries,
        },
      });
    }
    return { kind: 'done', counts, next };
  });
}
