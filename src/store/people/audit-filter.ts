import { sql, type RawBuilder, type SqlBool } from 'kysely';
import type { AuditGroup } from '../../domain/audit-group.ts';
import { firstUuidOf } from '../../domain/id.ts';
import type { ActorKind } from '../schema/people.ts';

/** Which entries of the audit log are meant. What is null narrows nothing. */
export interface AuditFilter {
  /** Null: of all projects, and of none. */
  readonly projectId: string | null;
  /** Of all projects but these. */
  readonly without: readonly string[];
  /** A person's or key's id, or one kind of actors. */
  readonly who: { readonly id: string } | { readonly kind: ActorKind } | null;
  readonly group: AuditGroup | null;
  readonly from: number | null;
  readonly before: number | null;
}

export const WHOLE_LOG: AuditFilter = {
  projectId: null,
  without: [],
  who: null,
  group: null,
  from: null,
  before: null,
};

/** Entries get their ids by the time of the change, so that times are found along the ids. */
export function auditCondition({ projectId, without, who, group, from, before }: AuditFilter): RawBuilder<SqlBool> {
  const conditions = [
    ...(projectId === null ? [] : [sql`project_id = ${projectId}`]),
    ...(without.length === 0 ? [] : [sql`(project_id is null or not project_id = any(${[...without]}::uuid[]))`]),
    ...(who === null ? [] : ['id' in who ? sql`actor_id = ${who.id}` : sql`actor_kind = ${who.kind}`]),
    ...(group === null ? [] : [sql`audit_group(action) = ${group}`]),
    ...(from === null ? [] : [sql`id >= ${firstUuidOf(from)}`]),
    ...(before === null ? [] : [sql`id < ${firstUuidOf(before)}`]),
  ];
  return conditions.length === 0 ? sql<SqlBool>`true` : sql<SqlBool>`${sql.join(conditions, sql` and `)}`;
}
