import { CompiledQuery, sql, type RawBuilder, type SqlBool } from 'kysely';
import type { Database, Trx } from '../database.ts';
import type { Statement } from '../pipeline.ts';
import { above, fields, findRows, insertRows, oneOf, toRow, type Stored } from '../rows.ts';
import type { ActorKind } from '../schema/people.ts';
import type { AuditGroup } from '../../domain/audit-group.ts';
import { firstUuidOf } from '../../domain/id.ts';
import type { Client } from 'pg';
import { copyFile } from '../reports/copy-file.ts';
import { guarded, time, type Writing } from '../reports/export-columns.ts';

/** Values keyed by field, without secrets. */
export type AuditValues = Readonly<Record<string, unknown>>;

type Row = Stored<'audit_log'>;

/** One change, as the log records it. */
export interface AuditEntry extends Omit<Row, 'actorKind' | 'actorId' | 'actorName' | 'subjectKind' | 'subjectId'> {
  readonly actor: { readonly kind: ActorKind; readonly id: string | null; readonly name: string };
  readonly subject: { readonly kind: string; readonly id: string | null };
}

export async function insertAuditEntry(trx: Trx, entry: AuditEntry): Promise<void> {
  await trx.executeQuery(auditStatement(entry));
}

/** Saves the entries of one change of many things. */
export async function insertAuditEntries(trx: Trx, entries: readonly AuditEntry[]): Promise<void> {
  await insertRows(trx, 'audit_log', entries.map(storedOf));
}

function storedOf({ actor, subject, ...entry }: AuditEntry): Row {
  return {
    ...entry,
    actorKind: actor.kind,
    actorId: actor.id,
    actorName: actor.name,
    subjectKind: subject.kind,
    subjectId: subject.id,
  };
}

/** The statement that saves an entry, to be sent together with others. */
export function auditStatement(entry: AuditEntry): Statement {
  const row = toRow('audit_log', storedOf(entry));
  const columns = Object.keys(row);
  const places = columns.map((_, index) => `$${index + 1}`);
  return CompiledQuery.raw(
    `insert into audit_log (${columns.join(', ')}) values (${places.join(', ')})`,
    Object.values(row),
  );
}

/** One page of the entries that match a filter, newest first; `after` is the last id of the page before. */
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

/** The entries about these keys, which are named as in the log, oldest first. */
export async function changesOfKeys(executor: Database | Trx, keys: readonly string[]): Promise<readonly AuditEntry[]> {
  if (keys.length === 0) return [];
  const ofKeys = { subjectKind: 'key', subjectId: oneOf(keys) };
  return (await findRows(executor, 'audit_log', ofKeys, { order: ['id'] })).map(entryFromRow);
}

/** The entries of one action on a subject since a time, oldest first. */
export async function entriesOf(
  executor: Database | Trx,
  subject: { readonly kind: string; readonly id: string | null; readonly action: string; readonly since: number },
): Promise<readonly AuditEntry[]> {
  const { kind: subjectKind, id: subjectId, action, since } = subject;
  const wanted = { subjectKind, subjectId, action, id: above(firstUuidOf(since)) };
  return (await findRows(executor, 'audit_log', wanted, { order: ['id'] })).map(entryFromRow);
}

function entryFromRow({ actorKind, actorId, actorName, subjectKind, subjectId, ...entry }: Row): AuditEntry {
  return {
    ...entry,
    actor: { kind: actorKind, id: actorId, name: actorName },
    subject: { kind: subjectKind, id: subjectId },
  };
}

/** Selects entries of the audit log. Null fields do not restrict. */
/** The time of the last entry with this action; null: there is none. */
export async function lastAuditOf(db: Database, action: string): Promise<number | null> {
  const { at } = await db
    .selectFrom('audit_log')
    .select(({ fn }) => fn.max('at').as('at'))
    .where('action', '=', action)
    .executeTakeFirstOrThrow();
  return at;
}

export interface AuditFilter {
  /** Null: entries of all projects, and of none. */
  readonly projectId: string | null;
  /** Projects whose entries are left out. */
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

/** An entry's id contains the time of the change, so that times are found along the ids. */
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

/** An export of the audit log. */
export interface AuditExport extends Writing {
  readonly filter: AuditFilter;
}

const CSV_HEADS = ['time', 'who', 'name', 'action', 'project', 'of', 'id', 'before', 'after', 'address', 'request'];

/** Passes on the log, newest first, from one snapshot. Returns the number of rows. */
export function copyAudit(
  client: Client,
  { filter, ...writing }: AuditExport,
  take: (piece: Buffer) => Promise<void>,
): Promise<number> {
  const { format, zone } = writing;
  const words = (text: string) => guarded(sql.raw(text), writing);
  const at = time(sql`at`)(writing);
  const selected =
    format === 'csv'
      ? sql.join([
          at,
          sql`actor_kind`,
          words('actor_name'),
          sql`action`,
          sql`project_id`,
          sql`subject_kind`,
          ...['subject_id', 'before::text', 'after::text', 'ip', 'request_id'].map(words),
        ])
      : sql`json_build_object('id', id, 'at', ${at}, 'actor', json_build_object('kind', actor_kind, 'id', actor_id, 'name', actor_name),
          'action', action, 'project_id', project_id, 'subject', json_build_object('kind', subject_kind, 'id', subject_id),
          'before', before, 'after', after, 'ip', ip, 'request_id', request_id)::text`;
  const query = sql`select ${selected} from audit_log where ${auditCondition(filter)} order by id desc`;
  const heads = CSV_HEADS.map((head) => (head === 'time' ? `time (${zone})` : head));
  return copyFile(client, writing, { heads, rows: (db) => query.compile(db) }, take);
}
