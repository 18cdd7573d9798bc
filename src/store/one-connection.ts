import { Kysely, PostgresDialect } from 'kysely';
import type { Client } from 'pg';
import type { Database } from './database.ts';
import type { Tables } from './tables.ts';

/** Kysely on one connection, in whatever transaction is open there. It must not be asked to begin or end one. */
export function onConnection(client: Client): Database {
  const connection = {
    query: (text: string, values: readonly unknown[]) => client.query(text, [...values]),
    release: () => {},
  };
  const pool = { connect: async () => connection, end: async () => {} };
  return new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: pool as unknown as ConstructorParameters<typeof PostgresDialect>[0]['pool'] }),
  });
}
