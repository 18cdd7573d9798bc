import { sql } from 'kysely';
import type { Database, Trx } from '../database.ts';
import { columnsOf } from '../tables.ts';

/** Where a key was used from, with the requests since `firstSeenAt`. Times in epoch milliseconds. */
export interface KeyClient {
  readonly keyId: string;
  /** The client's address, or of public keys the origin of the page; empty for all others together. */
  readonly client: string;
  readonly userAgent: string | null;
  readonly requests: number;
  readonly firstSeenAt: number;
  readonly lastSeenAt: number;
  /** When it was last let in; null: it was not. */
  readonly lastUsedAt: number | null;
  /** When the allow-list last refused it; null: never. */
  readonly lastRefusedAt: number | null;
}

/** A key has at most as many clients that are told apart, the last ones. */
export const MAX_KEY_CLIENTS = 50;

const at = (ms: number | null): Date | null => (ms === null ? null : new Date(ms));

/** Adds up what happened since it was saved last, in one statement, and drops the oldest clients beyond the limit. */
export async function saveKeyClients(db: Database, seen: readonly KeyClient[]): Promise<void> {
  if (seen.length === 0) return;
  await db.transaction().execute(async (trx) => {
    // Two processes would lock the same keys in different orders.
    await sql`select pg_advisory_xact_lock(hashtext('cointill key clients'))`.execute(trx);
    const rows = seen.map(
      (one) => sql`(${one.keyId}::uuid, ${one.client}::text, ${one.userAgent}::text, ${one.requests}::bigint,
        ${at(one.firstSeenAt)}::timestamptz, ${at(one.lastSeenAt)}::timestamptz,
        ${at(one.lastUsedAt)}::timestamptz, ${at(one.lastRefusedAt)}::timestamptz)`,
    );
    await sql`
      with seen (key_id, client, user_agent, requests, first_seen_at, last_seen_at, last_used_at, last_refused_at) as (
        values ${sql.join(rows)}
      ), keys as (
        update api_keys k set last_used_at = greatest(k.last_used_at, s.used)
        from (select key_id, max(last_used_at) as used from seen group by key_id) s
        where k.id = s.key_id and s.used is not null
      )
      insert into api_key_clients as c
        (key_id, client, user_agent, requests, first_seen_at, last_seen_at, last_used_at, last_refused_at)
      select * from seen order by key_id, client
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

/** Of these keys, each one's newest first. */
export async function keyClients(db: Database, keyIds: readonly string[]): Promise<readonly KeyClient[]> {
  if (keyIds.length === 0) return [];
  const rows = await db
    .selectFrom('api_key_clients')
    .select(columnsOf('api_key_clients'))
    .where('key_id', 'in', keyIds)
    .orderBy('last_seen_at', 'desc')
    .orderBy('client')
    .execute();
  return rows.map((row) => ({
    keyId: row.key_id,
    client: row.client,
    userAgent: row.user_agent,
    requests: Number(row.requests),
    firstSeenAt: row.first_seen_at,
    lastSeenAt: row.last_seen_at,
    lastUsedAt: row.last_used_at,
    lastRefusedAt: row.last_refused_at,
  }));
}

/** Deletes some of those that were not seen since; how many. */
export async function purgeKeyClients(db: Database, before: number, limit: number): Promise<number> {
  const { rows } = await sql<{ one: number }>`
    delete from api_key_clients where ctid = any(array(
      select ctid from api_key_clients where last_seen_at < ${new Date(before)} limit ${limit}
    )) returning 1 as one`.execute(db);
  return rows.length;
}
