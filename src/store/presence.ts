import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Client } from 'pg';
import type { Database, DatabaseHandle } from './database.ts';
import { SALT } from './own-schema.ts';
import { UnfitDatabaseError } from './unfit-database.ts';

/** An arbitrary number that nobody else locks: each process that uses the database shares it, a move has it alone. */
const PRESENCE_LOCK = 7_203_612;

const RETRY_MS = 1_000;
const POLL_MS = 100;
/** The session of a process that has just ended may hold the lock a moment longer. */
const PATIENCE_MS = 3_000;

/** The lock of a process that uses the database. */
export interface Presence {
  /** Releases the lock. Never rejects. */
  stop(): Promise<void>;
}

/**
 * Holds a lock as long as this process uses the database, on a session of its own that is replaced when it breaks: a
 * database in use cannot be moved, and one that is being moved cannot be used.
 *
 * @param onRefused called if a broken session cannot be replaced because the database is being moved, and with null
 * once it can
 * @throws UnfitDatabaseError if the database is being moved
 */
export async function holdPresence(
  handle: Pick<DatabaseHandle, 'connect'>,
  onRefused: (refusal: UnfitDatabaseError | null) => void,
): Promise<Presence> {
  let current: Client | null = null;
  let isStopped = false;
  const take = async (): Promise<void> => {
    const client = await handle.connect();
    client.once('end', () => void replace(client));
    const isHeld = await lock(client, 'pg_try_advisory_lock_shared').catch(async (error: unknown) => {
      await client.end();
      throw error;
    });
    if (isHeld && !isStopped) {
      current = client;
      return;
    }
    await client.end();
    if (!isHeld) throw beingMoved();
  };
  const replace = async (ended: Client): Promise<void> => {
    if (current !== ended) return;
    current = null;
    while (!isStopped && current === null) {
      await setTimeout(RETRY_MS, undefined, { ref: false });
      if (!isStopped) await take().then(() => onRefused(null), report);
    }
    if (isStopped) await close();
  };
  // Other connections report a database that is away.
  const report = (error: unknown): void => {
    if (error instanceof UnfitDatabaseError) onRefused(error);
  };
  const close = async (): Promise<void> => {
    const last = current;
    current = null;
    await last?.end().catch(() => {});
  };
  await take();
  return {
    stop: () => {
      isStopped = true;
      return close();
    },
  };
}

function beingMoved(): UnfitDatabaseError {
  return new UnfitDatabaseError(
    'This database is being moved to another one at this moment. Wait until the move has ended, and follow what the move says.',
  );
}

/**
 * Takes the lock alone, on this session. Returns the processes that use the database, in plain words; none: the lock is
 * held.
 */
export async function holdAlone(client: Client): Promise<readonly string[]> {
  if (await lock(client, 'pg_try_advisory_lock')) return [];
  const { rows } = await client.query<Holder>(HOLDERS);
  // The last one may have ended meanwhile; the next attempt then succeeds.
  return rows.length === 0 ? ['a process that has just ended'] : rows.map(nameOf);
}

/** The services that use the database, in plain words: no commands. */
export async function runningServices(db: Database): Promise<readonly string[]> {
  const { rows } = await sql.raw<Holder>(HOLDERS).execute(db);
  return rows.filter(({ name }) => SERVICES.includes(name)).map(nameOf);
}

/** The names by which `startService` connects; commands connect as `cointill`. */
const SERVICES = ['cointill all', 'cointill api', 'cointill worker'];

interface Holder {
  readonly name: string;
  readonly address: string | null;
}

const HOLDERS = `
  select distinct coalesce(a.application_name, 'a process') as name, host(a.client_addr) as address
  from pg_locks l left join pg_stat_activity a on a.pid = l.pid
  where l.locktype = 'advisory' and l.objsubid = 1 and (l.classid::bigint << 32 | l.objid::bigint) = ${PRESENCE_LOCK}::bigint # ${SALT} and l.pid <> pg_backend_pid()
    and l.database = (select oid from pg_database where datname = current_database())
  order by 1, 2`;

function nameOf({ name, address }: Holder): string {
  return address === null ? name : `${name} on ${address}`;
}

async function lock(client: Client, how: 'pg_try_advisory_lock' | 'pg_try_advisory_lock_shared'): Promise<boolean> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const { rows } = await client.query<{ isHeld: boolean }>(`select ${how}($1::bigint # ${SALT}) as "isHeld"`, [
      PRESENCE_LOCK,
    ]);
    if (rows[0]?.isHeld === true) return true;
    if (performance.now() >= until) return false;
    await setTimeout(POLL_MS);
  }
}

/** Whether this connection leads to the database whose lock {@link holdAlone} holds on another connection. */
export async function isHeldAlone(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ isHeld: boolean }>(
    `select pg_try_advisory_xact_lock_shared($1::bigint # ${SALT}) as "isHeld"`,
    [PRESENCE_LOCK],
  );
  return rows[0]?.isHeld !== true;
}
