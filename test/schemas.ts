import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { onTestFinished } from 'vitest';
import { openDatabase, type DatabaseHandle } from '../src/store/database.ts';
import { migrate } from '../src/store/migrate.ts';
import { emptyDatabase } from './database.ts';

/** A schema of a shared database, with a role of its own that works in it. */
export interface Place {
  readonly schema: string;
  readonly role: string;
  readonly url: string;
}

/** A database without tables that several installations share. */
export interface SharedDatabase {
  /** The URL of an administrator, who works in `public`. */
  readonly url: string;
  /** Makes a schema, and a role whose `search_path` names it. */
  place(schema: string): Promise<Place>;
  /** Runs a statement as the administrator. */
  run(statement: string): Promise<void>;
}

export async function sharedDatabase(): Promise<SharedDatabase> {
  // The roles belong to the server: they go when nothing is theirs any more, which the database's end sees to.
  const roles: string[] = [];
  const servers = (await emptyDatabase()).replace(/[^/]*$/, 'postgres');
  onTestFinished(async () => {
    for (const role of roles) await statement(servers, `drop role ${role}`);
  });
  const url = await emptyDatabase();
  const run = (text: string): Promise<void> => statement(url, text);
  return {
    url,
    run,
    place: async (schema) => {
      const role = `role_${randomBytes(8).toString('hex')}`;
      roles.push(role);
      await run(`create role ${role} login; create schema "${schema}" authorization ${role}`);
      await run(`alter role ${role} set search_path = "${schema}"`);
      return { schema, role, url: url.replace(/\/\/[^@]*@/, `//${role}@`) };
    },
  };
}

async function statement(url: string, text: string): Promise<void> {
  const client = new Client(url);
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

/** Opens the schema's database until the test ends. */
export function openPlace({ url }: Pick<Place, 'url'>): DatabaseHandle {
  const handle = openDatabase({ connectionString: url }, { maxConnections: 4, onError: () => {} });
  onTestFinished(() => handle.close());
  return handle;
}

/** The same, with the tables of this version. */
export async function migratedPlace(place: Pick<Place, 'url'>): Promise<DatabaseHandle> {
  const handle = openPlace(place);
  const client = await handle.connect();
  await migrate(client);
  await client.end();
  return handle;
}
