import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Client } from 'pg';
import type { Logger } from 'pino';
import { within } from '../app/within.ts';
import type { Config } from '../config/config.ts';
import { openDatabase, type Connection, type DatabaseHandle } from '../store/database.ts';
import { openLongRead, openSession, type ConnectToRead, type LongRead, type ReadHandle } from '../store/long-reads.ts';
import { BackupError } from '../archive/format.ts';
import { startEmbeddedPostgres } from '../embedded/postgres.ts';
import { refuseMoved, refuseMovedEmbedded } from './moved-database.ts';

/** The configured database server: the operator's own, or the embedded one, started or joined. */
export interface DatabaseServer {
  readonly connection: Connection;
  /** Bypasses the pooler that `connection` goes through. */
  readonly direct: Connection | undefined;
  /** For long reads. */
  readonly standby: Connection | undefined;
  readonly stop: () => Promise<void>;
}

/** Opens the server of the settings' database, unless the embedded one was moved. */
export async function openServer(
  { databaseUrl, databaseDirectUrl, databaseReadUrl, dataDir }: Config,
  log: Logger,
): Promise<DatabaseServer> {
  if (databaseUrl !== null) {
    const [direct, standby] = [databaseDirectUrl, databaseReadUrl].map((url) =>
      url === null ? undefined : { connectionString: url },
    );
    return { connection: { connectionString: databaseUrl }, direct, standby, stop: async () => {} };
  }
  await refuseMovedEmbedded(dataDir);
  const embedded = await startEmbeddedPostgres({ dataDir, log: logTo(log) });
  return { connection: embedded.connection, direct: undefined, standby: undefined, stop: () => embedded.stop() };
}

/** Writes the lines of the embedded database to a logger. */
export function logTo(log: Logger) {
  return (level: 'info' | 'warn' | 'error', message: string, details: Record<string, unknown> = {}): void =>
    log[level](details, message);
}

/** Runs some work on the configured database as it is, without creating or migrating it. */
export async function withDatabase<Result>(
  config: Config,
  log: Logger,
  work: (handle: DatabaseHandle) => Promise<Result>,
): Promise<Result> {
  if (config.databaseUrl === null && !existsSync(path.join(config.dataDir, 'postgres'))) {
    throw new BackupError(
      `There is no database in ${config.dataDir}. Set DATA_DIR or DATABASE_URL as it is set for the service.`,
    );
  }
  const server = await openServer(config, log);
  try {
    return await useDatabase(server, log, async (handle) => {
      if (config.databaseUrl !== null) await refuseMoved(handle);
      return work(handle);
    });
  } finally {
    await server.stop();
  }
}

export async function useDatabase<Result>(
  { connection, direct, standby }: Pick<DatabaseServer, 'connection'> & Partial<DatabaseServer>,
  log: Logger,
  work: (handle: DatabaseHandle) => Promise<Result>,
): Promise<Result> {
  const handle = openDatabase(connection, {
    maxConnections: 2,
    direct,
    standby,
    // Work that needs the broken connection fails by itself and says why.
    onError: (error) => log.debug({ err: error }, 'a database connection broke'),
  });
  try {
    return await work(handle);
  } finally {
    await handle.close();
  }
}

/** The time limit for a server to abort a cancelled statement. */
const GIVE_UP_MS = 2_000;

/** Runs some work on a connection of its own. `stopping` closes that connection and aborts its running statement. */
export function withClient<Result>(
  handle: Pick<DatabaseHandle, 'connect' | 'db'>,
  stopping: AbortSignal | undefined,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  return withConnection(
    () => openSession(handle),
    stopping,
    ({ client }) => work(client),
  );
}

/** Runs some work that only reads, on the standby if there is one, as soon as that has caught up. */
export function withLongRead<Result>(
  handle: ReadHandle,
  stopping: AbortSignal | undefined,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  return withConnection(
    () => openLongRead(handle),
    stopping,
    async ({ client, catchUp }) => {
      await catchUp();
      return work(client);
    },
  );
}

async function withConnection<Result>(
  connect: ConnectToRead,
  stopping: AbortSignal | undefined,
  work: (read: LongRead) => Promise<Result>,
): Promise<Result> {
  stopping?.throwIfAborted();
  const read = await connect();
  const { client } = read;
  const cut = async (): Promise<void> => {
    // Nobody needs a report of a connection that breaks on purpose.
    client.removeAllListeners('error').on('error', () => {});
    // A server that builds an index or waits for a lock would only notice a closed connection when it is done.
    await within(GIVE_UP_MS, read.endProcess()).catch(() => {});
    client.connection.stream.destroy();
  };
  const onStop = (): void => void cut();
  stopping?.addEventListener('abort', onStop, { once: true });
  try {
    stopping?.throwIfAborted();
    return await work(read).catch((error: unknown) => {
      throw read.explain(error);
    });
  } finally {
    stopping?.removeEventListener('abort', onStop);
    await client.end();
  }
}
