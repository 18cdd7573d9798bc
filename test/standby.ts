import { execFile } from 'node:child_process';
import { appendFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import type { Connection } from '../src/store/database.ts';
import { query, temporaryFolder } from '../src/embedded/postgres.fixture.ts';
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts';
import type { EmbeddedPostgres } from '../src/embedded/supervise.ts';
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
  await migrateAndStop(primary);
  await writeFile(path.join(dataDir, 'postgres/standby.signal'), '');
  const server = await startEmbeddedPostgres({ dataDir, log, settings });
  onTestFinished(() => server.stop());
  return { connection: server.connection, url: urlOf(server.connection) };
}

async function migrateAndStop(server: EmbeddedPostgres): Promise<void> {
  const handle = openDatabase(server.connection, { maxConnections: 1, onError: () => {} });
  const client = await handle.connect();
  await migrate(client);
  await client.end();
  await handle.close();
  await server.stop();
}

type Parts = Exclude<Connection, { readonly connectionString: string }>;

function urlOf({ host, port, user, database }: Parts): string {
  return `postgres://${user}@${encodeURIComponent(host)}:${port}/${database}`;
}

/** A primary with a standby that follows it by streaming replication. Each is a server of its own. */
export interface Streaming {
  readonly primary: Standby;
  readonly standby: Standby;
  /** Runs a statement on one of the two. */
  readonly run: (where: 'primary' | 'standby', statement: string) => Promise<unknown>;
  readonly stopStandby: () => Promise<void>;
}

/** Makes both, with the migrated database of a project; they go when the test ends. */
export async function streaming(): Promise<Streaming> {
  const log = (): void => {};
  const settings = { fsync: 'off', wal_level: 'replica', wal_receiver_status_interval: '1' };
  const [first, second] = [await temporaryFolder(), await temporaryFolder()];
  const made = await startEmbeddedPostgres({ dataDir: first, log, settings });
  await migrateAndStop(made);
  await promisify(execFile)('cp', ['-a', path.join(first, 'postgres'), second]);
  const primary = await startEmbeddedPostgres({ dataDir: first, log, settings });
  onTestFinished(() => primary.stop());
  const { host, port, user } = primary.connection;
  await writeFile(path.join(second, 'postgres/standby.signal'), '');
  await appendFile(
    path.join(second, 'postgres/postgresql.auto.conf'),
    `primary_conninfo = 'host=${host} port=${port} user=${user} application_name=second'\n`,
  );
  const standby = await startEmbeddedPostgres({ dataDir: second, log, settings, isRestarted: false });
  onTestFinished(() => standby.stop());
  const servers = { primary, standby };
  return {
    primary: { connection: primary.connection, url: urlOf(primary.connection) },
    standby: { connection: standby.connection, url: urlOf(standby.connection) },
    run: (where, statement) => query(servers[where], statement),
    stopStandby: () => standby.stop(),
  };
}
