import { sql } from 'kysely';
import { firstUuidOf } from '../domain/id.ts';
import type { Mode } from '../domain/permission.ts';
import { timestamp, type Database } from './database.ts';
import { UNFLUSHED } from './deliveries.ts';
import type { DeliveryScope } from './delivery-list.ts';

/** A call of one of the APIs. Its id has the time at which it was answered. */
export interface ApiRequest {
  readonly id: string;
  readonly projectId: string;
  readonly mode: Mode;
  readonly requestId: string;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly status: number;
  readonly durationMs: number;
  readonly keyId: string;
  /** Null for public keys, which customers use. */
  readonly ip: string | null;
  readonly userAgent: string | null;
  /** Why it was refused; null if it was not. */
  readonly error: { readonly type: string; readonly param: string | null; readonly message: string } | null;
}

/** Saves requests together and counts them by the minute. Those of a crash may be missing. */
export async function insertApiRequests(db: Database, requests: readonly ApiRequest[]): Promise<void> {
  const rows = requests.map((one) => ({
    project_id: one.projectId,
    mode: one.mode,
    id: one.id,
    request_id: one.requestId,
    method: one.method,
    path: one.path,
    status: one.status,
    duration_ms: one.durationMs,
    key_id: one.keyId,
    ip: one.ip,
    user_agent: one.userAgent,
    error_type: one.error?.type,
    error_param: one.error?.param,
    error: one.error?.message,
    at: minuteOf(one.id),
  }));
  await sql`
    with ${UNFLUSHED}, given as materialized (
      select * from json_to_recordset(${JSON.stringify(rows)}::json) as r (
        project_id uuid, mode text, id uuid, request_id text, method text, path text, status smallint,
        duration_ms integer, key_id uuid, ip text, user_agent text, error_type text, error_param text, error text,
        at timestamptz)
    ), saved as (
      insert into api_requests (project_id, mode, id, request_id, method, path, status, duration_ms, key_id, ip,
        user_agent, error_type, error_param, error)
      select project_id, mode, id, request_id, method, path, status, duration_ms, key_id, ip, user_agent, error_type,
        error_param, error from given, unflushed order by project_id, mode, id
    )
    insert into api_request_counts (project_id, mode, at, requests)
    select project_id, mode, at, count(*) from given group by project_id, mode, at order by project_id, mode, at
    on conflict (project_id, mode, at) do update set requests = api_request_counts.requests + excluded.requests`.execute(
    db,
  );
}

const MINUTE_MS = 60_000;

/** The time in an id (UUID version 7), in epoch milliseconds. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

function minuteOf(id: string): string {
  return new Date(Math.floor(timeOfId(id) / MINUTE_MS) * MINUTE_MS).toISOString();
}

/** What narrows the log; null does not narrow. */
export interface ApiRequestSearch {
  readonly outcome: 'refused' | 'accepted' | null;
  readonly method: string | null;
  /** The beginning of the path. */
  readonly path: string | null;
  readonly status: number | null;
  readonly keyId: string | null;
  readonly requestId: string | null;
  readonly from: number | null;
  readonly before: number | null;
}

export interface ListedApiRequest extends Omit<ApiRequest, 'projectId' | 'mode' | 'error'> {
  /** What the key is called. */
  readonly keyName: string | null;
  readonly errorType: string | null;
  readonly errorParam: string | null;
  readonly error: string | null;
}

/** The calls of a project and mode, newest first; `after` is the last one of the page before. */
export async function searchApiRequests(
  db: Database,
  { projectId, mode }: DeliveryScope,
  search: ApiRequestSearch,
  page: { readonly after: string | null; readonly limit: number },
): Promise<readonly ListedApiRequest[]> {
  const { outcome, method, path, status, keyId, requestId, from, before } = search;
  const parts = [sql`r.project_id = ${projectId}::uuid and r.mode = ${mode}`];
  if (page.after !== null) parts.push(sql`r.id < ${page.after}::uuid`);
  if (from !== null) parts.push(sql`r.id >= ${firstUuidOf(from)}::uuid`);
  if (before !== null) parts.push(sql`r.id < ${firstUuidOf(before)}::uuid`);
  // What was refused has an index of its own.
  if (outcome === 'refused' || (status !== null && status >= 400)) parts.push(sql`r.status >= 400`);
  if (outcome === 'accepted') parts.push(sql`r.status < 400`);
  if (status !== null) parts.push(sql`r.status = ${status}`);
  if (method !== null) parts.push(sql`r.method = ${method}`);
  if (path !== null) parts.push(sql`starts_with(r.path, ${path})`);
  if (keyId !== null) parts.push(sql`r.key_id = ${keyId}::uuid`);
  if (requestId !== null) parts.push(sql`r.request_id = ${requestId}`);
  return listed(db, sql`${sql.join(parts, sql` and `)} order by r.id desc limit ${page.limit}`);
}

/** One call; null if there is none in this project and mode. */
export async function findApiRequest(
  db: Database,
  { projectId, mode }: DeliveryScope,
  id: string,
): Promise<ListedApiRequest | null> {
  const where = sql`r.project_id = ${projectId}::uuid and r.mode = ${mode} and r.id = ${id}::uuid`;
  return (await listed(db, where))[0] ?? null;
}

async function listed(db: Database, where: ReturnType<typeof sql>): Promise<readonly ListedApiRequest[]> {
  const { rows } = await sql<ListedApiRequest>`
    select r.*, k.name as "keyName" from (
      select id, request_id as "requestId", method, path, status, duration_ms as "durationMs", key_id as "keyId", ip,
        user_agent as "userAgent", error_type as "errorType", error_param as "errorParam", error
      from api_requests r where ${where}
    ) r left join api_keys k on k.id = r."keyId" order by r.id desc`.execute(db);
  return rows;
}

/** Up to which time the calls of projects are to be deleted, so that at most so many of each remain. */
async function surplusUntil(db: Database, max: number, oldest: number) {
  const { rows } = await sql<{ projectId: string; mode: Mode; until: number }>`
    select project_id as "projectId", mode, max(at) + interval '1 minute' as until from (
      select project_id, mode, at, sum(requests) over (partition by project_id order by at desc) as newer
      from api_request_counts
    ) counted where newer > ${max} or at < ${timestamp(oldest)} group by project_id, mode`.execute(db);
  return rows;
}

/**
 * Deletes up to `limit` of the oldest calls: those before `oldest`, and of each project those beyond `max`. True if there
 * may be more.
 */
export async function purgeApiRequests(
  db: Database,
  { max, oldest, limit }: { readonly max: number; readonly oldest: number; readonly limit: number },
): Promise<boolean> {
  for (const { projectId, mode, until } of await surplusUntil(db, max, oldest)) {
    const { rows } = await sql<{ gone: bigint }>`
      with gone as (
        delete from api_requests where project_id = ${projectId}::uuid and mode = ${mode} and id in (
          select id from api_requests
          where project_id = ${projectId}::uuid and mode = ${mode} and id < ${firstUuidOf(until)}::uuid
          order by id limit ${limit}
        ) returning 1
      ) select count(*) as gone from gone`.execute(db);
    if (Number(rows[0]?.gone ?? 0n) === limit) return true;
    await db
      .deleteFrom('api_request_counts')
      .where('project_id', '=', projectId)
      .where('mode', '=', mode)
      .where('at', '<', timestamp(until))
      .execute();
  }
  return false;
}
