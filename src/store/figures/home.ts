import { sql } from 'kysely';
import type { Mode, ProjectMode } from '../../domain/permission.ts';
import type { Database } from '../database.ts';

/** The facts of the page Home: all are read from counters and ends of indexes, whatever the size of the tables. */

/** The steps of a merchant to the first live payment, and whether each was done. */
export interface FirstSteps {
  readonly testPayment: boolean;
  readonly webhook: boolean;
  readonly webhookAnswered: boolean;
  readonly wallet: boolean;
  readonly support: boolean;
  readonly liveKey: boolean;
  readonly livePayment: boolean;
}

/** How many of an endpoint's deliveries are searched for one that was answered. */
const LOOKED_AT = 1_000;

export async function firstSteps(db: Database, projectId: string): Promise<FirstSteps> {
  const completed = (mode: Mode) => sql`exists (
    select from payment_day_counts where project_id = ${projectId} and mode = ${mode} and status = 'completed' and payments > 0)`;
  const { rows } = await sql<FirstSteps>`
    select ${completed('test')} as "testPayment", ${completed('live')} as "livePayment",
      exists (select from webhook_endpoints where project_id = ${projectId} and deleted_at is null) as webhook,
      exists (
        select from webhook_endpoints w cross join lateral (
          select state from deliveries where endpoint_id = w.id order by id desc limit ${LOOKED_AT}
        ) d where w.project_id = ${projectId} and d.state = 'delivered') as "webhookAnswered",
      exists (select from wallets where project_id = ${projectId} and replaced_at is null) as wallet,
      exists (select from projects where id = ${projectId} and support_url is not null) as support,
      exists (select from api_keys where project_id = ${projectId} and mode = 'live' and revoked_at is null and successor_id is null) as "liveKey"
  `.execute(db);
  const [steps] = rows;
  if (steps === undefined) throw new Error('The database returned no row.');
  return steps;
}

/** The state of an endpoint's last deliveries. */
export interface EndpointHealth {
  readonly url: string;
  /** Why nothing is sent to it any more; null if deliveries are sent. */
  readonly disabledReason: string | null;
  /** Whether the newest attempted delivery was not acknowledged. */
  readonly isFailing: boolean;
}

/** The endpoints of a project and mode, oldest first. */
export async function endpointHealth(
  db: Database,
  { projectId, mode }: ProjectMode,
): Promise<readonly EndpointHealth[]> {
  const { rows } = await sql<EndpointHealth>`
    select w.url, case when w.disabled_at is null then null else coalesce(w.disabled_reason, 'disabled') end as "disabledReason",
      coalesce(d.state <> 'delivered', false) as "isFailing"
    from webhook_endpoints w
    left join lateral (
      select state from (select state, attempts, id from deliveries where endpoint_id = w.id order by id desc limit ${LOOKED_AT}) newest
      where state in ('delivered', 'failed') or attempts > 0 order by id desc limit 1
    ) d on true
    where w.project_id = ${projectId} and w.mode = ${mode} and w.deleted_at is null
    order by w.created_at, w.id`.execute(db);
  return rows;
}
