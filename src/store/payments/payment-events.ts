import { sql } from 'kysely';
import type { Trx } from '../database.ts';
import type { Stored } from '../rows.ts';
import type { DeliveryState } from '../schema/webhooks.ts';

export type AttemptRecord = Pick<
  Stored<'delivery_attempts'>,
  'manual' | 'startedAt' | 'durationMs' | 'responseStatus' | 'error'
>;

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
    .select(['id', 'type', 'created_at as createdAt'])
    .where('payment_id', '=', paymentId)
    .orderBy('created_at')
    // Ids of the same millisecond are unordered, except those of messages, which have no number.
    .orderBy(sql`(body::jsonb ->> 'sequence')::bigint`)
    .orderBy('id')
    .limit(limit)
    .execute();
  if (events.length === 0) return [];
  const deliveries = await trx
    .selectFrom('deliveries as d')
    .innerJoin('webhook_endpoints as w', 'w.id', 'd.endpoint_id')
    .select(['d.id', 'd.event_id as eventId', 'd.state', 'd.next_attempt_at as nextAttemptAt', 'w.url'])
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
  const byEvent = Map.groupBy(deliveries, ({ eventId }) => eventId);
  return events.map((event) => ({
    ...event,
    deliveries: (byEvent.get(event.id) ?? []).map(({ eventId: _eventId, ...delivery }) => ({
      ...delivery,
      attempts: attempts.get(delivery.id) ?? [],
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
    .select(['delivery_id as deliveryId', 'manual', 'started_at as startedAt', 'duration_ms as durationMs'])
    .select(['response_status as responseStatus', 'error'])
    .where('delivery_id', 'in', deliveryIds)
    .orderBy('id')
    .limit(limit)
    .execute();
  return Map.groupBy(rows, ({ deliveryId }) => deliveryId);
}
