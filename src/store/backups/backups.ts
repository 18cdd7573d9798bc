import { sql } from 'kysely';
import type { Database } from '../database.ts';
import { below, deleteRows, insertRows, type Stored } from '../rows.ts';

/** A backup that was made or attempted. */
export interface BackupRecord extends Omit<Stored<'backups'>, 'bytes'> {
  readonly bytes: number | null;
}

const KEPT_MS = 90 * 86_400_000;

/** Saves the record of a backup and deletes records older than three months. */
export async function saveBackup(db: Database, backup: BackupRecord): Promise<void> {
  const bytes = backup.bytes === null ? null : BigInt(backup.bytes);
  await insertRows(db, 'backups', [{ ...backup, bytes }], { conflict: {} });
  await deleteRows(db, 'backups', { startedAt: below(backup.startedAt - KEPT_MS) });
}

/** The state of backups; null if none was ever attempted. */
export interface BackupState {
  /**
   * The last good backup. While scheduled backups fail: the last good one in their folder, because one elsewhere proves
   * nothing about them.
   */
  readonly lastGood: { readonly startedAt: number; readonly bytes: number | null } | null;
  /** Whether the last scheduled backup failed and none in its folder was good since. */
  readonly lastFailed: boolean;
}

/** A manual backup elsewhere does not hide the state of the scheduled ones. */
export async function backupState(db: Database): Promise<BackupState | null> {
  const failed = await newestOf(db).where('problem', 'is not', null).executeTakeFirst();
  // Records of older versions name no folder: then any good backup counts.
  const goodThere = await lastGood(db, failed?.file ?? null);
  if (failed === undefined && goodThere === null) return null;
  const lastFailed = failed !== undefined && (goodThere === null || goodThere.startedAt < failed.started_at);
  return { lastGood: lastFailed ? goodThere : await lastGood(db, null), lastFailed };
}

/** The last good backup in a folder; null: in any folder. */
export async function lastGood(db: Database, folder: string | null): Promise<BackupState['lastGood']> {
  const good = newestOf(db).where('problem', 'is', null);
  const prefix = folder === null ? null : `${folder}/`;
  const query = prefix === null ? good : good.where(sql<boolean>`starts_with(file, ${prefix})`);
  const row = await query.executeTakeFirst();
  return row === undefined ? null : { startedAt: row.started_at, bytes: row.bytes === null ? null : Number(row.bytes) };
}

function newestOf(db: Database) {
  return db.selectFrom('backups').select(['started_at', 'bytes', 'file']).orderBy('started_at', 'desc').limit(1);
}
