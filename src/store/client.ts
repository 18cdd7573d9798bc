import { createHash } from 'node:crypto';
import { Client, type ClientConfig } from 'pg';

/** How many statements one connection keeps prepared. The program's own texts are far fewer. */
const MAX_PREPARED = 400;
const statementNames = new Map<string, string>();

/** The name under which a statement is prepared: planning a creation costs more than running it. */
function statementName(text: string): string | undefined {
  const known = statementNames.get(text);
  if (known !== undefined) return known;
  if (statementNames.size >= MAX_PREPARED) return undefined;
  const name = createHash('sha256').update(text).digest('base64url').slice(0, 24);
  statementNames.set(text, name);
  return name;
}

const TRANSACTION_WORDS = new Set(['begin', 'commit', 'rollback']);

/** What pg sends first on a connection; its types leave it out. */
interface StartsUp {
  getStartupConf(): Readonly<Record<string, string>>;
}
const PgClient = Client as unknown as new (config?: ClientConfig) => Client & StartsUp;

/**
 * A pg client whose session has our time zone and style of dates, whatever the server, the database, the role or the URL's
 * `options` say. They are parameters of the start, which PostgreSQL obeys last, and which poolers keep for every session
 * of theirs while they refuse or drop `options`.
 */
export class SessionClient extends PgClient {
  override getStartupConf(): Readonly<Record<string, string>> {
    return { ...super.getStartupConf(), TimeZone: 'UTC', DateStyle: 'ISO' };
  }
}

/** One that prepares every parameterised statement, for Kysely asks for no names. */
export class PreparingClient extends SessionClient {
  // @ts-expect-error Kysely's driver calls query(text, values) only, one of the many overloads.
  override query(text: unknown, values?: unknown, callback?: unknown): unknown {
    if (typeof text === 'string' && Array.isArray(values) && !TRANSACTION_WORDS.has(text)) {
      const name = statementName(text);
      if (name !== undefined) return super.query({ name, text, values }, callback as never);
    }
    return super.query(text as never, values as never, callback as never);
  }
}
