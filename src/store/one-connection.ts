import { Kysely, PostgresDialect, type CompiledQuery } from 'kysely';
import type { Client } from 'pg';
import type { Database } from './database.ts';
import type { Tables } from './tables.ts';

/** Kysely on one connection, in the transaction that is open there. It must not be asked to begin or end one. */
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

/**
 * A statement with its parameters written into its text, for `COPY`, which accepts none. Texts go through the client's
 * own escaping. Throws TypeError for values that it cannot write.
 */
export function inlined(client: Pick<Client, 'escapeLiteral'>, { sql, parameters }: CompiledQuery): string {
  return sql.replaceAll(/\$(\d+)/g, (_name, number: string) => literal(client, parameters[Number(number) - 1]));
}

function literal(client: Pick<Client, 'escapeLiteral'>, value: unknown): string {
  switch (typeof value) {
    case 'string':
      return client.escapeLiteral(value);
    case 'bigint':
      return String(value);
    case 'number':
      if (Number.isFinite(value)) return String(value);
      break;
    default:
      if (value === null) return 'null';
      if (Array.isArray(value))
        return value.length === 0 ? `'{}'` : `array[${value.map((one) => literal(client, one)).join(', ')}]`;
  }
  throw new TypeError(`A parameter of the type ${typeof value} cannot be written into a statement.`);
}
