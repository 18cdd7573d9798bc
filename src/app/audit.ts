import { insertAuditEntry, type AuditEntry, type AuditValues } from '../store/people/audit.ts';
import type { Trx } from '../store/database.ts';
import { newId, type App, type Actor } from './context.ts';

const SERVICE: Actor = { kind: 'service', id: null, name: 'Cointill', ip: null };

/** Who works in this context. */
export function whoActs({ actor }: Pick<App, 'actor'>): Actor {
  return actor ?? SERVICE;
}

/** What is changed, such as `wallet.set` of a project's wallet. Values go by field, secrets left out. */
export interface AuditedChange {
  readonly action: string;
  readonly projectId: string | null;
  readonly subject: { readonly kind: string; readonly id: string | null };
  readonly before?: AuditValues | null;
  readonly after?: AuditValues | null;
}

/** Keeps in the change's own transaction who makes it: neither is there without the other. */
export async function recordAudit(app: App, trx: Trx, change: AuditedChange): Promise<void> {
  await insertAuditEntry(trx, auditEntry(app, change));
}

/** The entry of a change, by the actor in the context. */
export function auditEntry(
  app: Pick<App, 'clock' | 'random' | 'actor' | 'requestId'>,
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
 * The same for payments and refunds: only what persons and operators do. What customers and keys do is in the payment's
 * own history.
 */
export async function recordPeoplesAudit(app: App, trx: Trx, change: AuditedChange): Promise<void> {
  if (app.actor?.kind === 'person' || app.actor?.kind === 'command') await recordAudit(app, trx, change);
}

/** Only what differs of two records, as the log keeps it: bigints as text. */
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
