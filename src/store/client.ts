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

/**
 * Begins a transaction that the server gives up, with all that it has locked, after so long without a word from this
 * process. For this transaction alone, and not as a parameter of the session, which poolers refuse.
 */
export function beginWithin(idleTimeoutMs: number): string {
  return `begin; set local idle_in_transaction_session_timeout = ${idleTimeoutMs}`;
}

/** What is overridden here: what pg sends first on a connection, which its types leave out, and its many-faced `query`. */
interface Overridden {
  getStartupConf(): Readonly<Record<string, string>>;
  query(text: unknown, values?: unknown, callback?: unknown): unknown;
}
const PgClient = Client as unknown as new (config?: ClientConfig) => Omit<Client, 'query'> & Overridden;

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

/** The database did not answer a statement in time. Whether it was carried out is unknown: it must not be tried again. */
export class NoAnswerError extends Error {
  /** The system's own code where a connection is given up: the same request may succeed on another one. */
  readonly code = 'ETIMEDOUT';

  constructor(timeoutMs: number) {
    super(`the database did not answer within ${timeoutMs / 1000} s`);
  }
}

/** The server takes no writes, for it became a replica or was one: the way to the database may lead to another by now. */
const READ_ONLY = '25006';

/** Of statements that were under way on a connection that had to be given up. */
class ReadOnlyError extends Error {
  readonly code = READ_ONLY;

  constructor() {
    super('the connection leads to a database that takes no writes');
  }
}

/** Settings of a {@link PreparingClient}, beside pg's own. */
export interface PreparingClientConfig extends ClientConfig {
  /** How long one statement may take, from when it is sent. */
  readonly answerTimeoutMs: number;
  /** How long a transaction may wait for its next statement. */
  readonly idleTransactionTimeoutMs: number;
}

/**
 * One that prepares every parameterised statement, for Kysely asks for no names, and that waits for no answer for ever: a
 * server that vanished without closing its connections would otherwise keep them for the quarter of an hour in which the
 * system repeats what it sent. A statement that is not answered in time ends the connection, and with it all that was
 * sent on it: pg's own `query_timeout` fails the statement and leaves a client of a pool as it is, busy for ever. One that
 * leads to a replica ends as well, when the transaction is over that found it out: a pool would keep it and fail every write.
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
    });
    this.connection.on('readyForQuery', ({ status }: { readonly status?: string }) => {
      // Later, so that the statement ends with the server's words.
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
