import { sql, type RawBuilder } from 'kysely';
import { KEPT_EVENTS, type GapReason } from '../../domain/event-log.ts';
import { firstUuidOf } from '../../domain/id.ts';
import { MODES, type Mode } from '../../domain/permission.ts';
import { MESSAGE_TYPES } from '../../domain/shop-message.ts';
import { affectedRows, type Database, type Trx } from '../database.ts';
import { salt } from '../own-schema.ts';
import { wake } from '../wake.ts';

const MAX_POSITION = 9_223_372_036_854_775_807n;

/** How many events get their positions in one transaction. */
const BATCH = 1_000;
/** Events from before the log are many, and nobody waits for one of them. */
const EARLIER_BATCH = 5_000;

/** Whether events have no position yet. */
export async function areUnnumbered(db: Database): Promise<boolean> {
  const { rows } = await sql<{ some: boolean }>`
    select exists (select from unnumbered_events) or exists (select from event_numbering) as some`.execute(db);
  return rows[0]?.some === true;
}

/** An arbitrary number that nobody else locks. */
export const NUMBERING_LOCK = 7_203_617;

/**
 * Gives the next events their positions and wakes the readers of their logs. The lock, which the server ends with
 * the transaction, makes sure that one transaction at a time does so: positions become visible in their order. Returns
 * whether there may be more; false also if another process does it.
 */
export async function numberEvents(trx: Trx): Promise<boolean> {
  const { rows } = await sql<{ isHeld: boolean }>`
    select pg_try_advisory_xact_lock(${NUMBERING_LOCK}::bigint # ${salt}) as "isHeld"`.execute(trx);
  if (rows[0]?.isHeld !== true) return false;
  const progress = await trx.selectFrom('event_numbering').select(['numbered_to', 'number_to']).executeTakeFirst();
  if (progress === undefined) return numberNew(trx);
  return numberEarlier(trx, progress.numbered_to, progress.number_to);
}

async function numberNew(trx: Trx): Promise<boolean> {
  // In the order of `n`, which is that of each payment's changes: its row was locked meanwhile.
  const { rows } = await sql<Numbered & { taken: number }>`
    with taken as (
      delete from unnumbered_events where ctid = any (array(select ctid from unnumbered_events order by n limit ${BATCH}))
      returning n, event_id
    ), next as (
      -- Messages to shops' plugins are no events of the log.
      select e.id, e.project_id, e.mode, taken.n as place from taken join events e on e.id = taken.event_id
      where e.type <> all (${[...MESSAGE_TYPES]}::text[])
    ), ${POSITIONS}
    select (select count(*) from taken)::integer as taken, ${HEADS}`.execute(trx);
  await wakeReaders(trx, rows);
  return rows[0]?.taken === BATCH;
}

/** Events that are waiting to be numbered anyway are left to that. */
async function numberEarlier(trx: Trx, numberedTo: string | null, numberTo: string): Promise<boolean> {
  const after = numberedTo === null ? sql`` : sql`id > ${numberedTo}::uuid and`;
  const { rows } = await sql<Numbered & { last: string | null; passed: number }>`
    with passed as (
      select id, project_id, mode, payment_id, body from events where ${after} id <= ${numberTo}::uuid
      order by id limit ${EARLIER_BATCH}
    ), next as (
      select id, project_id, mode, id as place from passed
      where (payment_id is not null or body not like '%"test":true%')
        and not exists (select from unnumbered_events where event_id = passed.id)
    ), ${POSITIONS}
    select (select id from passed order by id desc limit 1) as last, (select count(*) from passed)::integer as passed,
      ${HEADS}`.execute(trx);
  await wakeReaders(trx, rows);
  const { last = null, passed = 0 } = rows[0] ?? {};
  if (passed < EARLIER_BATCH) await trx.deleteFrom('event_numbering').execute();
  else await trx.updateTable('event_numbering').set({ numbered_to: last }).execute();
  return true;
}

/** Continues the logs with the rows of `next`, in the order of `place`. */
const POSITIONS: RawBuilder<unknown> = sql`
  placed as (
    select id, project_id, mode, row_number() over (partition by project_id, mode order by place) as nth,
      count(*) over (partition by project_id, mode) as size
    from next
  ), heads as (
    insert into event_heads as known (project_id, mode, head)
    select distinct project_id, mode, size from placed order by project_id, mode
    on conflict (project_id, mode) do update set head = known.head + excluded.head
    returning project_id, mode, head
  ), positions as (
    insert into event_positions (project_id, mode, position, event_id)
    select project_id, mode, head - size + nth, id from placed join heads using (project_id, mode)
  )`;

