import { sql } from 'kysely';
import { isNetwork, type Network } from '../../domain/networks.ts';
import type { Database } from '../database.ts';

/** The newest block of a network that was taken in. */
export interface NewestBlock {
  readonly network: Network;
  readonly height: number;
  readonly blockAt: number;
  /** It is known to be the newest block of the node too. */
  readonly isHead: boolean;
}

/** The time of the database in epoch milliseconds. */
export async function readDatabaseTime(db: Database): Promise<number> {
  const { rows } = await sql<{ now: number }>`select clock_timestamp() as now`.execute(db);
  return rows[0]?.now ?? NaN;
}

/** The newest blocks of all networks that this program knows. */
export async function readNewestBlocks(db: Database): Promise<readonly NewestBlock[]> {
  const rows = await db
    .selectFrom('chain_cursors')
    .select(['network', 'height', 'block_at as blockAt', sql<boolean>`at_head_at is not null`.as('isHead')])
    .execute();
  return rows.filter(({ network }) => isNetwork(network));
}
