import { Socket } from 'node:net';

import { Client } from 'pg';

import { CLUSTER_USER } from './cluster.ts';
import { EmbeddedPostgresError, errorCode, OR_DATABASE_URL, reasonOf } from './error.ts';
import { PORT } from './server.ts';

/** The connection options of a database of the embedded server, in `pg`'s terms. */
export interface EmbeddedConnection {
  /** The folder of the Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  /** Explicit, because `pg` would otherwise obey PGSSLMODE, and Unix sockets have no TLS. */
  readonly ssl: false;
}

/** The connection to the database of the server whose socket is in this folder. */
export function connectionTo(socketDir: string): EmbeddedConnection {
  return { host: socketDir, port: PORT, user: CLUSTER_USER, database: 'cointill', ssl: false };
}

/** Marks the server as in use: a session that holds a shared advisory lock for as long as it lives. */
export interface UsageLock {
  readonly client: Client;
  /** The client's socket; unreferenced, so that the lock does not keep the event loop alive. */
  readonly socket: Socket;
  /** Resolves when the session has ended, for whatever reason. */
  readonly ended: Promise<void>;
}

export type LockAttempt =
  | { readonly kind: 'held'; readonly lock: UsageLock }
  /** The server is starting, recovering or shutting down: waiting makes sense. */
  | { readonly kind: 'busy'; readonly reason: string }
  /** The server's disk is so full that it accepts no session. */
  | { readonly kind: 'disk_full'; readonly error: unknown }
  /** Nothing answers, or nothing that suggests waiting. */
  | { readonly kind: 'silent'; readonly reason: string };

/**
 * "cointill" in ASCII. Every process that uses the server holds a shared advisory lock on this; the process that stops
 * the server needs it exclusively.
 */
const LOCK_KEY = '7165061455290133612';

/** Only a process about to stop the server makes us wait, and that closes our connection long before. */
const LOCK_TIMEOUT_MS = 3_000;

/** Stopping must not hang with a server that hangs (a frozen disk). */
const ANSWER_TIMEOUT_MS = 5_000;

/**
 * Connects and takes the lock, once. Creates the database if it is missing (the next attempt finds it). Throws
 * {@link EmbeddedPostgresError} if further attempts are pointless.
 */
export async function takeUsageLock(connection: EmbeddedConnection): Promise<LockAttempt> {
  const socket = new Socket();
  const client = new Client({
    ...connection,
    stream: () => socket,
    application_name: 'cointill presence',
    connectionTimeoutMillis: ANSWER_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    options: `-c lock_timeout=${LOCK_TIMEOUT_MS}`,
  });
  // The lock's holder learns of the end below; without a listener an error would end the process.
  client.on('error', () => undefined);
  const ended = new Promise<void>((resolve) => {
    client.once('end', resolve);
  });
  try {
    await client.connect();
    await client.query('select pg_advisory_lock_shared($1)', [LOCK_KEY]);
    socket.unref();
    return { kind: 'held', lock: { client, socket, ended } };
  } catch (error) {
    closeQuietly(client);
    if (errorCode(error) === '3D000') return createDatabase(connection);
    return explainRefusal(connection, error);
  }
}

async function createDatabase(connection: EmbeddedConnection): Promise<LockAttempt> {
  const client = new Client({ ...connection, database: 'postgres', connectionTimeoutMillis: ANSWER_TIMEOUT_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(`create database ${client.escapeIdentifier(connection.database)} template template0`);
  } catch (error) {
    const code = errorCode(error);
    // Another process is creating the database: it exists, or will soon.
    if (code !== '42P04' && code !== '23505') return explainRefusal(connection, error);
  } finally {
    closeQuietly(client);
  }
  return { kind: 'busy', reason: `database ${connection.database} is being created` };
}

function explainRefusal(connection: EmbeddedConnection, error: unknown): LockAttempt {
  const code = errorCode(error);
  const reason = reasonOf(error);
  if (code === '53100') return { kind: 'disk_full', error };
  if (code === '28000' || code === '28P01') {
    throw new EmbeddedPostgresError(
      `The database behind ${connection.host} does not admit user ${connection.user} (${reason}): Cointill did not create it. Choose another DATA_DIR, ${OR_DATABASE_URL}.`,
      { cause: error },
    );
  }
  if (code === 'EACCES' || code === 'EPERM') {
    throw new EmbeddedPostgresError(
      `This user may not use the database's socket in ${connection.host} (${code}). Run as the user who owns that folder or as root, ${OR_DATABASE_URL}.`,
      { cause: error },
    );
  }
  // SQLSTATE class 57: operator intervention (starting up, shutting down, restarting after a crash).
  return { kind: code?.startsWith('57') === true ? 'busy' : 'silent', reason };
}

/**
 * Releases the lock and finds out whether other processes hold it. `last`: none does and none can take it, because this
 * session now holds it exclusively until it ends. `others`: some do; the session is closed. Throws if the session is
 * broken.
 */
export async function releaseUsageLock({ client, socket }: UsageLock): Promise<'last' | 'others'> {
  socket.ref();
  await client.query('select pg_advisory_unlock_shared($1)', [LOCK_KEY]);
  const { rows } = await client.query<{ alone: boolean }>('select pg_try_advisory_lock($1) as alone', [LOCK_KEY]);
  if (rows[0]?.alone === true) return 'last';
  await client.end();
  return 'others';
}

/** Closes a client that may already be broken. */
export function closeQuietly(client: Client): void {
  client.end().catch(() => undefined);
}
