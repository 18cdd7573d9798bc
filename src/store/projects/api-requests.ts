import { sql, type RawBuilder } from 'kysely';
import { firstUuidOf } from '../../domain/id.ts';
import type { Mode, ProjectMode } from '../../domain/permission.ts';
import { affectedRows, timestamp, type Database } from '../database.ts';
import { UNFLUSHED } from '../webhooks/deliveries.ts';
import { allColumns } from '../tables.ts';

/** One or more calls of one of the APIs that are alike and of the same second. */
export interface AlikeRequests {
  readonly projectId: string;
  readonly mode: Mode;
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  readonly status: number;
  readonly keyId: string;
  /** Null for public keys, which customers use. */
  readonly ip: string | null;
  readonly userAgent: string | null;
  /** Why they were refused; null if they were not. */
  readonly error: { readonly type: string; readonly param: string | null; readonly message: string } | null;
  /** Ids, each of which has the time of its answer. */
  readonly ids: readonly string[];
  readonly requestIds: readonly string[];
  readonly durationsMs: readonly number[];
}

/** Saves calls together and counts them by the minute. The last ones before a crash may be missing. */
export async function insertApiRequests(db: Database, groups: readonly AlikeRequests[]): Promise<void> {
  const rows = groups.map((one) => ({
    project_id: one.projectId,
    mode: one.mode,
    // Ids of the same millisecond are unordered.
    last_id: one.ids.reduce((last, id) => (id > last ? id : last), ''),
    first_id: one.ids.reduce((first, id) => (id < first ? id : first)),
    method: one.method,
    path: one.path,
    status: one.status,
    key_id: one.keyId,
    ip: one.ip,
    user_agent: one.userAgent,
    error_type: one.error?.type,
    error_param: one.error?.param,
    error: one.error?.message,
    ids: one.ids,
    request_ids: one.requestIds,
    durations: one.durationsMs,
    at: minuteOf(one.ids[0] ?? ''),
  }));
  await sql`
    with ${UNFLUSHED}, given as materialized (
      select * from json_to_recordset(${JSON.stringify(rows)}::json) as r (${TYPES}, at timestamptz)
    ), saved as (
      insert into api_requests (${COLUMNS})
      select ${COLUMNS} from given, unflushed order by project_id, mode, last_id
    )
    insert into api_request_counts (project_id, mode, at, requests)
    select project_id, mode, at, sum(cardinality(ids)) from given group by project_id, mode, at
    order by project_id, mode, at
    on conflict (project_id, mode, at) do update set requests = api_request_counts.requests + excluded.requests`.execute(
    db,
  );
}

const COLUMNS = sql`project_id, mode, last_id, first_id, method, path, status, key_id, ip, user_agent, error_type,
  error_param, error, ids, request_ids, durations`;
const TYPES = sql`project_id uuid, mode text, last_id uuid, first_id uuid, method text, path text, status smallint,
  key_id uuid, ip text, user_agent text, error_type text, error_param text, error text, ids uuid[], request_ids text[],
  durations integer[]`;

const MINUTE_MS = 60_000;

/** The time in an id (UUID version 7), in epoch milliseconds. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

function minuteOf(id: string): string {
  return new Date(Math.floor(timeOfId(id) / MINUTE_MS) * MINUTE_MS).toISOString();
}

/** Filters of the log; null fields do not restrict. */
export interface ApiRequestSearch {
  readonly outcome: 'refused' | 'accepted' | null;
  readonly method: string | null;
  /** A prefix of the path. */
  readonly path: string | null;
  readonly status: number | null;
  readonly keyId: string | null;
  readonly requestId: string | null;
  readonly from: number | null;
  readonly before: number | null;
}

/** One call. */
export interface ListedApiRequest extends Pick<
  AlikeRequests,
  'method' | 'path' | 'status' | 'keyId' | 'ip' | 'userAgent'
> {
  readonly id: string;
  readonly requestId: string;
  readonly durationMs: number;
  /** The name of the key. */
  readonly keyName: string | null;
  readonly errorType: string | null;
  readonly errorParam: string | null;
  readonly error: string | null;
}

/** The calls of a row are of one second: an id is older than the row's last one by at most this. */
const MAX_SPAN_MS = 1_000;

/**
 * The calls of a project and mode, newest first; `after` is the last one of the page before. Each of the newest `limit`
 * calls is in one of the newest `limit` rows, or in one that reaches beyond `after`.
 */
