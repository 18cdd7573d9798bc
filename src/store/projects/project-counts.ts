import { sql } from 'kysely';
import { MODES, type Mode } from '../../domain/permission.ts';
import { isFinal, PAYMENT_STATUSES } from '../../domain/status.ts';
import { timestamp, type Database } from '../database.ts';

/** The parts of a project that stop when it is switched off, by mode. */
export type Stops = Readonly<
  Record<
    Mode,
    {
      /** Payments that have not ended. */
      readonly openPayments: number;
      /** Endpoints that receive events. */
      readonly endpoints: number;
      /** Keys that work. */
      readonly keys: number;
    }
  >
>;

const NOT_ENDED = PAYMENT_STATUSES.filter((status) => !isFinal(status));

export async function whatStops(db: Database, projectId: string, now: number): Promise<Stops> {
  const { rows } = await sql<Stops[Mode] & { readonly mode: Mode }>`
    select mode,
      (select count(*)::integer from payments p where p.project_id = ${projectId} and p.mode = m.mode
        and p.surface = any ('{order,transaction}'::text[])
        and p.status = any (${NOT_ENDED}::text[])) as "openPayments",
      (select count(*)::integer from webhook_endpoints e where e.project_id = ${projectId} and e.mode = m.mode
        and e.deleted_at is null and e.disabled_at is null and e.paused_at is null) as endpoints,
      (select count(*)::integer from api_keys k where k.project_id = ${projectId} and k.mode = m.mode
        and k.revoked_at is null and (k.ends_at is null or k.ends_at > ${timestamp(now)})) as keys
    from unnest(${[...MODES]}::text[]) as m (mode)`.execute(db);
  const byMode = new Map(rows.map(({ mode, ...stops }) => [mode, stops]));
  const of = (mode: Mode): Stops[Mode] => byMode.get(mode) ?? { openPayments: 0, endpoints: 0, keys: 0 };
  return { test: of('test'), live: of('live') };
}
