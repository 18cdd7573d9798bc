import { CompiledQuery } from 'kysely';
import { auditCondition, type AuditFilter } from './audit-filter.ts';
import type { Database, Trx } from '../database.ts';
import type { Statement } from '../pipeline.ts';
import { fields, toRow, type Stored } from '../rows.ts';
import type { ActorKind } from '../schema/people.ts';

/** Field by field, secrets left out. */
export type AuditValues = Readonly<Record<string, unknown>>;

type Row = Stored<'audit_log'>;

/** One change, as the log keeps it. */
export interface AuditEntry extends Omit<Row, 'actorKind' | 'actorId' | 'actorName' | 'subjectKind' | 'subjectId'> {
  readonly actor: { readonly kind: ActorKind; readonly id: string | null; readonly name: string };
  readonly subject: { readonly kind: string; readonly id: string | null };
}

export async function insertAuditEntry(trx: Trx, entry: AuditEntry): Promise<void> {
  await trx.executeQuery(auditStatement(entry));
}

/** The statement that saves an entry, to be sent together with others. */
export function auditStatement({ actor, subject, ...entry }: AuditEntry): Statement {
  const row = toRow('audit_log', {
    ...entry,
    actorKind: actor.kind,
    actorId: actor.id,
    actorName: actor.name,
    subjectKind: subject.kind,
    subjectId: subject.id,
  });
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
    .select(fields('audit_log'))
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
    .select(fields('audit_log'))
    .where('subject_kind', '=', 'key')
    .where('subject_id', 'in', keys)
    .orderBy('id')
    .execute();
  return rows.map(entryFromRow);
}

function entryFromRow({ actorKind, actorId, actorName, subjectKind, subjectId, ...entry }: Row): AuditEntry {
  return {
    ...entry,
    actor: { kind: actorKind, id: actorId, name: actorName },
    subject: { kind: subjectKind, id: subjectId },
  };
}
