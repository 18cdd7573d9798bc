import { sql, type RawBuilder } from 'kysely';
import { timestamp, type Database } from '../database.ts';
import type { DeliveryScope } from './delivery-list.ts';

/** The recent attempts at an endpoint, and the deliveries that wait for it. */
export interface EndpointHealth {
  readonly endpointId: string;
  /** Attempts of its newest deliveries, at most a thousand, since the given time. */
  readonly attempts: number;
  /** The attempts among these that were answered with 200 to 299. */
  readonly acknowledged: number;
  /** The median duration of the answers; null without any. */
  readonly medianMs: number | null;
  readonly p95Ms: number | null;
  /** At most {@link MAX_COUNTED} plus one. */
  readonly waiting: number;
  readonly nextAttemptAt: number | null;
  readonly lastAttemptAt: number | null;
}

/** More waiting deliveries than this are not counted. */
export const MAX_COUNTED = 10_000;
const NEWEST = 1_000;

/** The health of all endpoints of a project and mode that were not deleted. */
export async function endpointHealth(
  db: Database,
  { projectId, mode }: DeliveryScope,
  since: number,
): Promise<ReadonlyMap<string, EndpointHealth>> {
  const { rows } = await sql<EndpointHealth>`
    select w.id as "endpointId", lately.*, due.*
    from webhook_endpoints w
    cross join lateral (
      select count(a.id)::integer as attempts,
        (count(a.id) filter (where a.response_status between 200 and 299))::integer as acknowledged,
        ${percentile(0.5)} as "medianMs", ${percentile(0.95)} as "p95Ms",
        max(a.started_at) as "lastAttemptAt"
      from (
        select id from deliveries where endpoint_id = w.id order by id desc limit ${NEWEST}
      ) d join delivery_attempts a on a.delivery_id = d.id and a.started_at >= ${timestamp(since)}
    ) lately
    cross join lateral (
      select count(*)::integer as waiting, min(next_attempt_at) as "nextAttemptAt" from (
        select next_attempt_at from deliveries where endpoint_id = w.id and next_attempt_at is not null
        order by next_attempt_at limit ${MAX_COUNTED + 1}
      ) d
    ) due
    where w.project_id = ${projectId}::uuid and w.mode = ${mode} and w.deleted_at is null`.execute(db);
  return new Map(rows.map((health) => [health.endpointId, health]));
}

/** A percentile of the durations of answers, in whole milliseconds. */
function percentile(fraction: number): RawBuilder<unknown> {
  return sql`floor(0.5 + percentile_cont(${fraction}::double precision) within group (order by a.duration_ms)
    filter (where a.response_status is not null))::integer`;
}
