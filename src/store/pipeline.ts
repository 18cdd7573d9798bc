import type { CompiledQuery } from 'kysely';
import type { Client, QueryResult } from 'pg';
import type { Wakeup } from './wakeups.ts';

/** One statement with its parameters, ready to be sent. */
export type Statement = CompiledQuery;

/** Runs one statement: the pool, an open transaction or a pipeline. */
export interface StatementRunner {
  executeQuery(query: Statement): Promise<unknown>;
}

/** The result of a transaction, and the statements that save it. */
export interface Ending<Result> {
  readonly result: Result;
  /**
   * Sent in this order, together with the commit; if empty, there is nothing to save and the transaction is rolled
   * back.
   */
  readonly statements: readonly Statement[];
  /** The wake-ups that follow the commit, by the answers of these statements. */
  readonly wakeups?: (answers: readonly QueryResult[]) => readonly Wakeup[];
}

/**
 * Runs one transaction at a time and waits for the database only twice: for the rows that it reads, and for its end.
 */
export interface TransactionRunner {
  /**
   * A transaction that first reads and then saves. `decide` runs inside it and may only wait for the statements that it
   * runs there. If it throws, the transaction is rolled back and the error passed on. A DatabaseError means that
   * nothing was saved; after any other connection fault the outcome is unknown.
   */
  transaction<Result>(decide: (runner: StatementRunner) => Promise<Ending<Result>>): Promise<Result>;
}

/**
 * A connection of its own, opened when first used, on which statements and transactions run in order. `begin` is sent
 * with a transaction's first statement and `commit` with its last ones; a transaction that reads nothing and saves by
 * one statement is sent as that statement. The next one is sent right behind the last, before that is answered, so that
 * the server never waits for this process to read an answer. A statement that fails does not affect the others. If the
 * connection breaks, or a statement is not answered in time, everything running on it fails, whether it was executed or
 * not, and the next statement opens a new connection.
 */
export interface Pipeline extends StatementRunner, TransactionRunner {
  /** How long the oldest running statement has waited for its answer; null: none is running. */
  unansweredMs(): number | null;
  /** Resolves when nothing runs any more, and the wake-ups of what has committed were sent. */
  answered(): Promise<void>;
  /** Resolves when everything sent is answered. */
  close(): Promise<void>;
}

/** @param wake sends the wake-ups of transactions that have committed */
export function createPipeline(connect: () => Promise<Client>, wake: (wakeups: readonly Wakeup[]) => void): Pipeline {
  const connection = connectionOnDemand(connect);
  const unanswered = new Set<{ readonly sentAt: number }>();
  const running = new Set<Promise<void>>();
  // Resolves when the last one in the queue has sent its end.
  let lastSent: Promise<void> = Promise.resolve();

  const timed = async <Answer>(answer: Promise<Answer>): Promise<Answer> => {
    const statement = { sentAt: performance.now() };
    unanswered.add(statement);
    try {
      return await answer;
    } finally {
      unanswered.delete(statement);
    }
  };
  /** Sends a query on a connection; the caller need not wait for the answer. */
  const asker =
    (client: Client): Ask =>
    (text, values) => {
      const answer = timed(values === undefined ? client.query(text) : client.query(text, [...values]));
      answer.catch(() => {});
      return answer;
    };

  /** Statements sent after `onSent` was called come after this one. */
  const inTurn = async <Result>(run: (ask: Ask, onSent: () => void) => Promise<Result>): Promise<Result> => {
    const before = lastSent;
    const { promise: sent, resolve: onSent } = Promise.withResolvers<void>();
    const { promise: ended, resolve: onEnded } = Promise.withResolvers<void>();
    running.add(ended);
    lastSent = sent;
    await before;
    try {
      return await run(asker(await connection.open()), onSent);
    } finally {
      onSent();
      running.delete(ended);
      onEnded();
    }
  };

  return {
    executeQuery: ({ sql, parameters }) =>
      timed(
        inTurn((ask, onSent) => {
          const answer = ask(sql, parameters);
          onSent();
          return answer;
        }),
      ),
    transaction: (decide) => inTurn((ask, onSent) => runTransaction(ask, decide, onSent, wake)),
    unansweredMs: () => {
      const [oldest] = unanswered;
      return oldest === undefined ? null : performance.now() - oldest.sentAt;
    },
    answered: async () => {
      while (running.size > 0) await Promise.all(running);
    },
    close: async () => {
      await lastSent;
      await connection.close();
    },
  };
}

type Ask = (text: string, values?: readonly unknown[]) => Promise<QueryResult>;

async function runTransaction<Result>(
  ask: Ask,
  decide: (runner: StatementRunner) => Promise<Ending<Result>>,
  onSent: () => void,
  wake: (wakeups: readonly Wakeup[]) => void,
): Promise<Result> {
  let isBegun = false;
  const begin = (): void => {
    if (!isBegun) void ask('begin');
    isBegun = true;
  };
  const send = ({ sql, parameters }: Statement) => ask(sql, parameters);
  let ending: Ending<Result>;
  try {
    ending = await decide({
      executeQuery: (statement) => {
        begin();
        return send(statement);
      },
    });
  } catch (error) {
    if (isBegun) void ask('rollback');
    throw error;
  }
  const { result, statements, wakeups = () => [] } = ending;
  if (statements.length === 0) {
    if (isBegun) await ask('rollback');
    return result;
  }
  const [only] = statements;
  if (!isBegun && only !== undefined && statements.length === 1) {
    const answer = send(only);
    onSent();
    wake(wakeups([await answer]));
    return result;
  }
  begin();
  const sent = [...statements.map(send), ask('commit')];
  onSent();
  const answers = await Promise.all(sent);
  // PostgreSQL's answer to the commit of a transaction in which a statement failed.
  if (answers.at(-1)?.command !== 'COMMIT')
    throw new Error('The transaction was undone: a statement failed whose error was lost.');
  wake(wakeups(answers));
  return result;
}

/** A connection that is opened when it is first needed, and again after it broke. */
function connectionOnDemand(connect: () => Promise<Client>) {
  let opening: Promise<Client> | null = null;
  const open = (): Promise<Client> => {
    const opened = connect();
    // Only this client: a connection emits its end twice, the second time perhaps after the next one was opened.
    const forget = (): void => {
      if (opening === opened) opening = null;
    };
    opened.then((client) => client.once('error', forget).once('end', forget), forget);
    return opened;
  };
  return {
    open: (): Promise<Client> => (opening ??= open()),
    close: async (): Promise<void> => {
      const client = await opening?.catch(() => null);
      opening = null;
      await client?.end();
    },
  };
}
