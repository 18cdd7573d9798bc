import { sql } from 'kysely';
import type { AttentionKind } from '../../domain/attention.ts';
import type { ProjectMode } from '../../domain/permission.ts';
import { timestamp, type Database, type Trx } from '../database.ts';
import { salt } from '../own-schema.ts';
import { fieldList, findRows, oneOf, updateRows, type Stored } from '../rows.ts';

/** A noticed item. */
export type NoticedItem = Stored<'attention_occurrences'>;
/** The fields of an item when it is noticed. */
export type Noticed = Pick<NoticedItem, 'kind' | 'subject' | 'occurrence' | 'name' | 'amount' | 'detail'>;

const COLUMNS = fieldList('attention_occurrences');

/** Locks out other surveys, so that ids grow in the order in which items become visible. */
export async function lockNoticedItems(trx: Trx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('cointill attention occurrences') # ${salt})`.execute(trx);
}

/** All open items, oldest first. */
export async function openNoticedItems(executor: Database | Trx): Promise<readonly NoticedItem[]> {
  return findRows(executor, 'attention_occurrences', { endedAt: null }, { order: ['id'] });
}

/** Inserts new items; one that had ended is reopened rather than duplicated. */
export async function saveNoticed(
  trx: Trx,
  { projectId, mode }: ProjectMode,
  noticed: readonly Noticed[],
  now: number,
): Promise<void> {
  if (noticed.length === 0) return;
  await sql`
    insert into attention_occurrences (project_id, mode, kind, subject, occurrence, name, amount, detail, noticed_at)
    select ${projectId}::uuid, ${mode}, kind, subject, occurrence, name, amount, detail, ${timestamp(now)}
    from json_to_recordset(${JSON.stringify(noticed)}::json)
      as n (kind text, subject text, occurrence text, name text, amount text, detail text)
    on conflict (project_id, mode, kind, subject, occurrence) do update set ended_at = null`.execute(trx);
}

export async function endNoticedItems(trx: Trx, ids: readonly bigint[], now: number): Promise<void> {
  await updateRows(trx, 'attention_occurrences', { id: oneOf(ids), endedAt: null }, { endedAt: now });
}

/** Records that these items, or their end, were mailed. */
export async function markMailed(
  trx: Trx,
  ids: readonly bigint[],
  mailed: 'mailedAt' | 'mailedOverAt',
  now: number,
): Promise<void> {
  await updateRows(trx, 'attention_occurrences', { id: oneOf(ids) }, { [mailed]: now });
}

/** The items of live endpoints that are open or were mailed since a time, oldest first. */
export async function endpointNoticedItems(executor: Database | Trx, since: number): Promise<readonly NoticedItem[]> {
  const { rows } = await sql<NoticedItem>`
    select ${COLUMNS} from attention_occurrences
    where mode = 'live' and kind = any ('{endpoint_failing,endpoint_disabled}'::text[])
      and (ended_at is null or ended_at > ${timestamp(since)} and mailed_at is not null) order by id`.execute(executor);
  return rows;
}

/** The id of the newest item; 0 if there never was one. */
export async function newestNoticedItem(executor: Database | Trx): Promise<bigint> {
  const { rows } = await sql<{ newest: bigint }>`
    select coalesce(max(id), 0) as newest from attention_occurrences`.execute(executor);
  return rows[0]?.newest ?? 0n;
}

/** The open items of a project and mode, of these kinds. */
export async function noticedItemsOf(
  db: Database,
  { projectId, mode }: ProjectMode,
  kinds: readonly AttentionKind[],
): Promise<readonly NoticedItem[]> {
  return findRows(
    db,
    'attention_occurrences',
    { projectId, mode, endedAt: null, kind: oneOf(kinds) },
    { order: ['id'] },
  );
}
