import { PostgresDriver, type DatabaseConnection, type PostgresDialectConfig } from 'kysely';
import type { Trx } from './database.ts';
import type { Wakeups } from './wakeups.ts';

type Work = (wakeups: Wakeups) => void;

/** What waits for the commit of the transaction that is open on a connection. */
const waiting = new WeakMap<DatabaseConnection, Work[]>();

/** Does something once the transaction has committed, and never if it is rolled back. It must not throw. */
export function afterCommit(trx: Trx, work: Work): Promise<void> {
  return trx.getExecutor().provideConnection(async (connection) => {
    const works = waiting.get(connection);
    if (works === undefined) waiting.set(connection, [work]);
    else works.push(work);
  });
}

/** Kysely's driver, with what {@link afterCommit} promises. */
export class CommitDriver extends PostgresDriver {
  readonly #wakeups: Wakeups;

  constructor(config: PostgresDialectConfig, wakeups: Wakeups) {
    super(config);
    this.#wakeups = wakeups;
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    const works = waiting.get(connection) ?? [];
    waiting.delete(connection);
    await super.commitTransaction(connection);
    for (const work of works) work(this.#wakeups);
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    waiting.delete(connection);
    await super.rollbackTransaction(connection);
  }
}
