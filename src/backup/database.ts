import { existsSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import type { Client } from 'pg';
import type { Logger } from 'pino';
import { within } from '../app/within.ts';
import type { Config } from '../config/config.ts';
import { openDatabase, type Connection, type DatabaseHandle } from '../store/database.ts';
import { BackupError } from './errors.ts';
import { startEmbeddedPostgres } from '../embedded/postgres.ts';

/** Runs some work on the configured database as it is: it is neither created nor migrated. */
export async function withDatabase<Result>(
  config: Config,
  log: Logger,
  work: (handle: DatabaseHandle) => Promise<Result>,
): Promise<Result> {
  if (config.databaseUrl !== null) {
    const direct = config.databaseDirectUrl === null ? undefined : { connectionString: config.databaseDirectUrl };
    return useDatabase({ connectionString: config.databaseUrl }, log, work, direct);
  }
  if (!existsSync(path.join(config.dataDir, 'postgres'))) {
    throw new BackupError(
      `There is no database in ${config.dataDir}. Set DATA_DIR or DATABASE_URL as it is set for the service.`,
    );
  }
  const embedded = await startEmbeddedPostgres({
    dataDir: config.dataDir,
    log: (level, message, details) => log[level](details ?? {}, message),
  });
  try {
    return await useDatabase(embedded.connection, log, work);
  } finally {
    await embedded.stop();
  }
}

export async function useDatabase<Result>(
  connection: Connection,
  log: Logger,
  work: (handle: DatabaseHandle) => Promise<Result>,
  direct?: Connection,
): Promise<Result> {
  const handle = openDatabase(connection, {
    maxConnections: 2,
    direct,
    // If it is the connection that the work needs, the work itself fails and says why.
    onError: (error) => log.debug({ err: error }, 'a database connection broke'),
  });
  try {
    return await work(handle);
  } finally {
    await handle.close();
  }
}

/** How long a server may take to abort a cancelled statement. */
const GIVE_UP_MS = 2_000;

/** A connection for some work. `stopping` closes it: the running statement fails, and the server aborts it too. */
export async function withClient<Result>(
  handle: Pick<DatabaseHandle, 'connect' | 'db'>,
  stopping: AbortSignal | undefined,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  stopping?.throwIfAborted();
  const client = await handle.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const cut = async (): Promise<void> => {
    // It breaks because it was told to, which need not be reported.
    client.removeAllListeners('error').on('error', () => {});
    // A server that builds an index or waits for a lock would only notice a closed connection when it is done.
    const ended = sql`select pg_terminate_backend(${rows[0]?.pid ?? 0})`.execute(handle.db);
    await within(GIVE_UP_MS, ended).catch(() => {});
    client.connection.stream.destroy();
  };
  const onStop = (): void => void cut();
  stopping?.addEventListener('abort', onStop, { once: true });
  try {
    stopping?.throwIfAborted();
    return await work(client);
  } finally {
    stopping?.removeEventListener('abort', onStop);
    await client.end();
  }
}
