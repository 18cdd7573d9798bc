import { sql } from 'kysely';
import type { PaymentStatus } from '../../domain/status.ts';
import type { Mode } from '../../domain/permission.ts';
import { backupState, type BackupState } from '../backups/backups.ts';
import { timestamp, type Database } from '../database.ts';
import { MARKS } from '../long-reads.ts';
import { lostTransfers, transfersAhead } from '../chains/lost-transfers.ts';
import { haltedWallets } from '../wallets/unissued.ts';

/**
 * Figures from the whole database about the service's work, for metrics; the same in every process. Ages in
 * milliseconds.
 */
export interface Figures {
  /** Deliveries that wait for their next attempt, counted up to {@link MAX_COUNTED}. */
  readonly deliveriesWaiting: number;
  /** Age of the oldest of those; 0 if there is none. */
  readonly deliveriesOldestMs: number;
  /** How long the most overdue delivery has been due; 0 if none is. */
  readonly deliveriesLagMs: number;
  /** How long the most overdue payment has been due; 0 if none is. */
  readonly paymentsLagMs: number;
  /** Payments created in the last {@link COUNTED_DAYS} days. */
  readonly payments: readonly { readonly mode: Mode; readonly status: PaymentStatus; readonly count: number }[];
  readonly leases: readonly { readonly name: string; readonly isHeld: boolean }[];
  /** The last good backup, and whether the last attempt failed; null: none was ever attempted. */
  readonly backups: BackupState | null;
  /** Transfers to addresses from hours that a restore lost, not booked as payments yet. */
  readonly lostTransfers: number;
  /** Wallets that hand out no addresses until the operator has dealt with a problem. */
  readonly haltedWallets: number;
  /** Wallets that received money on addresses not handed out yet, as found in the last week. */
  readonly walletsAhead: number;
  /** Whether a standby confirms our commits before they are acknowledged. */
  readonly isSynchronous: boolean;
}

export const MAX_COUNTED = 100_000;
export const COUNTED_DAYS = 30;
const AHEAD_DAYS = 7;

/**
 * Reads the figures one after the other on one connection: each is answered from an index, whatever the size of the
 * tables.
 */
export async function readFigures(db: Database, clock: () => number): Promise<Figures> {
  return db.connection().execute(async (one) => {
    const now = clock();
    const sinceMs = (at: number | null): number => (at === null ? 0 : Math.max(0, now - at));
    const deliveries = await readDeliveries(one);
    return {
      deliveriesWaiting: deliveries.waiting,
      deliveriesOldestMs: sinceMs(deliveries.oldest),
      deliveriesLagMs: sinceMs(deliveries.due),
      paymentsLagMs: sinceMs(await readFirstDue(one)),
      payments: await readPayments(one, now),
      leases: await readLeases(one, now),
      backups: await backupState(one),
      lostTransfers: (await lostTransfers(one)).length,
      haltedWallets: (await haltedWallets(one)).length,
      walletsAhead: (await transfersAhead(one, now - AHEAD_DAYS * DAY_MS)).length,
      isSynchronous: await readSynchronous(one),
    };
  });
}

/**
 * Without the names of standbys, or with a session that waits for none, PostgreSQL asks nobody. A role without
 * `pg_read_all_stats` sees that there are standbys, but not which of them confirm; then each of them counts.
 */
async function readSynchronous(db: Database): Promise<boolean> {
  const { rows } = await sql<{ synchronous: boolean }>`
    select current_setting('synchronous_standby_names') <> ''
      and current_setting('synchronous_commit') not in ('off', 'local')
      and exists (select from pg_stat_replication where coalesce(sync_state, 'sync') in ('sync', 'quorum')) as synchronous
  `.execute(db);
  return rows[0]?.synchronous === true;
}

async function readDeliveries(db: Database) {
  const { rows } = await sql<{ waiting: number; oldest: number | null; due: number | null }>`
    select count(*)::integer as waiting, min(created_at) as oldest, min(next_attempt_at) as due
    from (select created_at, next_attempt_at from deliveries where next_attempt_at is not null limit ${MAX_COUNTED}) d
  `.execute(db);
  return rows[0] ?? { waiting: 0, oldest: null, due: null };
}

async function readFirstDue(db: Database): Promise<number | null> {
  const row = await db
    .selectFrom('payments')
    .select('due_at')
    .where('due_at', 'is not', null)
    .orderBy('due_at')
    .limit(1)
    .executeTakeFirst();
  return row?.due_at ?? null;
}

const DAY_MS = 86_400_000;

/**
 * The counters of the last days, using the index on the day, so that a table of many projects and years is not scanned.
 */
async function readPayments(db: Database, now: number): Promise<Figures['payments']> {
  const since = new Date(now - COUNTED_DAYS * DAY_MS).toISOString().slice(0, 10);
  const { rows } = await sql<Figures['payments'][number]>`
    select mode, status, sum(payments)::integer as count from payment_day_counts where day >= ${since}::date group by mode, status
  `.execute(db);
  return rows;
}

async function readLeases(db: Database, now: number): Promise<Figures['leases']> {
  const { rows } = await sql<{ name: string; isHeld: boolean }>`
    select name, until > ${timestamp(now)} as "isHeld" from leases where not starts_with(name, ${MARKS})
  `.execute(db);
  return rows;
}
