import { sql } from 'kysely';
import { affectedRows, type Database, type Trx } from '../database.ts';
import { salt } from '../own-schema.ts';
import { findRows, oneOf, toRow, type Stored } from '../rows.ts';

/** A client that used a key. */
export interface KeyClient extends Omit<Stored<'api_key_clients'>, 'requests'> {
  readonly requests: number;
}

/** How many clients of a key are told apart: the most recent ones. */
export const MAX_KEY_CLIENTS = 50;

/** Adds the uses since the last save in one statement, and drops the oldest clients beyond the limit. */
export async function saveKeyClients(db: Database, seen: readonly KeyClient[]): Promise<void> {
  if (seen.length === 0) return;
  await db.transaction().execute(async (trx) => {
    // Otherwise two processes would lock the same keys in different orders.
    await sql`select pg_advisory_xact_lock(hashtext('cointill key clients') # ${salt})`.execute(trx);
    const rows = seen.map(({ requests, ...client }) => ({
      ...toRow('api_key_clients', client, { without: ['requests'] }),
      requests,
    }));
    await sql`
      with seen as materialized (
        select key_id, client, user_agent, requests, first_seen_at, last_seen_at, last_used_at, last_refused_at
        from json_populate_recordset(null::api_key_clients, ${JSON.stringify(rows)}::json)
      ), keys as (
        update api_keys k set last_used_at = greatest(k.last_used_at, s.used)
        from (select key_id, max(last_used_at) as used from seen group by key_id) s
        where k.id = s.key_id and s.used is not null
      )
      insert into api_key_clients as c
        (key_id, client, user_agent, requests, first_seen_at, last_seen_at, last_used_at, last_refused_at)
      select key_id, client, user_agent, requests, first_seen_at, last_seen_at, last_used_at, last_refused_at
      from seen order by key_id, client
      on conflict (key_id, client) do update set
        user_agent = excluded.user_agent,
        requests = c.requests + excluded.requests,
        first_seen_at = least(c.first_seen_at, excluded.first_seen_at),
        last_seen_at = greatest(c.last_seen_at, excluded.last_seen_at),
        last_used_at = greatest(c.last_used_at, excluded.last_used_at),
        last_refused_at = greatest(c.last_refused_at, excluded.last_refused_at)`.execute(trx);
    await dropOldest(trx, [...new Set(seen.map(({ keyId }) => keyId))]);
  });
}

async function dropOldest(trx: Trx, keyIds: readonly string[]): Promise<void> {
  await sql`
    delete from api_key_clients c using (
      select key_id, client, row_number() over (partition by key_id order by last_seen_at desc, client) as place
      from api_key_clients where key_id = any(${[...keyIds]}::uuid[])
    ) o
    where c.key_id = o.key_id and c.client = o.client and o.place > ${MAX_KEY_CLIENTS}`.execute(trx);
}

/** The clients of these keys, newest first. */
export async function keyClients(db: Database, keyIds: readonly string[]): Promise<readonly KeyClient[]> {
  if (keyIds.length === 0) return [];
  const order = ['lastSeenAt desc', 'client'] as const;
  const rows = await findRows(db, 'api_key_clients', { keyId: oneOf(keyIds) }, { order });
  return rows.map((row) => ({ ...row, requests: Number(row.requests) }));
}

/** Deletes up to `limit` clients that were not seen since `before`; returns how many. */
export async function purgeKeyClients(db: Database, before: number, limit: number): Promise<number> {
  return affectedRows(
    db,
    sql`delete from api_key_clients where ctid = any(array(
      select ctid from api_key_clients where last_seen_at < ${new Date(before)} limit ${limit}))`,
  );
}
