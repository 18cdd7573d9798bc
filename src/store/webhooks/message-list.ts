import { sql, type RawBuilder } from 'kysely';
import type { ProjectMode } from '../../domain/permission.ts';
import { MESSAGE_TYPES, type MessageType } from '../../domain/shop-message.ts';
import { timestamp, type Database } from '../database.ts';
import { EVENT_PAYMENT } from './delivery-list.ts';
import type { EventSearch, ListedEvent, ListedGap } from './event-list.ts';

/** A message to shops' plugins in the list of events. It has no position, because it is not in the log. */
export type ListedMessage = Omit<ListedEvent, 'position'>;

/** More messages than this between two events of the log are not listed. */
const MAX_BETWEEN = 1_000;

interface Bounds {
  /** Ids, exclusive; null does not restrict. */
  readonly below: string | null;
  readonly above: string | null;
  readonly limit: number;
}

/** The messages of some types, newest first, along the index of types. */
export async function listMessages(
  db: Database,
  { projectId, mode }: ProjectMode,
  types: readonly MessageType[],
  { paymentId, createdFrom }: Pick<EventSearch, 'paymentId' | 'createdFrom'>,
  { below, above, limit }: Bounds,
): Promise<readonly ListedMessage[]> {
  const parts: RawBuilder<unknown>[] = [sql`project_id = ${projectId}::uuid and mode = ${mode} and type = t.type`];
  if (below !== null) parts.push(sql`id < ${below}::uuid`);
  if (above !== null) parts.push(sql`id > ${above}::uuid`);
  if (paymentId !== null) parts.push(sql`payment_id = ${paymentId}::uuid`);
  if (createdFrom !== null) parts.push(sql`created_at >= ${timestamp(createdFrom)}`);
  const { rows } = await sql<ListedMessage>`
    select e.id, e.type, e.created_at as "createdAt", e.payment_id as "paymentId", ${EVENT_PAYMENT}, sent.*
    from (
      select found.* from unnest(${[...types]}::text[]) t (type) cross join lateral (
        select id, type, created_at, payment_id from events where ${sql.join(parts, sql` and `)}
        order by id desc limit ${limit}
      ) found order by found.id desc limit ${limit}
    ) e left join payments p on p.id = e.payment_id
    cross join lateral (
      select count(*)::integer as deliveries, (count(*) filter (where state = 'delivered'))::integer as delivered
      from deliveries where event_id = e.id
    ) sent
    order by e.id desc`.execute(db);
  return rows;
}

type Entry = ListedEvent | ListedGap | ListedMessage;

/** A page of the log with the messages that were made between its events. */
export async function withMessagesBetween(
  db: Database,
  scope: ProjectMode,
  search: EventSearch,
  { entries, below, isLast }: PageOfLog,
): Promise<readonly Entry[]> {
  if (search.type !== null) return entries;
  const oldest = entries.findLast((entry) => 'type' in entry);
  const bounds = {
    below: below === null ? null : await eventFrom(db, scope, below),
    above: isLast ? null : (oldest?.id ?? null),
    limit: MAX_BETWEEN,
  };
  const waiting = [...(await listMessages(db, scope, MESSAGE_TYPES, search, bounds))];
  const merged: Entry[] = [];
  for (const entry of entries) {
    if ('type' in entry) {
      const older = waiting.findIndex(({ id }) => id < entry.id);
      merged.push(...waiting.splice(0, older < 0 ? waiting.length : older));
    }
    merged.push(entry);
  }
  return [...merged, ...waiting];
}

interface PageOfLog {
  readonly entries: readonly (ListedEvent | ListedGap)[];
  /** The position below which the page begins; null: it is the first. */
  readonly below: bigint | null;
  readonly isLast: boolean;
}

/** The event at a position, or the next one after it. */
async function eventFrom(db: Database, { projectId, mode }: ProjectMode, position: bigint): Promise<string | null> {
  const { rows } = await sql<{ readonly id: string }>`
    select event_id as id from event_positions
    where project_id = ${projectId}::uuid and mode = ${mode} and position >= ${position}::bigint and event_id is not null
    order by position limit 1`.execute(db);
  return rows[0]?.id ?? null;
}
