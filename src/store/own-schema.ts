import { sql } from 'kysely';
import type { Client } from 'pg';
import { UnfitDatabaseError } from './unfit-database.ts';

/**
 * Several installations may share a database, each in the schema of its role. Advisory locks and channels know no
 * schema, so this number is folded into the key of every lock (`key # SALT`): 0 in `public`, where processes of earlier
 * versions use the plain keys.
 */
export const SALT = `(case current_schema() when 'public' then 0 else hashtext(current_schema()) end)`;

/** The channel on which the processes of an installation tell each other; in `public` that of earlier versions. */
export const CHANNEL = `(case current_schema() when 'public' then 'cointill'
  else 'cointill_' || to_hex(hashtextextended(current_schema(), 0)) end)`;

/** {@link SALT} and {@link CHANNEL} for a tagged statement. */
export const salt = sql.raw<number>(SALT);
export const channel = sql.raw<string>(CHANNEL);

interface Place {
  readonly name: string | null;
  readonly path: string;
  /** Quoted for a command where necessary, as `schema`. */
  readonly role: string;
  readonly schema: string | null;
  /** A later schema of the search path that also has an installation. */
  readonly other: string | null;
}

const PLACE = `
  select current_schema() as name, current_setting('search_path') as path, quote_ident(current_user) as role,
    quote_ident(current_schema()) as schema, (
    select s.name from unnest(current_schemas(false)) s (name)
    where s.name <> current_schema() and to_regclass(format('%I.migrations', s.name)) is not null limit 1) as other`;

/** How long a new connection may take to answer the question. */
const ANSWER_MS = 10_000;

/** The schema of the connections of one way to the database. */
export interface SchemaCheck {
  /**
   * Checks that a new connection leads to one schema, the same as before. A `search_path` that is changed while
   * processes run would have one process write into two installations.
   *
   * @throws UnfitDatabaseError with the way out
   */
  readonly check: (client: Client) => Promise<void>;
  /** The schema's name; null before the first connection. */
  readonly name: () => string | null;
}

export function createSchemaCheck(): SchemaCheck {
  let known: Place | null = null;
  return {
    check: async (client) => {
      const limit = setTimeout(() => client.connection.stream.destroy(), ANSWER_MS);
      const { rows } = await client.query<Place>(PLACE).finally(() => clearTimeout(limit));
      const [place] = rows;
      if (place === undefined) return;
      const problem = problemOf(place, known?.schema ?? null);
      if (problem !== null) throw new WrongSchemaError(problem);
      known ??= place;
    },
    name: () => known?.name ?? null,
  };
}

/** Another schema of the database that has an installation; every role may see that. Null: there is none. */
export async function findNeighbour(client: Client): Promise<string | null> {
  const { rows } = await client.query<{ name: string }>(`
    select n.nspname as name from pg_namespace n join pg_class c on c.relnamespace = n.oid and c.relname = 'migrations'
    where n.nspname <> current_schema() and exists (
      select from pg_class k where k.relnamespace = n.oid and k.relname = 'key_checks')
    order by n.nspname limit 1`);
  return rows[0]?.name ?? null;
}

/** A connection that was closed because it leads to a wrong schema. */
class WrongSchemaError extends UnfitDatabaseError {
  /** PostgreSQL's code for a wrong schema: nothing was carried out. */
  readonly code = '3F000';
}

function problemOf({ name, path, role, schema, other }: Place, before: string | null): string | null {
  const wayOut = `Let it name one schema, made for this installation alone: alter role ${role} set search_path = NAME.`;
  const firstNamed = firstOf(path);
  if (name === null || (name !== firstNamed && firstNamed !== '$user')) {
    return `The search_path of the role ${role} (${path}) begins with a schema that does not exist, or that this role may not use. Make that schema (create schema NAME authorization ${role}), or correct the search_path.`;
  }
  if (other !== null) {
    return `The search_path of the role ${role} (${path}) leads to the schema ${schema}, and behind it to ${other}, where another installation is. ${wayOut}`;
  }
  if (before === null || schema === before) return null;
  return `The search_path of the role ${role} was changed: new connections lead to the schema ${schema}, and this process works in ${before}. Set it back: alter role ${role} set search_path = ${before}. Give another installation a role of its own.`;
}

/** The first name of a search path as PostgreSQL reads it; empty if there is none. */
function firstOf(path: string): string {
  const [, quoted, plain = ''] = /^\s*(?:"((?:[^"]|"")*)"|([^",\s]+))/.exec(path) ?? [];
  // PostgreSQL folds a name without quotes.
  return quoted?.replaceAll('""', '"') ?? plain.toLowerCase();
}
