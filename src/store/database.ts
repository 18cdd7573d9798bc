import { createHash } from 'node:crypto';
import { Kysely, PostgresDialect, sql, type RawBuilder, type Transaction } from 'kysely';
import { Client, Pool, types as builtin, type CustomTypesConfig } from 'pg';
import { createPipeline, type Pipeline } from './pipeline.ts';
import type { Tables } from './tables.ts';

export type Database = Kysely<Tables>;
/** An open transaction: what every writer takes as its first argument. */
export type Trx = Transaction<Tables>;

/** Where the database is: a URL, or the parts of a connection to a Unix socket. */
export type Connection =
  | { readonly connectionString: string }
  | { readonly host: string; readonly port: number; readonly user: string; readonly database: string };

const TIMESTAMPTZ = 1184;
const INT8 = 20;
const NUMERIC = 1700;
const DATE = 1082;

/** Every numeric column is `numeric(78, 0)`, so both become bigint; times become epoch milliseconds; days stay text. */
const PARSERS: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [TIMESTAMPTZ, parseTimestamp],
  [INT8, BigInt],
  [NUMERIC, BigInt],
  [DATE, (text: string) => text],
]);

/** `2026-11-21 01:20:59.123+00`: sessions run in UTC, and what we write has milliseconds at most. */
function parseTimestamp(text: string): number {
  const digits = (from: number, to: number): number => Number(text.slice(from, to));
  const fraction = text.charCodeAt(19) === 46 ? Number(text.slice(19, text.indexOf('+', 19))) : 0;
  const whole = Date.UTC(digits(0, 4), digits(5, 7) - 1, digits(8, 10), digits(11, 13), digits(14, 16), digits(17, 19));
  return whole + Math.round(fraction * 1000);
}

const types: CustomTypesConfig = {
  getTypeParser: (id, format) =>
    (format === 'binary' ? undefined : PARSERS.get(id)) ?? builtin.getTypeParser(id, format),
};

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

/** A pg client that prepares every parameterised statement, for Kysely asks for no names. */
class PreparingClient extends Client {
  // @ts-expect-error Kysely's driver calls query(text, values) only, one of the many overloads.
  override query(text: unknown, values?: unknown, callback?: unknown): unknown {
    if (typeof text === 'string' && Array.isArray(values) && !TRANSACTION_WORDS.has(text)) {
      const name = statementName(text);
      if (name !== undefined) return super.query({ name, text, values }, callback as never);
    }
    return super.query(text as never, values as never, callback as never);
  }
}

/** A time in epoch milliseconds as PostgreSQL compares it. */
export function timestamp(at: number): RawBuilder<number> {
  return sql<number>`${new Date(at)}::timestamptz`;
}

/** A pool of connections and Kysely on top. */
export interface DatabaseHandle {
  readonly db: Database;
  /** A connection of its own for statements that stand alone and must not wait for the answer of the one before. */
  readonly pipeline: Pipeline;
  /** For LISTEN and locks that live as long as their connection. */
  connect(): Promise<Client>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly maxConnections: number;
  /** Told when an idle connection breaks; the pool replaces it. */
  readonly onError: (error: Error) => void;
}

/** Opens a pool. A broken connection or a server restart is reported to `onError` and never ends the process. */
export function openDatabase(connection: Connection, options: DatabaseOptions): DatabaseHandle {
  const config = {
    ...connection,
    types,
    application_name: 'cointill',
    options: '-c timezone=UTC -c client_min_messages=warning',
    connectionTimeoutMillis: 10_000,
  };
  const pool = new Pool({
    ...config,
    Client: PreparingClient as unknown as typeof Client,
    max: options.maxConnections,
    idleTimeoutMillis: 60_000,
  });
  let closing = false;
  const onError = (error: Error): void => {
    // pg hangs the whole client on it, with every statement that it knows; nobody wants to read that in a log.
    Reflect.deleteProperty(error, 'client');
    // A connection that is told to end may hear of the server's own end first.
    if (!closing) options.onError(error);
  };
  pool.on('error', onError);
  // The pool listens to idle clients only; one that breaks between the queries of a transaction would end the process.
  pool.on('connect', (client) => void client.on('error', () => {}));
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  const opened = async (client: Client): Promise<Client> => {
    client.on('error', onError);
    await client.connect();
    return client;
  };
  const pipeline = createPipeline(() =>
    opened(new PreparingClient({ ...config, pipeline: true }) as unknown as Client),
  );
  return {
    db,
    pipeline,
    connect: () => opened(new Client(config)),
    close: async () => {
      closing = true;
      await pipeline.close();
      await db.destroy();
    },
  };
}
