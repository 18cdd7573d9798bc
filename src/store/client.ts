import { createHash } from 'node:crypto';
import { Client, type ClientConfig } from 'pg';

/** How many statements a connection keeps prepared. The program itself has far fewer. */
const MAX_PREPARED = 400;
const statementNames = new Map<string, string>();

/** The name under which a statement is prepared: planning a creation takes longer than running it. */
function statementName(text: string): string | undefined {
  const known = statementNames.get(text);
  if (known !== undefined) return known;
  if (statementNames.size >= MAX_PREPARED) return undefined;
  const name = createHash('sha256').update(text).digest('base64url').slice(0, 24);
  statementNames.set(text, name);
  return name;
}

const TRANSACTION_WORDS = new Set(['begin', 'commit', 'rollback']);

/**
 * Begins a transaction that the server ends, releasing its locks, if this process sends nothing for this long. Set for
 * this transaction only and not as a session parameter, which poolers refuse.
 */
export function beginWithin(idleTimeoutMs: number): string {
  return `begin; set local idle_in_transaction_session_timeout = ${idleTimeoutMs}`;
}

/**
 * The overridden members: pg's first message on a connection, which its types leave out, and its overloaded `query`.
 */
interface Overridden {
  getStartupConf(): Readonly<Record<string, string>>;
  query(text: unknown, values?: unknown, callback?: unknown): unknown;
}
const PgClient = Client as unknown as new (config?: ClientConfig) => Omit<Client, 'query'> & Overridden;

/**
 * A pg client whose session always has our time zone and date style, whatever the server, the database, the role or the
 * URL's `options` say. Both are startup parameters, which PostgreSQL applies last and which poolers track per session,
 * while they refuse or drop `options`.
 */
export class SessionClient extends PgClient {
  override getStartupConf(): Readonly<Record<string, string>> {
    return { ...super.getStartupConf(), TimeZone: 'UTC', DateStyle: 'ISO' };
  }
}

/** The database did not answer a statement in time. It may have been executed, so it must not be tried again. */
export class NoAnswerError extends Error {
  /** The operating system's code for a connection that timed out: the same request may succeed on another one. */
  readonly code = 'ETIMEDOUT';

  constructor(timeoutMs: number) {
    super(`the database did not answer within ${timeoutMs / 1000} s`);
  }
}

/**
 * The server accepts no writes because it is or became a replica: the same address may lead to another server by now.
 */
const READ_ONLY = '25006';

/** PostgreSQL's classes `insufficient resources` and `system error`: a full disk is 53100, a broken one 58030. */
export const EXHAUSTED = /^5[38]/;

/** The error of statements that were running on a connection that had to be closed. */
class ReadOnlyError extends Error {
  readonly code = READ_ONLY;

  constructor() {
    super('the connection leads to a database that accepts no writes');
  }
}

/** Settings of a {@link PreparingClient}, in addition to pg's own. */
export interface PreparingClientConfig extends ClientConfig {
  /** How long a statement may take after it was sent. */
  readonly answerTimeoutMs: number;
  /** How long a transaction may wait for its next statement. */
  readonly idleTransactionTimeoutMs: number;
  /**
   * Called for a statement that the server lacked the resources to run: disk, memory, or an answer of its file system.
   */
  readonly onExhausted?: () => void;
}

/**
 * A client that prepares every parameterised statement, because Kysely does not ask for names, and that never waits for
 * an answer forever: a server that vanished without closing its connections would otherwise block them for the quarter
 * of an hour in which the operating system retransmits. A statement that is not answered in time closes the connection
 * and fails everything sent on it; pg's own `query_timeout` only fails the statement and leaves a pool's client busy
 * forever. A connection to a replica is closed too, once the transaction that detected the replica is over: a pool
 * would keep it and fail every write.
 */
export class PreparingClient extends SessionClient {
  readonly #answerTimeoutMs: number;
  readonly #begin: string;

  constructor(config: PreparingClientConfig) {
    super(config);
    this.#answerTimeoutMs = config.answerTimeoutMs;
    this.#begin = beginWithin(config.idleTransactionTimeoutMs);
    let isReadOnly = false;
    this.connection.on('errorMessage', ({ code }: { readonly code?: string }) => {
      if (code === READ_ONLY) isReadOnly = true;
      if (EXHAUSTED.test(code ?? '')) config.onExhausted?.();
    });
    this.connection.on('readyForQuery', ({ status }: { readonly status?: string }) => {
      // Closed later, so that the statement fails with the server's own error.
      if (isReadOnly && status === 'I') setImmediate(() => this.connection.stream.destroy(new ReadOnlyError()));
    });
  }

  /** Kysely's driver calls `query(text, values)` only. */
  override query(text: unknown, values?: unknown, callback?: unknown): unknown {
    const name =
      typeof text === 'string' && Array.isArray(values) && !TRANSACTION_WORDS.has(text)
        ? statementName(text)
        : undefined;
    const sent = text === 'begin' ? this.#begin : text;
    const answer =
      name === undefined ? super.query(sent, values, callback) : super.query({ name, text, values }, callback);
    if (answer instanceof Promise) this.#limit(answer);
    return answer;
  }

  #limit(answer: Promise<unknown>): void {
    const timer = setTimeout(
      () => this.connection.stream.destroy(new NoAnswerError(this.#answerTimeoutMs)),
      this.#answerTimeoutMs,
    );
    const stop = (): void => clearTimeout(timer);
    answer.then(stop, stop);
  }
}
