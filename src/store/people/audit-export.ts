import { sql } from 'kysely';
import type { Client } from 'pg';
import { auditCondition, type AuditFilter } from './audit-filter.ts';
import { copyFile } from '../reports/copy-file.ts';
import { guarded, time, type Writing } from '../reports/export-columns.ts';

/** A file of the audit log. */
export interface AuditExport extends Writing {
  readonly filter: AuditFilter;
}

const CSV_HEADS = ['time', 'who', 'name', 'action', 'project', 'of', 'id', 'before', 'after', 'address', 'request'];

/** Passes on a file of the log, the newest first, as it is at one moment. Returns the number of rows. */
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
