import { PostgresDriver, type DatabaseConnection, type PostgresDialectConfig, type Transaction } from 'kysely';
import type { Tables } from './tables.ts';
import type { Wakeup, Wakeups } from './wakeups.ts';

/** The wake-ups that wait for the commit of the transaction that is open on a connection. */
const waiting = new WeakMap<DatabaseConnection, Wakeup[]>();

/** Wakes every process once the transaction has committed, and nobody if it is rolled back. */
export function wake(trx: Transaction<Tables>, ...wakeups: readonly Wakeup[]): Promise<void> {
  return trx.getExecutor().provideConnection(async (connection) => {
    const others = waiting.get(connection);
    if (others === undefined) waiting.set(connection, [...wakeups]);
    else others.push(...wakeups);
  });
}

/** Kysely's driver, which sends the wake-ups of {@link wake}. */
export class WakingDriver extends PostgresDriver {
  readonly #wakeups: Wakeups;

  constructor(config: PostgresDialectConfig, wakeups: Wakeups) {
    super(config);
    this.#wakeups = wakeups;
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    const ready = waiting.get(connection) ?? [];
    waiting.delete(connection);
    await super.commitTransaction(connection);
    this.#wakeups.send(...ready);
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    waiting.delete(connection);
    await super.rollbackTransaction(connection);
  }
}
