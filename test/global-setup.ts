import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Client, type ClientConfig } from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts';
import { migrate } from '../src/store/migrate.ts';
import { refusedStatements, type Sent } from './citus-forms.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    postgres: { readonly host: string; readonly port: number; readonly user: string };
    /** The cluster of an embedded database that is migrated and otherwise empty, without a server. */
    readyCluster: string;
    /** The file in which the statements of the program are noted. */
    statements: string;
  }
}

export const TEMPLATE = 'cointill_template';

/**
 * One real PostgreSQL server for the whole run, whichever projects take part; every test clones the migrated template
 * in some 35 ms.
 */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const whole = project.vitest.getRootProject();
  // Projects are set up one after the other, and all see what the root project provides.
  if ('postgres' in whole.getProvidedContext()) return undefined;
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'cointill-test-'));
  // Root's server runs as another user, who has to get in.
  await chmod(dataDir, 0o755);
  const start = (settings: Readonly<Record<string, string>>) =>
    startEmbeddedPostgres({
      dataDir,
      log: (level, message, details) => {
        if (level !== 'info') process.stderr.write(`${level}: ${message} ${JSON.stringify(details ?? {})}\n`);
      },
      // Nothing here outlives the run, and a thousand clones would wait for the disk.
      settings: { fsync: 'off', ...settings },
    });
  const first = await start({});
  const { host, port, user, database } = first.connection;
  const of = (name: string): ClientConfig => ({ host, port, user, database: name });
  await withClient(of(database), async (client) => {
    await migrate(client);
    await client.query(`create database ${TEMPLATE}`);
  });
  // Not copied from the embedded database, to which its supervisor stays connected.
  await withClient(of(TEMPLATE), migrate);
  await first.stop();
  const ready = path.join(dataDir, 'ready');
  await mkdir(ready);
  await promisify(execFile)('cp', ['-a', path.join(dataDir, 'postgres'), ready]);
  const server = await start({ max_connections: '300', shared_buffers: '32MB' });
  whole.provide('postgres', { host, port, user });
  whole.provide('readyCluster', path.join(ready, 'postgres'));
  const statements = path.join(dataDir, 'statements');
  whole.provide('statements', statements);
  return async () => {
    const refused = await refusedOf(of(TEMPLATE), statements);
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
    if (refused.length === 0) return;
    // Vitest reports the error, and would end as if nothing had happened.
    process.exitCode = 1;
    throw new Error(`Statements in forms that Citus refuses (test/citus-forms.ts):\n${refused.join('\n')}`);
  };
}

/** The noted statements in a form that the store is to have none of. */
async function refusedOf(template: ClientConfig, file: string): Promise<readonly string[]> {
  const noted = await readFile(file, 'utf8').catch(() => '');
  const sent = noted.split('\n').flatMap((line): Sent[] => (line === '' ? [] : [JSON.parse(line)]));
  return sent.length === 0 ? [] : withClient(template, (client) => refusedStatements(client, sent));
}

async function withClient<Result>(
  connection: ClientConfig,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client(connection);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
