import { callbackify } from 'node:util';
import { Kysely, PostgresDialect, sql, type RawBuilder, type SelectQueryBuilder, type Transaction } from 'kysely';
import { Pool, types as builtin, type Client, type CustomTypesConfig } from 'pg';
import { PreparingClient, SessionClient } from './client.ts';
import { createPipeline, type Pipeline } from './pipeline.ts';
import { createSchemaCheck, type SchemaCheck } from './own-schema.ts';
import type { Tables } from './tables.ts';
import { WakingDriver } from './wake.ts';
import { createWakeups, type Wakeups } from './wakeups.ts';

export type Database = Kysely<Tables>;
/** An open transaction: the first argument of every function that writes. */
export type Trx = Transaction<Tables>;

/** The address of the database: a URL, or the parts of a connection to a Unix socket. */
export type Connection =
  | { readonly connectionString: string }
  | { readonly host: string; readonly port: number; readonly user: string; readonly database: string };

const TIMESTAMPTZ = 1184;
const INT8 = 20;
const NUMERIC = 1700;
const DATE = 1082;

/**
 * Parsers by type: every numeric column is `numeric(78, 0)`, so integers of both types become bigint; times become
 * epoch milliseconds; days stay text.
 */
const PARSERS: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [TIMESTAMPTZ, parseTimestamp],
  [INT8, BigInt],
  [NUMERIC, BigInt],
  [DATE, (text: string) => text],
]);

/** `2026-11-21 01:20:59.123+00`: sessions run in UTC, and we write at most milliseconds. */
function parseTimestamp(text: string): number {
  // A pooler with its own sessions may have kept another time zone.
  if (!text.endsWith('+00')) return parseShifted(text);
  const digits = (from: number, to: number): number => Number(text.slice(from, to));
  const fraction = text.charCodeAt(19) === 46 ? Number(text.slice(19, -3)) : 0;
  const whole = Date.UTC(digits(0, 4), digits(5, 7) - 1, digits(8, 10), digits(11, 13), digits(14, 16), digits(17, 19));
  return whole + Math.round(fraction * 1000);
}