export async function searchApiRequests(
  db: Database,
  { projectId, mode }: ProjectMode,
  search: ApiRequestSearch,
  page: { readonly after: string | null; readonly limit: number },
): Promise<readonly ListedApiRequest[]> {
  const { outcome, method, path, status, keyId, requestId, from, before } = search;
  const first = from === null ? null : firstUuidOf(from);
  // The end is exclusive.
  const end =
    [page.after, before === null ? null : firstUuidOf(before)].filter((id) => id !== null).toSorted()[0] ?? null;
  const rows = [sql`project_id = ${projectId}::uuid and mode = ${mode}`];
  if (first !== null) rows.push(sql`last_id >= ${first}::uuid`);
  // Refused calls have an index of their own.
  if (outcome === 'refused' || (status !== null && status >= 400)) rows.push(sql`status >= 400`);
  if (outcome === 'accepted') rows.push(sql`status < 400`);
  if (status !== null) rows.push(sql`status = ${status}`);
  if (method !== null) rows.push(sql`method = ${method}`);
  if (path !== null) rows.push(sql`starts_with(path, ${path})`);
  if (keyId !== null) rows.push(sql`key_id = ${keyId}::uuid`);
  if (requestId !== null) rows.push(sql`${requestId} = any (request_ids)`);
  const condition = sql.join(rows, sql` and `);
  const newest = sql`(select ${allColumns('api_requests')} from api_requests where ${condition} ${end === null ? sql`` : sql`and last_id < ${end}::uuid`}
    order by last_id desc limit ${page.limit})`;
  const reaching =
    end === null
      ? sql``
      : sql`union all (select ${allColumns('api_requests')} from api_requests where ${condition} and first_id < ${end}::uuid
          and last_id >= ${end}::uuid and last_id < ${firstUuidOf(timeOfId(end) + MAX_SPAN_MS + 1)}::uuid)`;
  const calls = [sql`true`];
  if (end !== null) calls.push(sql`one.id < ${end}::uuid`);
  if (first !== null) calls.push(sql`one.id >= ${first}::uuid`);
  if (requestId !== null) calls.push(sql`one.request_id = ${requestId}`);
  return listed(db, sql`${newest} ${reaching}`, sql`${sql.join(calls, sql` and `)}`, page.limit);
}

/** One call; null if there is none in this project and mode. */
export async function findApiRequest(
  db: Database,
  { projectId, mode }: ProjectMode,
  id: string,
): Promise<ListedApiRequest | null> {
  const rows = sql`select ${allColumns('api_requests')} from api_requests
    where project_id = ${projectId}::uuid and mode = ${mode} and first_id <= ${id}::uuid and last_id >= ${id}::uuid
      and last_id < ${firstUuidOf(timeOfId(id) + MAX_SPAN_MS + 1)}::uuid`;
  return (await listed(db, rows, sql`one.id = ${id}::uuid`, 1))[0] ?? null;
}

/** The calls in these rows, newest first. */
async function listed(
  db: Database,
  rows: RawBuilder<unknown>,
  condition: RawBuilder<unknown>,
  limit: number,
): Promise<readonly ListedApiRequest[]> {
  const found = await sql<ListedApiRequest>`
    select found.*, k.name as "keyName" from (
      select one.id, one.request_id as "requestId", one.duration as "durationMs", r.method, r.path, r.status,
        r.key_id as "keyId", r.ip, r.user_agent as "userAgent", r.error_type as "errorType",
        r.error_param as "errorParam", r.error
      from (${rows}) r
      cross join lateral unnest(r.ids, r.request_ids, r.durations) as one (id, request_id, duration)
      where ${condition} order by one.id desc limit ${limit}
    ) found left join api_keys k on k.id = found."keyId" order by found.id desc`.execute(db);
  return found.rows;
}

/** The time up to which the calls of projects are to be deleted, so that at most `max` of each remain. */
async function surplusUntil(db: Database, max: number, oldest: number) {
  const { rows } = await sql<{ projectId: string; mode: Mode; until: number }>`
    select project_id as "projectId", mode, max(at) + interval '1 minute' as until from (
      select project_id, mode, at, sum(requests) over (partition by project_id order by at desc) as newer
      from api_request_counts
    ) counted where newer > ${max} or at < ${timestamp(oldest)} group by project_id, mode`.execute(db);
  return rows;
}

/**
 * Deletes up to `limit` rows of the oldest calls: those before `oldest`, and of each project those beyond `max`.
 * Returns true if there may be more.
 */
export async function purgeApiRequests(
  db: Database,
  { max, oldest, limit }: { readonly max: number; readonly oldest: number; readonly limit: number },
): Promise<boolean> {
  for (const { projectId, mode, until } of await surplusUntil(db, max, oldest)) {
    const gone = await affectedRows(
      db,
      sql`delete from api_requests where project_id = ${projectId}::uuid and mode = ${mode} and last_id in (
        select last_id from api_requests
        where project_id = ${projectId}::uuid and mode = ${mode} and last_id < ${firstUuidOf(until)}::uuid
        order by last_id limit ${limit})`,
    );
    if (gone === limit) return true;
    await db
      .deleteFrom('api_request_counts')
      .where('project_id', '=', projectId)
      .where('mode', '=', mode)
      .where('at', '<', timestamp(until))
      .execute();
  }
  return false;
}
