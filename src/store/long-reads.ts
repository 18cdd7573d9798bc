import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Client } from 'pg';
import { UnfitDatabaseError } from './unfit-database.ts';
import type { Database, DatabaseHandle } from './database.ts';

/** A connection for a statement that reads for minutes: an export, a statement of money, a backup. */
export interface LongRead {
  readonly client: Client;
  /**
   * Waits until the connection shows everything that was committed before this call.
   *
   * @throws StandbyError if a standby does not within its time
   */
  readonly catchUp: () => Promise<void>;
  /**
   * Ends the server process of the connection and waits for its end: otherwise it would continue for as long as it
   * finds nothing to send. Cancelling has no effect on a process whose statement has not arrived yet.
   */
  readonly endProcess: () => Promise<void>;
  /** The error of a read as the operator should see it: a standby that vanished is named. Others are unchanged. */
  readonly explain: (error: unknown) => unknown;
}

export type ConnectToRead = () => Promise<LongRead>;

/** The standby of `DATABASE_READ_URL` cannot be read from. The message is the operator's, and ends with the way out. */
export class StandbyError extends UnfitDatabaseError {
  /** For people who use the dashboard. */
  readonly inShort: string;

  constructor(
    message: string,
    { inShort = NOT_THERE, cause }: { readonly inShort?: string; readonly cause?: unknown },
  ) {
    super(message, { cause });
    this.inShort = inShort;
  }
}

const NOT_THERE =
  'The copy of the database that files are read from is not available. Try again later, or tell whoever runs this service.';
const OR_UNSET = 'or unset DATABASE_READ_URL, and the primary is read instead';

/** How long a standby may take to replay what was there when it was asked; a healthy one takes milliseconds. */
const PATIENCE_MS = 30_000;
const POLL_MS = 50;
const END_WITHIN_MS = 5_000;

/** The parts of a {@link DatabaseHandle} that long reads use. */
export type ReadHandle = Pick<DatabaseHandle, 'db' | 'connect' | 'connectStandby'>;

