import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { Connection } from '../src/store/database.ts';
import { temporaryFolder } from '../src/embedded/postgres.fixture.ts';
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts';
import { openDatabase } from '../src/store/database.ts';
import { migrate } from '../src/store/migrate.ts';

/** A real standby: a migrated database in recovery, which answers questions and takes no writes. */
export interface Standby {
  readonly connection: Connection;
  readonly url: string;
}

/** Makes one; it goes when the test ends. */
export async function standby(): Promise<Standby> {
  const dataDir = await temporaryFolder();
  const settings = { fsync: 'off' };
  const log = (): void => {};
  const primary = await startEmbeddedPostgres({ dataDir, log, settings });
  const handle = openDatabase(primary.connection, { maxConnections: 1, onError: () => {} });
  const client = await handle.connect();
  await migrate(client);
  await client.end();
  await handle.close();
  await primary.stop();
  await writeFile(path.join(dataDir, 'postgres/standby.signal'), '');
  const server = await startEmbeddedPostgres({ dataDir, log, settings });
  onTestFinished(() => server.stop());
  const { host, port, user, database } = server.connection;
  return {
    connection: server.connection,
    url: `postgres://${user}@${encodeURIComponent(host)}:${port}/${database}`,
  };
}
