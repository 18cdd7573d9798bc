import { sql, type SqlBool } from 'kysely';
import type { GapReason } from '../../domain/event-log.ts';
import type { EventType } from '../../domain/event-type.ts';
import type { ProjectMode } from '../../domain/permission.ts';
import type { Database } from '../database.ts';

/** The positions of a log: `head` is the last one, 0 before the first; `oldest` the first that was not deleted. */
export interface LogEnds {
  readonly head: bigint;
  readonly oldest: bigint;
}

/** An entry of a log, in the order of positions: an event's stored bytes, or a gap. */
export type LogEntry =
  | { readonly position: bigint; readonly event: string }
  | { readonly position: bigint; readonly gap: { readonly from: bigint; readonly reason: GapReason } };

/** The wanted part of a log; null fields do not restrict. Gaps are read in any case. */
export interface LogQuery {
  readonly after: bigint;
  readonly limit: number;
  readonly types: readonly EventType[] | null;
  readonly paymentId: string | null;
}

export interface LogPage extends LogEnds {
  readonly entries: readonly LogEntry[];
  /** The position to read on after: beyond the last entry if the filters leave out what follows it. */
  readonly next: bigint;
}

/** A page ends with the event that reaches this size: answers wait in memory for slow readers. */
const MAX_BYTES = 2_000_000;
/** How many events are looked at for their types in one call. */
const MAX_LOOKED_AT = 5_000;

export async function logEnds(db: Database, { projectId, mode }: ProjectMode): Promise<LogEnds> {
  const row = await db
    .selectFrom('event_heads')
    .select(['head', 'oldest'])
    .where('project_id', '=', projectId)
    .where('mode', '=', mode)
    .executeTakeFirst();
  return { head: BigInt(row?.head ?? 0), oldest: BigInt(row?.oldest ?? 1) };
}

/**
 * Reads a log from a position on; `deleted` if entries after it were deleted meanwhile. What is at a position never
 * changes, so that several statements agree.
 */
export async function readLog(db: Database, scope: ProjectMode, query: LogQuery): Promise<LogPage | 'deleted'> {
  const ends = await logEnds(db, scope);
  const { after, limit, types, paymentId } = query;
  const upTo = types === null || paymentId !== null ? ends.head : await lookedAtTo(db, scope, after, ends.head);
  const own = sql<SqlBool>`p.project_id = ${scope.projectId} and p.mode = ${scope.mode}
    and p.position > ${after}::bigint and p.position <= ${upTo}::bigint`;
  const isWanted = types === null ? sql`true` : sql`e.type = any (${types}::text[])`;
  const columns = sql`p.position, p.gap_from as "gapFrom", p.gap_reason as reason, e.body as event`;
  const found =
    paymentId === null
      ? sql`select ${columns} from event_positions p left join events e on e.id = p.event_id
          where ${own} and (p.event_id is null or ${isWanted})`
      : sql`select ${columns} from events e join event_positions p on p.event_id = e.id
          where e.payment_id = ${paymentId}::uuid and ${own} and ${isWanted}
          union all
          select p.position, p.gap_from, p.gap_reason, null from event_positions p where p.event_id is null and ${own}`;
  const { rows } = await sql<{
    readonly position: bigint;
    readonly gapFrom: bigint | null;
    readonly reason: GapReason | null;
    readonly event: string | null;
    readonly total: number;
  }>`
    with page as materialized (${found} order by position limit ${limit}),
    sized as (
      select *, count(*) over ()::integer as total,
        sum(octet_length(event)) over (order by position) - octet_length(event) as before
      from page
    )
    select position, "gapFrom", reason, event, total from sized where coalesce(before, 0) < ${MAX_BYTES}
    order by position`.execute(db);
  const { oldest } = await logEnds(db, scope);
  if (oldest > after + 1n) return 'deleted';
  const entries = rows.flatMap(({ position, gapFrom, reason, event }): readonly LogEntry[] => {
    if (event !== null) return [{ position, event }];
    return gapFrom === null || reason === null ? [] : [{ position, gap: { from: gapFrom, reason } }];
  });
  const isCut = rows.length === limit || rows.length < (rows[0]?.total ?? 0);
  const last = isCut ? rows.at(-1)?.position : undefined;
  return { ...ends, entries, next: last ?? (upTo > after ? upTo : after) };
}

/** The last of the positions that one call looks at. */
async function lookedAtTo(db: Database, { projectId, mode }: ProjectMode, after: bigint, head: bigint) {
  const { rows } = await sql<{ last: bigint | null }>`
    select max(position) as last from (
      select position from event_positions
      where project_id = ${projectId} and mode = ${mode} and position > ${after}::bigint and position <= ${head}::bigint
      order by position limit ${MAX_LOOKED_AT}
    ) looked_at`.execute(db);
  return rows[0]?.last ?? after;
}

/**
 * The position of an event; `unnumbered` if it gets one in a moment, null if the log of this project and mode has no
 * such event.
 */
export async function positionOf(
  db: Database,
  { projectId, mode }: ProjectMode,
  eventId: string,
): Promise<bigint | 'unnumbered' | null> {
  const { rows } = await sql<{ position: bigint | null; waits: boolean }>`
    select p.position, exists (select from unnumbered_events where event_id = e.id)
      or exists (select from event_numbering) as waits
    from events e left join event_positions p on p.event_id = e.id
    where e.id = ${eventId}::uuid and e.project_id = ${projectId} and e.mode = ${mode}`.execute(db);
  const [row] = rows;
  return row?.position ?? (row?.waits === true ? 'unnumbered' : null);
}
