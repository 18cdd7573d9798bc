import { Kysely, PostgresDialect, type PostgresPoolClient } from 'kysely';
import type { Client } from 'pg';
import type { Database } from '../../src/store/database.ts';
import type { StatementRunner, TransactionRunner } from '../../src/store/pipeline.ts';
import type { Tables } from '../../src/store/tables.ts';
import type { TestDatabase } from '../database.ts';
import type { AwaitPoints } from './await-points.ts';

/** A connection broke: whether the statement under way was carried out, nobody knows. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

/** Real connections, which outlive the lives of the process that take turns with them. */
export interface Connections {
  take(): Promise<Client>;
  release(client: Client): void;
  close(): Promise<void>;
}

/** Opens connections. A life needs two at most, and what happens in its midst two more. */
export async function openConnections(database: TestDatabase, count = 4): Promise<Connections> {
  const all = await Promise.all(Array.from({ length: count }, () => database.connect()));
  const free = [...all];
  const waiting: ((client: Client) => void)[] = [];
  return {
    take: () => {
      const client = free.pop();
      return client === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(client);
    },
    release: (client) => {
      const next = waiting.shift();
      if (next === undefined) free.push(client);
      else next(client);
    },
    close: async () => {
      await Promise.all(all.map((client) => client.end()));
    },
  };
}

const names = new Map<string, string>();

/** Prepared statements keep their names on every connection: planning costs more than running. */
function nameOf(text: string): string {
  const name = names.get(text) ?? `s${names.size}`;
  names.set(text, name);
  return name;
}

/**
 * The database as one life of the process sees it. `onWrite` is told of each statement that may have changed something.
 */
export function openLife(
  connections: Connections,
  points: AwaitPoints,
  onWrite: () => void,
): { readonly db: Database; /** Whether no transaction is open. */ readonly isFree: () => boolean } {
  let open = 0;
  const isFree = (): boolean => open === 0;
  // One statement at a time, first come, first served: what two connections do at once has the same order in every run.
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(perform: () => Promise<T>): Promise<T> => {
    const turn = last.then(perform, perform);
    last = turn.catch(() => {});
    return turn;
  };

  const connect = async (): Promise<PostgresPoolClient> => {
    const client = await connections.take();
    let isOpen = false;
    let isLost = false;
    const leave = (): void => {
      if (isOpen) open -= 1;
      isOpen = false;
    };
    const run = async (text: string, values: readonly unknown[]): Promise<unknown> => {
      const answer =
        values.length === 0
          ? await client.query(text)
          : await client.query({ name: nameOf(text), text, values: [...values] });
      if (text === 'begin') {
        isOpen = true;
        open += 1;
      }
      if (text === 'commit' || text === 'rollback') leave();
      if (!/^(begin|rollback|select)\b/.test(text)) onWrite();
      return answer;
    };
    const lose = (): Error => {
      isLost = true;
      return new ConnectionLost('Connection terminated unexpectedly');
    };
    const query = async (text: string, values: readonly unknown[] = []): Promise<unknown> => {
      if (isLost) throw new ConnectionLost('Client has encountered a connection error and is not queryable');
      return points.through(() => inTurn(() => run(text, values)), lose, isFree);
    };
    const release = (): void => {
      // The server rolls back when a connection breaks within a transaction.
      if (isOpen) {
        leave();
        void inTurn(() => client.query('rollback')).then(() => connections.release(client));
      } else connections.release(client);
    };
    // Kysely's driver calls query(text, values) only, one of two overloads.
    return { query, release } as unknown as PostgresPoolClient;
  };
  const dialect = new PostgresDialect({ pool: { connect, end: () => Promise.resolve() } });
  return { db: new Kysely<Tables>({ dialect }), isFree };
}

/**
 * Runs the creation of payments: the same statements as on a pipeline, one transaction at a time, but each is waited
 * for, so that more can happen between.
 */
export function runnerOn(db: Database): StatementRunner & TransactionRunner {
  let last: Promise<unknown> = Promise.resolve();
  return {
    executeQuery: (query) => db.executeQuery(query),
    transaction: (decide) => {
      const perform = () =>
        db.transaction().execute(async (trx) => {
          const { result, statements } = await decide(trx);
          for (const statement of statements) await trx.executeQuery(statement);
          return result;
        });
      const turn = last.then(perform, perform);
      last = turn.catch(() => {});
      return turn;
    },
  };
}
