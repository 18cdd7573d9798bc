import { sql } from 'kysely';
import type { Database } from '../database.ts';
import { COLUMNS, SOURCES, type DeliveryRow, type DeliveryScope } from './delivery-list.ts';
import { fields, type Stored } from '../rows.ts';

/** One attempt with all that was sent and answered. */
export type AttemptDetails = Omit<Stored<'delivery_attempts'>, 'id' | 'deliveryId'>;

export const ATTEMPT = fields('delivery_attempts', { without: ['id', 'delivery_id'] });

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
    select ${COLUMNS}, w.id as "endpointId", w.url, p.surface as api, e.body, d.delivered_at as "deliveredAt",
      case when w.deleted_at is not null then 'deleted' when w.disabled_at is not null then 'disabled'
        when w.paused_at is not null then 'paused' else 'on' end as "endpointState"
    from ${SOURCES} join webhook_endpoints w on w.id = d.endpoint_id left join payments p on p.id = e.payment_id
    where d.id = ${id}::bigint and w.project_id = ${projectId}::uuid and w.mode = ${mode}`.execute(db);
  const [row] = rows;
  if (row === undefined) return null;
  const attempts = await db
    .selectFrom('delivery_attempts')
    .select(ATTEMPT)
    .where('delivery_id', '=', id)
    .orderBy('id', 'desc')
    .limit(maxAttempts)
    .execute();
  return { ...row, attempts };
}
