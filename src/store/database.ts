import { Kysely, PostgresDialect, sql, type RawBuilder, type SelectQueryBuilder, type Transaction } from 'kysely';
import { Pool, types as builtin, type Client, type CustomTypesConfig } from 'pg';
import { PreparingClient, SessionClient } from './client.ts';
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
  // A pooler that hands out sessions of its own may have let theirs keep another time zone.
  if (!text.endsWith('+00')) return parseShifted(text);
  const digits = (from: number, to: number): number => Number(text.slice(from, to));
  const fraction = text.charCodeAt(19) === 46 ? Number(text.slice(19, -3)) : 0;
  const whole = Date.UTC(digits(0, 4), digits(5, 7) - 1, digits(8, 10), digits(11, 13), digits(14, 16), digits(17, 19));
  return whole + Math.round(fraction * 1000);
}

/** `2026-11-21 06:50:59.123+05:30`: the offset has minutes and seconds only where they are not zero. */
function parseShifted(text: string): number {
  const [offset, sign, hours = '', minutes = '0', seconds = '0'] =
    /([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?$/.exec(text) ?? [];
  if (offset === undefined) throw new Error(`The database gave a time that cannot be read: ${text}`);
  const shiftSeconds = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
  const local = parseTimestamp(`${text.slice(0, -offset.length)}+00`);
  return local + (sign === '-' ? shiftSeconds : -shiftSeconds) * 1000;
}

const types: CustomTypesConfig = {
  getTypeParser: (id, format) =>
    (format === 'binary' ? undefined : PARSERS.get(id)) ?? builtin.getTypeParser(id, format),
};

/** A time in epoch milliseconds as PostgreSQL compares it. */
export function timestamp(at: number): RawBuilder<number> {
  return sql<number>`${new Date(at)}::timestamptz`;
}

/** Locks the first `limit` rows of a query that nobody else works on. */
export function lockUntaken<Tables, From extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, From, Row>,
  limit: number,
): Promise<Row[]> {
  return query.limit(limit).forUpdate().skipLocked().execute();
}

/** A pool of connections and Kysely on top. */
export interface DatabaseHandle {
  readonly db: Database;
  /** A connection of its own for statements that stand alone and must not wait for the answer of the one before. */
  readonly pipeline: Pipeline;
  /** Past any pooler: for LISTEN, locks that live as long as their connection, and statements that may take any time. */
  connect(): Promise<Client>;
  /** Connections of the pool that work, and statements and transactions that wait for one. */
  pool(): { readonly used: number; readonly waiting: number };
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly maxConnections: number;
  /** The way of {@link DatabaseHandle.connect}, where a pooler stands in the usual one. */
  readonly direct?: Connection | undefined;
  /** Told when an idle connection breaks; the pool replaces it. */
  readonly onError: (error: Error) => void;
  /** How long a statement of the pool or the pipeline may take before its connection is given up. */
  readonly answerTimeoutMs?: number;
}

/** Large work is done in lots that take a small part of it, waits for each other's rows included. */
const ANSWER_TIMEOUT_MS = 30_000;
/** A process that hangs or vanished holds what it locked no longer than this: between two statements we wait for nothing. */
const IDLE_TRANSACTION_TIMEOUT_MS = 5_000;
/** An idle connection is looked after from then on: ten probes a second apart, and one whose other end is gone breaks. */
const KEEP_ALIVE_AFTER_MS = 10_000;

/**
 * These modes are what `verify-full` is to this version of pg, which says so at length in plain text on standard error,
 * between the log's JSON. Saying `verify-full` in their stead changes nothing and says nothing.
 */
function plainSslMode(url: string): string {
  if (/[?&]uselibpqcompat=/.test(url)) return url;
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=[&#]|$)/, '$1verify-full');
}

/** What every connection is opened with. */
function clientConfig(connection: Connection) {
  return {
    ...('connectionString' in connection
      ? { connectionString: plainSslMode(connection.connectionString) }
      : connection),
    types,
    application_name: 'cointill',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
  };
}

/** Opens a pool. A broken connection or a server restart is reported to `onError` and never ends the process. */
export function openDatabase(connection: Connection, options: DatabaseOptions): DatabaseHandle {
  const { answerTimeoutMs = ANSWER_TIMEOUT_MS } = options;
  // Before others give up waiting for what a hanging transaction holds.
  const idleTransactionTimeoutMs = Math.min(IDLE_TRANSACTION_TIMEOUT_MS, answerTimeoutMs / 2);
  const answering = { ...clientConfig(connection), answerTimeoutMs, idleTransactionTimeoutMs };
  const pool = new Pool({
    ...answering,
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
    opened(new PreparingClient({ ...answering, pipeline: true }) as unknown as Client),
  );
  return {
    db,
    pipeline,
    connect: () => opened(new SessionClient(clientConfig(options.direct ?? connection)) as unknown as Client),
    pool: () => ({ used: pool.totalCount - pool.idleCount, waiting: pool.waitingCount }),
    close: async () => {
      closing = true;
      await pipeline.close();
      await db.destroy();
    },
  };
}