/** Opens a connection for a long read, to the standby if there is one. */
export async function openLongRead(handle: ReadHandle, patienceMs: number = PATIENCE_MS): Promise<LongRead> {
  if (handle.connectStandby === null) return openSession(handle);
  const { db, connectStandby } = handle;
  const client = await connectStandby().catch((cause: unknown) => {
    throw new StandbyError(
      `The standby of DATABASE_READ_URL takes no connection (${reasonOf(cause)}). Start it, correct DATABASE_READ_URL, ${OR_UNSET}.`,
      { cause },
    );
  });
  try {
    await checkStandby(client, db);
    const process = await serverProcess(client);
    return {
      client,
      catchUp: () => untilShown(client, db, patienceMs),
      explain: vanished,
      endProcess: async () => {
        const other = await connectStandby();
        try {
          await other.query(END, [...process, END_WITHIN_MS]);
        } finally {
          await other.end();
        }
      },
    };
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
}

/**
 * Checks that long reads are possible, if they go to a standby.
 *
 * @throws StandbyError if they are not
 */
export async function tryLongRead(handle: ReadHandle): Promise<void> {
  if (handle.connectStandby === null) return;
  const { client, catchUp } = await openLongRead(handle);
  try {
    await catchUp();
  } finally {
    await client.end();
  }
}

/** Opens a connection of its own to the database itself. */
export async function openSession({ db, connect }: Pick<DatabaseHandle, 'db' | 'connect'>): Promise<LongRead> {
  const client = await connect();
  const [pid, startedAt] = await serverProcess(client).catch(async (error: unknown) => {
    await client.end().catch(() => {});
    throw error;
  });
  return {
    client,
    catchUp: async () => {},
    explain: (error) => error,
    endProcess: async () => {
      await sql`select pg_terminate_backend(pid, ${END_WITHIN_MS}) from pg_stat_activity
        where pid = ${pid} and backend_start::text = ${startedAt}`.execute(db);
    },
  };
}

/** Compares the start too: a name may lead to several standbys, and there the number may be somebody else's. */
const END = `select pg_terminate_backend(pid, $3) from pg_stat_activity where pid = $1 and backend_start::text = $2`;

async function serverProcess(client: Client): Promise<readonly [pid: number, startedAt: string]> {
  const { rows } = await client.query<{ pid: number; startedAt: string }>(
    `select pid, backend_start::text as "startedAt" from pg_stat_activity where pid = pg_backend_pid()`,
  );
  return [rows[0]?.pid ?? 0, rows[0]?.startedAt ?? ''];
}

interface Identity {
  readonly standby: boolean;
  readonly server: string;
  readonly empty: boolean;
}
const IDENTITY = `select pg_is_in_recovery() as standby, to_regclass('leases') is null as empty,
  system_identifier::text as server from pg_control_system()`;

/** Refuses what is no standby of the database at first sight. Only {@link untilShown} proves that it is one. */
async function checkStandby(client: Client, db: Database): Promise<void> {
  const { rows } = await client.query<Identity>(IDENTITY);
  const [standby] = rows;
  if (standby?.standby !== true) {
    throw new StandbyError(
      `DATABASE_READ_URL leads to a server that is no standby (any more). Set it to an address that always leads to a standby, ${OR_UNSET}.`,
      {},
    );
  }
  const [primary] = (await sql.raw<Identity>(IDENTITY).execute(db)).rows;
  if (standby.empty || standby.server !== primary?.server) throw notOurs();
}

function notOurs(): StandbyError {
  return new StandbyError(
    `DATABASE_READ_URL leads to another database than DATABASE_URL, or to a copy that does not follow it. Set it to the same database, user and schema on a standby, ${OR_UNSET}.`,
    {},
  );
}

/** The names of the leases that are written only to be seen on the standby. */
export const MARKS = 'standby ';

/**
 * Commits a mark on the primary and waits for it on the standby. WAL is replayed in its order, so everything that was
 * committed before is there too; and no other database, schema or copy shows the mark, whatever its identifiers.
 */
async function untilShown(client: Client, db: Database, patienceMs: number): Promise<void> {
  const name = `${MARKS}${randomUUID()}`;
  await sql`insert into leases (name, holder, until) values (${name}, '', now() + interval '1 hour')`.execute(db);
  // Behind the commit: a standby that is past it has the mark.
  const { rows } = await sql<{ position: string }>`select pg_current_wal_lsn()::text as position`.execute(db);
  const { position = '' } = rows[0] ?? {};
  const until = performance.now() + patienceMs;
  try {
    for (;;) {
      const shown = await client.query<Progress>(PROGRESS, [name, position]);
      const [progress] = shown.rows;
      if (progress?.shown === true) return;
      if (performance.now() >= until) throw behind(progress, patienceMs);
      await setTimeout(POLL_MS);
    }
  } finally {
    // A process that died has left its mark.
    await sql`delete from leases where name = ${name} or (starts_with(name, ${MARKS}) and until < now())`
      .execute(db)
      .catch(() => {});
  }
}

interface Progress {
  readonly shown: boolean;
  /** Since the last commit that was replayed; null: none was replayed. */
  readonly seconds: number | null;
  readonly bytes: number;
}
const PROGRESS = `select exists (select from leases where name = $1) as shown,
  extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float8 as seconds,
  coalesce(pg_wal_lsn_diff($2::pg_lsn, pg_last_wal_replay_lsn()), 0)::float8 as bytes`;

/** A snapshot that only reads is ended so by a standby alone, which has to remove rows that the snapshot sees. */
const RECOVERY_CONFLICT = '40001';
/** PostgreSQL's and the system's codes of a connection that broke, and the errors that pg reports only as text. */
const BROKEN = /^(?:08|57P)|^E(?:PIPE|CONNRESET|TIMEDOUT)|^Connection terminated/;

function vanished(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = 'code' in error ? String(error.code) : error.message;
  if (code === RECOVERY_CONFLICT) {
    return new StandbyError(
      `The standby of DATABASE_READ_URL ended the read to follow the primary (${error.message}). Set hot_standby_feedback = on there, and try again.`,
      { cause: error },
    );
  }
  if (!BROKEN.test(code)) return error;
  return new StandbyError(
    `The standby of DATABASE_READ_URL went away during the read (${error.message}). Try again when it is back, ${OR_UNSET}.`,
    { cause: error },
  );
}

/** How far a standby is behind; one that is past the mark and does not show it follows another database. */
function behind(progress: Progress | undefined, patienceMs: number): StandbyError {
  const { seconds = null, bytes = 0 } = progress ?? {};
  if (bytes < 0) return notOurs();
  const changes = `${(bytes / 1e6).toFixed(1)} MB of changes`;
  // A standby that has just started has replayed nothing that tells a time.
  const far = seconds === null ? changes : `${durationOf(seconds)} (${changes})`;
  return new StandbyError(
    `The standby of DATABASE_READ_URL is ${far} behind, and did not catch up within ${patienceMs / 1_000} s. Look at pg_stat_replication on the primary and at the log of the standby, ${OR_UNSET}.`,
    {
      inShort: `The copy of the database that files are read from is ${seconds === null ? changes : durationOf(seconds)} behind. Try again when it has caught up.`,
    },
  );
}

/** A duration in its largest unit, rounded down: `62 minutes`. */
function durationOf(seconds: number): string {
  const [size, unit] = seconds < 120 ? [1, 'second'] : seconds < 7_200 ? [60, 'minute'] : [3_600, 'hour'];
  const count = Math.max(0, Math.floor(seconds / size));
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

function reasonOf(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error ? first.message : String(first);
}
