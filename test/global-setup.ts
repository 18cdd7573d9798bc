import { chmod, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../src/store/embedded/postgres.ts';
import { migrate } from '../src/store/migrate.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    postgres: { readonly host: string; readonly port: number; readonly user: string };
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
  const server = await startEmbeddedPostgres({
    dataDir,
    log: (level, message, details) => {
      if (level !== 'info') process.stderr.write(`${level}: ${message} ${JSON.stringify(details ?? {})}\n`);
    },
    // Nothing here outlives the run, and a thousand clones would wait for the disk.
    settings: { fsync: 'off', max_connections: '300' },
  });
  const { host, port, user, database } = server.connection;
  const admin = new Client({ host, port, user, database });
  await admin.connect();
  await admin.query(`create database ${TEMPLATE}`);
  await admin.end();
  const template = new Client({ host, port, user, database: TEMPLATE });
  await template.connect();
  await migrate(template);
  await template.end();
  whole.provide('postgres', { host, port, user });
  return async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
}
