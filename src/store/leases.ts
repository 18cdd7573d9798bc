import { timestamp, type Database } from './database.ts';
import { deleteRows, toRow } from './rows.ts';

/** The longest lease: one that ends later was taken by a clock that was ahead, and does not count. */
const MAX_LEASE_MS = 15 * 60_000;

/** Takes or renews a lease; false while another holder has it. The lease of a holder that died expires. */
export async function holdLease(
  db: Database,
  name: string,
  holder: string,
  now: number,
  until: number,
): Promise<boolean> {
  const row = await db
    .insertInto('leases')
    .values(toRow('leases', { name, holder, until }))
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ holder, until: new Date(until) })
        .where((where) =>
          where.or([
            where('leases.holder', '=', holder),
            where('leases.until', '<=', timestamp(now)),
            where('leases.until', '>', timestamp(now + MAX_LEASE_MS)),
          ]),
        ),
    )
    .returning('name')
    .executeTakeFirst();
  return row !== undefined;
}

/** Releases a lease, so that another worker need not wait until it expires. */
export async function releaseLease(db: Database, name: string, holder: string): Promise<void> {
  await deleteRows(db, 'leases', { name, holder });
}
