import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { openDatabase, type Connection, type DatabaseHandle } from '../store/database.ts';
import { BackupError } from './errors.ts';
import { startEmbeddedPostgres } from '../store/embedded-postgres.ts';

/** Does some work on the database of the settings as it is: nothing is made where there is none, and nothing is migrated. */
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
    onError: (error) => log.warn({ err: error }, 'a database connection broke'),
  });
  try {
    return await work(handle);
  } finally {
    await handle.close();
  }
}