/** The project and mode of each log that was continued. */
interface Numbered {
  readonly logs: readonly (readonly [projectId: string, mode: string])[] | null;
}
const HEADS: RawBuilder<unknown> = sql`(select json_agg(json_build_array(project_id, mode)) from heads) as logs`;

async function wakeReaders(trx: Trx, [row]: readonly Numbered[]): Promise<void> {
  await wake(trx, ...(row?.logs ?? []).map((log) => ['events', ...log] as const));
}

/** Continues every log, also those without an event, after a gap of this many positions. */
export async function skipPositions(trx: Database | Trx, count: number, reason: GapReason): Promise<void> {
  await sql`
    with heads as (
      insert into event_heads as known (project_id, mode, head)
      select p.id, mode, ${count}::bigint from projects p cross join unnest(${MODES}::text[]) mode order by 1, 2
      on conflict (project_id, mode) do update set head = known.head + excluded.head
      returning project_id, mode, head
    )
    insert into event_positions (project_id, mode, position, gap_from, gap_reason)
    select project_id, mode, head, head - ${count}::bigint + 1, ${reason} from heads`.execute(trx);
}

/**
 * Deletes the entries at the beginning of one log whose events were written before `before`, as their ids tell: an
 * advanced test payment's events were created later. Their events and ended deliveries go with them; an event stays
 * while a delivery waits for it. Gaps go with what follows them. Returns how many entries were deleted.
 */
export async function purgeLogBefore(trx: Trx, before: number, limit: number): Promise<number> {
  const { rows } = await sql<OldEntries>`
    with log as materialized (
      select h.project_id, h.mode, h.oldest from event_heads h cross join lateral (
        select e.id from event_positions p join events e on e.id = p.event_id
        where p.project_id = h.project_id and p.mode = h.mode and p.position >= h.oldest
        order by p.position limit 1
      ) first
      where first.id < ${firstUuidOf(before)}::uuid limit 1
    ), batch as (
      select log.project_id, log.mode, p.position, p.event_id, e.id < ${firstUuidOf(before)}::uuid as is_old,
        p.event_id is not null and e.id is null as is_missing
      from log cross join lateral (
        select position, event_id from event_positions p
        where p.project_id = log.project_id and p.mode = log.mode and p.position >= log.oldest
        order by p.position limit ${limit}
      ) p left join events e on e.id = p.event_id
    ), old as (
      select * from batch where position < coalesce(
        (select min(position) from batch where not is_old), ${MAX_POSITION}::bigint)
    )
    select project_id as "projectId", mode, max(position) filter (where is_old or is_missing) as last,
      array_agg(event_id) filter (where event_id is not null) as ids
    from old group by project_id, mode`.execute(trx);
  const [entries] = rows;
  if (entries === undefined || entries.last === null) return 0;
  return deleteEntries(trx, entries);
}

interface OldEntries {
  readonly projectId: string;
  readonly mode: Mode;
  readonly last: bigint | null;
  readonly ids: readonly string[];
}

/** Locks the events first, so that deliveries made or renewed meanwhile are seen by the statement that deletes. */
async function deleteEntries(trx: Trx, { projectId, mode, last, ids }: OldEntries): Promise<number> {
  await sql`select from events where id = any (${ids}::uuid[]) order by id for update`.execute(trx);
  await sql`select from deliveries where event_id = any (${ids}::uuid[]) order by id for update`.execute(trx);
  await sql`update event_heads set oldest = greatest(oldest, ${last}::bigint + 1)
    where project_id = ${projectId} and mode = ${mode}`.execute(trx);
  await sql`
    with gone as materialized (
      select event_id from unnest(${ids}::uuid[]) as old (event_id)
      where not exists (select from deliveries d where d.event_id = old.event_id and d.state = 'waiting')
    ), ended as (
      delete from deliveries d using gone where d.event_id = gone.event_id returning d.id
    ), attempts as (
      delete from delivery_attempts a using ended where a.delivery_id = ended.id
    )
    delete from events e using gone where e.id = gone.event_id and e.type <> all (${[...KEPT_EVENTS]}::text[])`.execute(
    trx,
  );
  return affectedRows(
    trx,
    sql`delete from event_positions where project_id = ${projectId} and mode = ${mode} and position <= ${last}::bigint`,
  );
}
