import type { App } from '../app/context.ts';
import type { BackupSchedule } from '../config/config.ts';
import { lastAt } from '../domain/backup-time.ts';
import type { Troubles } from '../domain/trouble.ts';
import { lastGood, saveBackup } from '../store/backups/backups.ts';
import { holdLease, releaseLease } from '../store/leases.ts';
import { startLoop } from '../workers/loop.ts';
import { folderProblem } from './backup-file.ts';
import { backupInOwnProcess, type BackupOutcome, type BackupRun } from './own-process.ts';

/** One process at a time makes backups; the lease of one that died expires after this. */
const LEASE = 'backup';
const LEASE_MS = 60_000;
const SUBJECT = 'scheduled backup';
const RENEW_MS = 15_000;
const POLL_MS = 20_000;
/** A backup that failed is tried again after this: what is wrong, such as a full disk, needs a person. */
const RETRY_MS = 15 * 60_000;

export interface ScheduledBackups {
  /** Makes the backup that is due now, if any, and if no other process makes it. */
  runDue(): Promise<void>;
  /** What is currently wrong with them, with the way out; null: nothing is known to be. */
  problem(): string | null;
  stop(): Promise<void>;
}

/** Receives the outcomes. */
export interface BackupReports {
  onGood(details: object): void;
  readonly troubles: Troubles;
}

/**
 * Makes a backup at the same time each day. One that was missed because nothing was running is made at once. Manual
 * backups elsewhere do not count, and a failed backup is tried again until it works. `run` saves the record of a good
 * backup itself; the record of a failed one is saved here.
 */
export function scheduledBackups(
  app: Pick<App, 'db' | 'clock'>,
  { at, folder }: Pick<BackupSchedule, 'at' | 'folder'>,
  holder: string,
  run: BackupRun,
  reports: BackupReports,
): ScheduledBackups {
  const stopping = new AbortController();
  let notBefore = 0;
  let failure: string | null = null;
  let ofFolder: string | null = null;

  const isDue = async (): Promise<boolean> => {
    const now = app.clock();
    if (now < notBefore) return false;
    return failure !== null || ((await lastGood(app.db, folder))?.startedAt ?? 0) < lastAt(at, now);
  };
  const hold = (): Promise<boolean> => {
    const now = app.clock();
    return holdLease(app.db, LEASE, holder, now, now + LEASE_MS);
  };
  const lookAtFolder = async (): Promise<void> => {
    const before = ofFolder;
    const found = await folderProblem(folder);
    ofFolder = found === null ? null : `BACKUP_DIR: ${found}`;
    if (found === null) reports.troubles.works('BACKUP_DIR');
    else reports.troubles.failed('BACKUP_DIR', found, { folder });
    if (before !== null && ofFolder === null) notBefore = 0;
  };
  const make = async (): Promise<void> => {
    const startedAt = app.clock();
    const made: BackupOutcome = ofFolder === null ? await run(stopping.signal) : { kind: 'failed', problem: ofFolder };
    if (made.kind === 'good') {
      failure = null;
      reports.troubles.works(SUBJECT);
      reports.onGood({ file: made.file, bytes: made.bytes, duration_ms: made.durationMs, payments: made.payments });
      return;
    }
    if (stopping.signal.aborted) return;
    failure = made.problem;
    notBefore = app.clock() + RETRY_MS;
    reports.troubles.failed(SUBJECT, failure);
    const record = { startedAt, finishedAt: app.clock(), file: folder, bytes: null, problem: failure };
    await saveBackup(app.db, record);
  };
  return {
    runDue: async () => {
      await lookAtFolder();
      if (!(await isDue()) || !(await hold())) return;
      const renewing = setInterval(() => {
        hold().catch((error: unknown) => reports.troubles.happened('lease of the backup', error));
      }, RENEW_MS);
      try {
        // Another process may have made it while this one waited for the lease.
        if (await isDue()) await make();
      } finally {
        clearInterval(renewing);
        await releaseLease(app.db, LEASE, holder);
      }
    },
    problem: () => ofFolder ?? (failure === null ? null : `the scheduled backup failed: ${failure}`),
    stop: async () => stopping.abort(),
  };
}

/** Polls for due backups. Stopping aborts a running backup, which leaves nothing behind. */
export function startScheduledBackups(
  app: Pick<App, 'db' | 'clock'>,
  schedule: BackupSchedule,
  holder: string,
  reports: BackupReports,
): Pick<ScheduledBackups, 'problem' | 'stop'> {
  const backups = scheduledBackups(app, schedule, holder, backupInOwnProcess(schedule), reports);
  const loop = startLoop({
    name: 'backups',
    restMs: POLL_MS,
    troubles: reports.troubles,
    work: async () => {
      await backups.runDue();
      return false;
    },
  });
  return {
    problem: () => backups.problem(),
    stop: async () => {
      await backups.stop();
      await loop.stop();
    },
  };
}
