import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { inject, onTestFinished } from 'vitest';
import { openDatabase, type DatabaseHandle } from '../src/store/database.ts';
import { migrate } from '../src/store/migrate.ts';
import { TEMPLATE } from './global-setup.ts';

/** A test's own database; also as a URL for programs. */
export interface TestDatabase extends DatabaseHandle {
  readonly url: string;
}

/** A new, migrated database, dropped when the test ends. */
export async function testDatabase(): Promise<TestDatabase> {
  const { database, drop } = await createTestDatabase();
  onTestFinished(drop);
  return database;
}

/** The URL of a new database without tables, dropped when the test ends. */
export async function emptyDatabase(): Promise<string> {
  const { user, host, port } = inject('postgres');
  const name = `test_${randomBytes(8).toString('hex')}`;
  await asAdmin(`create database ${name}`);
  onTestFinished(() => asAdmin(`drop database ${name} with (force)`));
  return `postgres://${user}@${encodeURIComponent(host)}:${port}/${name}`;
}

/** A new, migrated database for the tests of a whole file. The caller drops it. */
export async function createTestDatabase(): Promise<{
  readonly database: TestDatabase;
  readonly drop: () => Promise<void>;
}> {
  const server = inject('postgres');
  const name = `test_${randomBytes(8).toString('hex')}`;
  if (inSchemas) return createTestSchema(name);
  // Copying the files costs a fifth of writing them through the log.
  await asAdmin(`create database ${name} template ${TEMPLATE} strategy file_copy`);
  const handle = openDatabase({ ...server, database: name }, { maxConnections: 8, onError: () => {} });
  const url = `postgres://${server.user}@${encodeURIComponent(server.host)}:${server.port}/${name}`;
  return {
    database: { ...handle, url },
    drop: async () => {
      await handle.close();
      await asAdmin(`drop database ${name} with (force)`);
    },
  };
}

/**
 * Whether every test database is a schema of one database, where their installations live side by side: with
 * `TEST_DATABASES=schemas`.
 */
const inSchemas = process.env['TEST_DATABASES'] === 'schemas';
const SHARED = 'cointill_schemas';

async function createTestSchema(name: string): Promise<Awaited<ReturnType<typeof createTestDatabase>>> {
  const { user, host, port } = inject('postgres');
  // Another worker may have made it.
  await asAdmin(`create database ${SHARED}`).catch((error: unknown) => {
    if (!['42P04', '23505'].includes(Object(error).code)) throw error;
  });
  const url = `postgres://${user}@${encodeURIComponent(host)}:${port}/${SHARED}?options=-c%20search_path%3D${name}`;
  const made = new Client(url);
  await made.connect();
  await made.query(`create schema ${name}`);
  await migrate(made);
  const database = { ...openDatabase({ connectionString: url }, { maxConnections: 8, onError: () => {} }), url };
  return {
    database,
    drop: async () => {
      await database.close();
      await made.query(`set client_min_messages = error; drop schema ${name} cascade`);
      await made.end();
    },
  };
}

/** One connection of each worker, which ends with the worker; one statement after the other. */
let admin: Promise<Client> | null = null;
let last: Promise<void> = Promise.resolve();

function asAdmin(statement: string): Promise<void> {
  admin ??= connectAsAdmin();
  const [client, before] = [admin, last];
  const done = before.then(async () => void (await (await client).query(statement)));
  last = done.catch(() => {});
  return done;
}

async function connectAsAdmin(): Promise<Client> {
  const client = new Client({ ...inject('postgres'), database: 'postgres' });
  client.on('error', () => {});
  await client.connect();
  return client;
}
