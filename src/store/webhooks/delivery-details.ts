import { sql, type Selectable } from 'kysely';
import type { Database } from '../database.ts';
import { COLUMNS, SOURCES, type DeliveryRow, type DeliveryScope } from './delivery-list.ts';
import { columnsOf, type Tables } from '../tables.ts';

/** One attempt with all that was sent and answered. */
export interface AttemptDetails {
  readonly manual: boolean;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly responseStatus: number | null;
  readonly responseHeaders: Readonly<Record<string, string>> | null;
  readonly responseBody: string | null;
  /** Whether the answer was longer than the part that is stored. */
  readonly responseTruncated: boolean;
  readonly errorStage: string | null;
  readonly error: string | null;
}

export interface DeliveryDetails extends DeliveryRow {
  readonly body: string;
  readonly deliveredAt: number | null;
  readonly endpointState: 'on' | 'paused' | 'disabled' | 'deleted';
  /** The newest first. */
  readonly attempts: readonly AttemptDetails[];
}

/** A delivery with its newest attempts; null if there is none in this project and mode. */
export async function findDeliveryDetails(
  db: Database,
  { projectId, mode }: DeliveryScope,
  id: bigint,
  maxAttempts: number,
): Promise<DeliveryDetails | null> {
  const { rows } = await sql<Omit<DeliveryDetails, 'attempts'>>`
    select ${COLUMNS}, w.id as "endpointId", w.url, p.surface, e.body, d.delivered_at as "deliveredAt",
      case when w.deleted_at is not null then 'deleted' when w.disabled_at is not null then 'disabled'
        when w.paused_at is not null then 'paused' else 'on' end as "endpointState"
    from ${SOURCES} join webhook_endpoints w on w.id = d.endpoint_id left join payments p on p.id = e.payment_id
    where d.id = ${id}::bigint and w.project_id = ${projectId}::uuid and w.mode = ${mode}`.execute(db);
  const [row] = rows;
  if (row === undefined) return null;
  const attempts = await db
    .selectFrom('delivery_attempts')
    .select(columnsOf('delivery_attempts'))
    .where('delivery_id', '=', id)
    .orderBy('id', 'desc')
    .limit(maxAttempts)
    .execute();
  return {
    ...row,
    attempts: attempts.map(attemptFromRow),
  };
}

export function attemptFromRow(row: Selectable<Tables['delivery_attempts']>): AttemptDetails {
  return {
    manual: row.manual,
    startedAt: row.started_at,
    durationMs: row.duration_ms,
    requestHeaders: row.request_headers,
    responseStatus: row.response_status,
    responseHeaders: row.response_headers,
    responseBody: row.response_body,
    responseTruncated: row.response_truncated,
    errorStage: row.error_stage,
    error: row.error,
  };
}
