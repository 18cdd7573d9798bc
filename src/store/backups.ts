import { timestamp, type Database } from './database.ts';

/** A backup that was made or tried. */
export interface BackupRecord {
  readonly startedAt: number;
  readonly finishedAt: number;
  /** Null where it failed, or went into a stream. */
  readonly file: string | null;
  readonly bytes: number | null;
  /** Why it failed; null: it is good. */
  readonly problem: string | null;
}

const KEPT_MS = 90 * 86_400_000;

/** Keeps a backup on record, and forgets those of a quarter of a year ago. */
export async function saveBackup(db: Database, backup: BackupRecord): Promise<void> {
  await db
    .insertInto('backups')
    .values({
      started_at: new Date(backup.startedAt),
      finished_at: new Date(backup.finishedAt),
      file: backup.file,
      bytes: backup.bytes === null ? null : String(backup.bytes),
      problem: backup.problem,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await db
    .deleteFrom('backups')
    .where('started_at', '<', timestamp(backup.startedAt - KEPT_MS))
    .execute();
}

/** The last good backup, and whether the last one that was tried failed; null: none was ever tried. */
export interface BackupState {
  readonly lastGood: { readonly startedAt: number; readonly bytes: number | null } | null;
  readonly lastFailed: boolean;
}

export async function backupState(db: Database): Promise<BackupState | null> {
  const newest = (good: boolean) => {
    const query = db.selectFrom('backups').select(['started_at', 'bytes', 'problem']).orderBy('started_at', 'desc');
    return (good ? query.where('problem', 'is', null) : query).limit(1).executeTakeFirst();
  };
  const last = await newest(false);
  if (last === undefined) return null;
  const good = last.problem === null ? last : await newest(true);
  return {
    lastGood:
      good === undefined
        ? null
        : { startedAt: good.started_at, bytes: good.bytes === null ? null : Number(good.bytes) },
    lastFailed: last.problem !== null,
  };
}
