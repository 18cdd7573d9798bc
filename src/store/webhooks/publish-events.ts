import { sql } from 'kysely';
import type { Trx } from '../database.ts';
import { wake } from '../wake.ts';
import { saveEvents, type NewEvent } from '../payments/save-changes.ts';

/** Saves events that belong to no payment's change, with a delivery for each endpoint registered for their type. */
export async function publishEvents(trx: Trx, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  await saveEvents(trx, events);
  await sql`
    insert into deliveries (event_id, endpoint_id, state, next_attempt_at, created_at)
    select e.id, w.id, 'waiting', e.created_at, e.created_at
    from events e join webhook_endpoints w on w.project_id = e.project_id and w.mode = e.mode and e.type = any (w.events)
    where e.id = any (${events.map(({ id }) => id)}::uuid[]) and w.deleted_at is null and w.disabled_at is null`.execute(
    trx,
  );
  await wake(trx, ['deliveries']);
}
