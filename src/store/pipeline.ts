import type { CompiledQuery } from 'kysely';
import type { Client } from 'pg';

/** What runs one statement: the pool, an open transaction or a pipeline. */
export interface StatementRunner {
  executeQuery(query: CompiledQuery): Promise<unknown>;
}

/**
 * One connection on which a statement is sent before the one ahead of it is answered: the server runs them in turn, each
 * in a transaction of its own, and never waits for this process to read an answer. One that fails leaves the others as
 * they are; when the connection breaks, or one is not answered in time, all that are under way fail, and the next
 * statement opens a new one. Whether those were carried out is unknown then.
 */
export interface Pipeline extends StatementRunner {
  /** How long the oldest statement under way has waited for its answer; null: none is under way. */
  unansweredMs(): number | null;
  /** Resolves when what was sent is answered. */
  close(): Promise<void>;
}

export function createPipeline(connect: () => Promise<Client>): Pipeline {
  let opening: Promise<Client> | null = null;
  const unanswered = new Set<{ readonly sentAt: number }>();
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
    executeQuery: async ({ sql, parameters }) => {
      const statement = { sentAt: performance.now() };
      unanswered.add(statement);
      try {
        const client = await (opening ??= open());
        return await client.query(sql, [...parameters]);
      } finally {
        unanswered.delete(statement);
      }
    },
    unansweredMs: () => {
      const [oldest] = unanswered;
      return oldest === undefined ? null : performance.now() - oldest.sentAt;
    },
    close: async () => {
      const client = await opening?.catch(() => null);
      opening = null;
      await client?.end();
    },
  };
}
