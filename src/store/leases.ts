import { timestamp, type Database } from './database.ts';
import type { NewRow } from './tables.ts';

/** Takes or renews a lease; false while another holder has it. A holder that died loses it when it runs out. */
export async function holdLease(
  db: Database,
  name: string,
  holder: string,
  now: number,
  until: number,
): Promise<boolean> {
  const row = await db
    .insertInto('leases')
    .values({ name, holder, until: new Date(until) } satisfies NewRow<'leases'>)
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ holder, until: new Date(until) })
        .where((where) => where.or([where('leases.holder', '=', holder), where('leases.until', '<=', timestamp(now))])),
    )
    .returning('name')
    .executeTakeFirst();
  return row !== undefined;
}

/** Gives a lease back, so that another worker need not wait for it to run out. */
export async function releaseLease(db: Database, name: string, holder: string): Promise<void> {
  await db.deleteFrom('leases').where('name', '=', name).where('holder', '=', holder).execute();
}
