import { sql } from 'kysely';
import type { Trx } from '../database.ts';
import type { DeliveryState } from '../schema/webhooks.ts';

export interface AttemptRecord {
  readonly manual: boolean;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly responseStatus: number | null;
  readonly error: string | null;
}

export interface DeliveryRecord {
  readonly id: bigint;
  readonly url: string;
  readonly state: DeliveryState;
  readonly nextAttemptAt: number | null;
  readonly attempts: readonly AttemptRecord[];
}

export interface EventRecord {
  readonly id: string;
  readonly type: string;
  readonly createdAt: number;
  readonly deliveries: readonly DeliveryRecord[];
}

/** The events of a payment, oldest first. Deliveries and attempts are purged after a while; their events remain. */
export async function eventsOf(trx: Trx, paymentId: string, limit: number): Promise<readonly EventRecord[]> {
  const events = await trx
    .selectFrom('events')
    .select(['id', 'type', 'created_at'])
    .where('payment_id', '=', paymentId)
    .orderBy('created_at')
    // Ids of one millisecond are in no order.
    .orderBy(sql`(body::jsonb ->> 'sequence')::bigint`)
    .limit(limit)
    .execute();
  if (events.length === 0) return [];
  const deliveries = await trx
    .selectFrom('deliveries as d')
    .innerJoin('webhook_endpoints as w', 'w.id', 'd.endpoint_id')
    .select(['d.id', 'd.event_id', 'd.state', 'd.next_attempt_at', 'w.url'])
    .where(
      'd.event_id',
      'in',
      events.map(({ id }) => id),
    )
    .orderBy('d.id')
    .limit(limit)
    .execute();
  const attempts = await attemptsOf(
    trx,
    deliveries.map(({ id }) => id),
    limit,
  );
  const byEvent = Map.groupBy(deliveries, (delivery) => delivery.event_id);
  return events.map((event) => ({
    id: event.id,
    type: event.type,
    createdAt: event.created_at,
    deliveries: (byEvent.get(event.id) ?? []).map(({ id, url, state, next_attempt_at }) => ({
      id,
      url,
      state,
      nextAttemptAt: next_attempt_at,
      attempts: attempts.get(id) ?? [],
    })),
  }));
}

async function attemptsOf(
  trx: Trx,
  deliveryIds: readonly bigint[],
  limit: number,
): Promise<ReadonlyMap<bigint, readonly AttemptRecord[]>> {
  if (deliveryIds.length === 0) return new Map();
  const rows = await trx
    .selectFrom('delivery_attempts')
    .select(['delivery_id', 'manual', 'started_at', 'duration_ms', 'response_status', 'error'])
    .where('delivery_id', 'in', deliveryIds)
    .orderBy('id')
    .limit(limit)
    .execute();
  const groups = Map.groupBy(rows, (row) => row.delivery_id);
  return new Map(
    [...groups].map(([id, group]) => [
      id,
      group.map((row) => ({
        manual: row.manual,
        startedAt: row.started_at,
        durationMs: row.duration_ms,
        responseStatus: row.response_status,
        error: row.error,
      })),
    ]),
  );
}
