import { CompiledQuery, type Selectable } from 'kysely';
import { auditCondition, type AuditFilter } from './audit-filter.ts';
import type { Database, Trx } from '../database.ts';
import type { Statement } from '../pipeline.ts';
import type { ActorKind } from '../schema/people.ts';
import { columnsOf, type NewRow, type Tables } from '../tables.ts';

/** Field by field, secrets left out. */
export type AuditValues = Readonly<Record<string, unknown>>;

/** One change, as the log keeps it. */
export interface AuditEntry {
  readonly id: string;
  readonly at: number;
  readonly actor: { readonly kind: ActorKind; readonly id: string | null; readonly name: string };
  /** Such as `wallet.set`. */
  readonly action: string;
  readonly projectId: string | null;
  readonly subject: { readonly kind: string; readonly id: string | null };
  readonly before: AuditValues | null;
  readonly after: AuditValues | null;
  /** The client's address; null at the command line. */
  readonly ip: string | null;
  readonly requestId: string | null;
}

export async function insertAuditEntry(trx: Trx, entry: AuditEntry): Promise<void> {
  await trx.executeQuery(auditStatement(entry));
}

/** The statement that saves an entry, to be sent together with others. */
export function auditStatement({ actor, subject, before, after, ...entry }: AuditEntry): Statement {
  const row = {
    id: entry.id,
    at: new Date(entry.at),
    actor_kind: actor.kind,
    actor_id: actor.id,
    actor_name: actor.name,
    action: entry.action,
    project_id: entry.projectId,
    subject_kind: subject.kind,
    subject_id: subject.id,
    before: before === null ? null : JSON.stringify(before),
    after: after === null ? null : JSON.stringify(after),
    ip: entry.ip,
    request_id: entry.requestId,
  } satisfies NewRow<'audit_log'>;
  const columns = Object.keys(row);
  const places = columns.map((_, index) => `$${index + 1}`);
  return CompiledQuery.raw(
    `insert into audit_log (${columns.join(', ')}) values (${places.join(', ')})`,
    Object.values(row),
  );
}

/** One page of what a filter means, newest first; `after` is the last id of the page before. */
export async function listAuditEntries(
  executor: Database | Trx,
  filter: AuditFilter,
  page: { readonly after: string | null; readonly limit: number },
): Promise<readonly AuditEntry[]> {
  let query = executor
    .selectFrom('audit_log')
    .select(columnsOf('audit_log'))
    .where(auditCondition(filter))
    .orderBy('id', 'desc')
    .limit(page.limit);
  if (page.after !== null) query = query.where('id', '<', page.after);
  return (await query.execute()).map(entryFromRow);
}

/** What was done to these keys, named as the log does, oldest first. */
export async function changesOfKeys(executor: Database | Trx, keys: readonly string[]): Promise<readonly AuditEntry[]> {
  if (keys.length === 0) return [];
  const rows = await executor
    .selectFrom('audit_log')
    .select(columnsOf('audit_log'))
    .where('subject_kind', '=', 'key')
    .where('subject_id', 'in', keys)
    .orderBy('id')
    .execute();
  return rows.map(entryFromRow);
}

function entryFromRow(row: Selectable<Tables['audit_log']>): AuditEntry {
  return {
    id: row.id,
    at: row.at,
    actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name },
    action: row.action,
    projectId: row.project_id,
    subject: { kind: row.subject_kind, id: row.subject_id },
    before: row.before,
    after: row.after,
    ip: row.ip,
    requestId: row.request_id,
  };
}
