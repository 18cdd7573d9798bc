import type { CompiledQuery } from 'kysely';
import type { Client, QueryResult } from 'pg';

/** One statement with its parameters, ready to be sent. */
export type Statement = CompiledQuery;

/** What runs one statement: the pool, an open transaction or a pipeline. */
export interface StatementRunner {
  executeQuery(query: Statement): Promise<unknown>;
}

/** What a transaction comes to, and the statements that save it. */
export interface Ending<Result> {
  readonly result: Result;
  /** Sent in this order, together with the commit; none: nothing was to be saved, and the transaction is undone. */
  readonly statements: readonly Statement[];
}

/** What runs one transaction at a time and waits for the database but twice: for what it asks, and for its end. */
export interface TransactionRunner {
  /**
   * A transaction that asks first and then saves. `decide` runs in the transaction: it may wait for the statements that it
   * runs there, and for nothing else. What it throws undoes the transaction and is thrown on. A DatabaseError says that
   * nothing was saved; after any other fault of the connection that is unknown.
   */
  transaction<Result>(decide: (runner: StatementRunner) => Promise<Ending<Result>>): Promise<Result>;
}

/**
 * Two connections of its own, opened when first used. On the one a statement is sent before the one ahead of it is answered: the
 * server runs them in turn, each in a transaction of its own, and never waits for this process to read an answer. On the
 * other transactions run in turn: `begin` goes with the first statement and `commit` with the last ones, and the next
 * transaction is sent behind that commit at once. A statement that fails leaves the others as they are; when the
 * connection breaks, or one is not answered in time, all that are under way on it fail, and the next one opens a new one.
 * Whether those were carried out is unknown then.
 */
export interface Pipeline extends StatementRunner, TransactionRunner {
  /** How long the oldest statement under way has waited for its answer; null: none is under way. */
  unansweredMs(): number | null;
  /** Resolves when what was sent is answered. */
  close(): Promise<void>;
}

export function createPipeline(connect: () => Promise<Client>): Pipeline {
  const alone = connectionOnDemand(connect);
  const transactions = connectionOnDemand(connect);
  const unanswered = new Set<{ readonly sentAt: number }>();
  // Resolves when the last transaction in the queue has sent its end.
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
  /** What asks on a connection; nobody need wait for the answer. */
  const asker =
    (client: Client): Ask =>
    (text, values) => {
      const answer = timed(values === undefined ? client.query(text) : client.query(text, [...values]));
      answer.catch(() => {});
      return answer;
    };

  return {
    executeQuery: ({ sql, parameters }) => timed(alone.open().then((client) => client.query(sql, [...parameters]))),
    transaction: async (decide) => {
      const before = lastSent;
      const { promise: sent, resolve: giveTurn } = Promise.withResolvers<void>();
      lastSent = sent;
      await before;
      try {
        return await runTransaction(asker(await transactions.open()), decide, giveTurn);
      } finally {
        giveTurn();
      }
    },
    unansweredMs: () => {
      const [oldest] = unanswered;
      return oldest === undefined ? null : performance.now() - oldest.sentAt;
    },
    close: async () => {
      await lastSent;
      await Promise.all([alone.close(), transactions.close()]);
    },
  };
}

type Ask = (text: string, values?: readonly unknown[]) => Promise<QueryResult>;

/** Calls `onSent` when the end of the transaction is on its way: what is sent from then on comes after it. */
async function runTransaction<Result>(
  ask: Ask,
  decide: (runner: StatementRunner) => Promise<Ending<Result>>,
  onSent: () => void,
): Promise<Result> {
  const send = ({ sql, parameters }: Statement) => ask(sql, parameters);
  void ask('begin');
  let ending: Ending<Result>;
  try {
    ending = await decide({ executeQuery: send });
  } catch (error) {
    void ask('rollback');
    throw error;
  }
  const { result, statements } = ending;
  if (statements.length === 0) {
    await ask('rollback');
    return result;
  }
  const answers = [...statements.map(send), ask('commit')];
  onSent();
  const ended = (await Promise.all(answers)).at(-1);
  // What PostgreSQL answers to the commit of a transaction in which a statement failed.
  if (ended?.command !== 'COMMIT')
    throw new Error('The transaction was undone: a statement failed whose error was lost.');
  return result;
}

/** A connection that is opened when it is first needed, and again when it broke. */
function connectionOnDemand(connect: () => Promise<Client>) {
  let opening: Promise<Client> | null = null;
  const open = (): Promise<Client> => {
    const opened = connect();
    // Only itself: a connection tells of its end twice, the second time when the next one may be open already.
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
