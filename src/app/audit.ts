import { insertAuditEntry, type AuditEntry, type AuditValues } from '../store/people/audit.ts';
import type { Trx } from '../store/database.ts';
import { newId, type App, type Actor } from './context.ts';

const SERVICE: Actor = { kind: 'service', id: null, name: 'Cointill', ip: null };

/** The actor of this context; the service itself if there is none. */
export function whoActs({ actor }: Pick<App, 'actor'>): Actor {
  return actor ?? SERVICE;
}

/** One audited change, such as `wallet.set` on a project's wallet. Values are keyed by field; secrets are left out. */
export interface AuditedChange {
  readonly action: string;
  readonly projectId: string | null;
  readonly subject: { readonly kind: string; readonly id: string | null };
  readonly before?: AuditValues | null;
  readonly after?: AuditValues | null;
}

/** Records the change and its actor in the change's own transaction, so that neither exists without the other. */
export async function recordAudit(app: App, trx: Trx, change: AuditedChange): Promise<void> {
  await insertAuditEntry(trx, auditEntry(app, change));
}

/** The audit entry of a change made by the context's actor. */
export function auditEntry(
  app: Pick<App, 'clock' | 'random' | 'realClock' | 'actor' | 'requestId'>,
  change: AuditedChange,
): AuditEntry {
  const at = app.clock();
  const { ip, ...actor } = whoActs(app);
  return {
    id: newId(app, at),
    at,
    actor,
    action: change.action,
    projectId: change.projectId,
    subject: change.subject,
    before: change.before ?? null,
    after: change.after ?? null,
    ip,
    requestId: app.requestId ?? null,
  };
}

/**
 * Records a change of a payment or refund, but only for people and operators: the payment's own history has what
 * customers and keys do.
 */
export async function recordPeoplesAudit(app: App, trx: Trx, change: AuditedChange): Promise<void> {
  if (app.actor?.kind === 'person' || app.actor?.kind === 'command') await recordAudit(app, trx, change);
}

/** The fields in which two records differ, as the log stores them: bigints as text. */
export function differences(
  before: object,
  after: object,
): { readonly before: AuditValues; readonly after: AuditValues } {
  const [old, now] = [plainValues(before), plainValues(after)];
  const changed = Object.keys(now).filter((field) => JSON.stringify(old[field]) !== JSON.stringify(now[field]));
  const only = (values: AuditValues): AuditValues => Object.fromEntries(changed.map((field) => [field, values[field]]));
  return { before: only(old), after: only(now) };
}

function plainValues(record: object): AuditValues {
  return Object.fromEntries(
    Object.entries(record).map(([field, value]: [string, unknown]) => [
      field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      typeof value === 'bigint' ? String(value) : value,
    ]),
  );
}