/** `2026-11-21 06:50:59.123+05:30`: the offset has minutes and seconds only if they are not zero. */
function parseShifted(text: string): number {
  const [offset, sign, hours = '', minutes = '0', seconds = '0'] =
    /([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?$/.exec(text) ?? [];
  if (offset === undefined) throw new Error(`The database returned an unreadable time: ${text}`);
  const shiftSeconds = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
  const local = parseTimestamp(`${text.slice(0, -offset.length)}+00`);
  return local + (sign === '-' ? shiftSeconds : -shiftSeconds) * 1000;
}

const types: CustomTypesConfig = {
  getTypeParser: (id, format) =>
    (format === 'binary' ? undefined : PARSERS.get(id)) ?? builtin.getTypeParser(id, format),
};

/** A time in epoch milliseconds, in the form that PostgreSQL compares. */
export function timestamp(at: number): RawBuilder<number> {
  return sql<number>`${new Date(at)}::timestamptz`;
}

/** Runs a statement; returns how many rows it inserted, changed or deleted. */
export async function affectedRows(executor: Database | Trx, statement: RawBuilder<unknown>): Promise<number> {
  const { numAffectedRows } = await statement.execute(executor);
  return Number(numAffectedRows ?? 0n);
}

/** Locks the first `limit` rows of a query that no other transaction has locked. */
export function lockUntaken<Tables, From extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, From, Row>,
  limit: number,
): Promise<Row[]> {
  return query.limit(limit).forUpdate().skipLocked().execute();
}

/** A pool of connections with Kysely on top. */
export interface DatabaseHandle {
  readonly db: Database;
  /** A separate connection for standalone statements that must not wait for the answer to the one before. */
  readonly pipeline: Pipeline;
  readonly wakeups: Wakeups;
  /** Bypasses any pooler: for LISTEN, for locks that live as long as their connection, and for long statements. */
  connect(): Promise<Client>;
  /** The schema that holds the installation; null before the first connection. */
  schema(): string | null;
  /** Connects to a standby, for long reads alone; null: there is none. */
  readonly connectStandby: (() => Promise<Client>) | null;
  /** Pool connections in use, and statements and transactions waiting for one. */
  pool(): { readonly used: number; readonly waiting: number };
  /**
   * Whether the server has lacked resources for a statement since {@link hasMeans} was last called: writes may be
   * refused.
   */
  isExhausted(): boolean;
  hasMeans(): void;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly maxConnections: number;
  /** The connection for {@link DatabaseHandle.connect}, if the usual one goes through a pooler. */
  readonly direct?: Connection | undefined;
  /** The connection for {@link DatabaseHandle.connectStandby}. */
  readonly standby?: Connection | undefined;
  /** Called when an idle connection breaks; the pool replaces it. */
  readonly onError: (error: Error) => void;
  /** The name of the process in `pg_stat_activity`; `cointill` by default. */
  readonly applicationName?: string;
  /** How long a statement of the pool or the pipeline may take before its connection is closed. */
  readonly answerTimeoutMs?: number;
}

/** Large work is done in batches that take a small part of this, including waits for each other's row locks. */
const ANSWER_TIMEOUT_MS = 30_000;
/** A process that hangs or vanished holds its locks no longer than this: between two statements we wait for nothing. */
const IDLE_TRANSACTION_TIMEOUT_MS = 5_000;
/**
 * Idle connections are probed after this: ten probes a second apart, and a connection whose other end is gone is
 * closed.
 */
const KEEP_ALIVE_AFTER_MS = 10_000;

/**
 * This version of pg treats these modes like `verify-full`, and prints a long plain-text warning on standard error, in
 * the middle of the JSON log. Replacing them by `verify-full` has the same effect without the text.
 */
function plainSslMode(url: string): string {
  if (/[?&]uselibpqcompat=/.test(url)) return url;
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=[&#]|$)/, '$1verify-full');
}

/** The settings of every connection. */
function clientConfig(connection: Connection, applicationName: string) {
  return {
    ...('connectionString' in connection
      ? { connectionString: plainSslMode(connection.connectionString) }
      : connection),
    types,
    application_name: applicationName,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
  };
}

/** Opens a pool. A broken connection or a restarted server is reported to `onError` and never ends the process. */
export function openDatabase(connection: Connection, options: DatabaseOptions): DatabaseHandle {
  const { answerTimeoutMs = ANSWER_TIMEOUT_MS, applicationName = 'cointill' } = options;
  // The server ends a hanging transaction before others give up waiting for its locks.
  const idleTransactionTimeoutMs = Math.min(IDLE_TRANSACTION_TIMEOUT_MS, answerTimeoutMs / 2);
  let isExhausted = false;
  const onExhausted = (): void => void (isExhausted = true);
  const settings = clientConfig(connection, applicationName);
  const answering = { ...settings, answerTimeoutMs, idleTransactionTimeoutMs, onExhausted };
  const schema = createSchemaCheck();
  const directSchema = options.direct === undefined ? schema : createSchemaCheck();
  const standbySchema = createSchemaCheck();
  const pool = new Pool({
    ...answering,
    Client: PreparingClient as unknown as typeof Client,
    max: options.maxConnections,
    idleTimeoutMillis: 60_000,
    verify: callbackify(schema.check),
  });
  let closing = false;
  const onError = (error: Error): void => {
    // pg attaches the whole client to the error, with every statement it knows, which would fill the log.
    Reflect.deleteProperty(error, 'client');
    // A connection that is being closed may first receive the server's own shutdown.
    if (!closing) options.onError(error);
  };
  pool.on('error', onError);
  // The pool only listens to idle clients; a client that breaks between the queries of a transaction would end the
  // process.
  pool.on('connect', (client) => void client.on('error', () => {}));
  const opened = async (client: Client, { check }: SchemaCheck): Promise<Client> => {
    client.on('error', onError);
    await client.connect();
    await check(client).catch(async (error: unknown) => {
      await client.end().catch(() => {});
      throw error;
    });
    return client;
  };
  const session = (to: Connection, check: SchemaCheck): Promise<Client> =>
    opened(new SessionClient(clientConfig(to, applicationName)) as unknown as Client, check);
  const { standby } = options;
  const pipeline = createPipeline(
    () => opened(new PreparingClient({ ...answering, pipeline: true }) as unknown as Client, schema),
    (sent) => wakeups.send(...sent),
  );
  const wakeups = createWakeups(pipeline);
  const dialect = new PostgresDialect({ pool });
  dialect.createDriver = () => new WakingDriver({ pool }, wakeups);
  const db = new Kysely<Tables>({ dialect });
  return {
    db,
    pipeline,
    wakeups,
    connect: () => session(options.direct ?? connection, directSchema),
    connectStandby: standby === undefined ? null : () => session(standby, standbySchema),
    schema: schema.name,
    pool: () => ({ used: pool.totalCount - pool.idleCount, waiting: pool.waitingCount }),
    isExhausted: () => isExhausted,
    hasMeans: () => void (isExhausted = false),
    close: async () => {
      closing = true;
      // A transaction under way may still commit, and wakes the others then.
      await db.destroy();
      await pipeline.answered();
      await wakeups.flush();
      await pipeline.close();
    },
  };
}
