import type { App } from '../app/context.ts';
import type { BackupSchedule } from '../config/config.ts';
import { lastAt } from '../domain/backup-time.ts';
import type { Problems } from '../domain/problems.ts';
import { lastGood, saveBackup } from '../store/backups/backups.ts';
import { holdLease, releaseLease } from '../store/leases.ts';
import { startLoop } from '../workers/loop.ts';
import { folderProblem } from './backup-file.ts';
import { backupInOwnProcess, type BackupOutcome, type BackupRun } from './own-process.ts';

/** One process at a time makes backups; the lease of a process that died expires after `LEASE_MS`. */
const LEASE = 'backup';
const LEASE_MS = 60_000;
const SUBJECT = 'scheduled backup';
const RENEW_MS = 15_000;
const POLL_MS = 20_000;
/** The pause after a failed backup, long because the cause, such as a full disk, needs a person. */
const RETRY_MS = 15 * 60_000;

export interface ScheduledBackups {
  /** Makes the backup that is due now, if any, and if no other process makes it. */
  runDue(): Promise<void>;
  /** The current problem of the backups, with the way out; null: no problem is known. */
  problem(): string | null;
  stop(): Promise<void>;
}

/** Receives the outcomes of scheduled backups. */
export interface BackupReports {
  onGood(details: object): void;
  readonly problems: Problems;
}

/**
 * Makes a backup at the same time each day; a backup that was missed because no process was running is made at once.
 * Backups by hand in other folders do not count. A failed backup is repeated until it works. `run` records a good
 * backup; this function records a failed one.
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
  let folderFault: string | null = null;

  const isDue = async (): Promise<boolean> => {
    const now = app.clock();
    if (now < notBefore) return false;
    return failure !== null || ((await lastGood(app.db, folder))?.startedAt ?? 0) < lastAt(at, now);
  };
  const hold = (): Promise<boolean> => {
    const now = app.clock();
    return holdLease(app.db, LEASE, holder, now, now + LEASE_MS);
  };
  const checkFolder = async (): Promise<void> => {
    const problem = await folderProblem(folder);
    if (problem === null) {
      reports.problems.works('BACKUP_DIR');
      if (folderFault !== null) notBefore = 0;
    } else reports.problems.failed('BACKUP_DIR', problem, { folder });
    folderFault = problem === null ? null : `BACKUP_DIR: ${problem}`;
  };
  const make = async (): Promise<void> => {
    const startedAt = app.clock();
    const made: BackupOutcome =
      folderFault === null ? await run(stopping.signal) : { kind: 'failed', problem: folderFault };
    if (made.kind === 'good') {
      failure = null;
      reports.problems.works(SUBJECT);
      reports.onGood({ file: made.file, bytes: made.bytes, duration_ms: made.durationMs, payments: made.payments });
      return;
    }
    if (stopping.signal.aborted) return;
    failure = made.problem;
    notBefore = app.clock() + RETRY_MS;
    reports.problems.failed(SUBJECT, failure);
    const record = { startedAt, finishedAt: app.clock(), file: folder, bytes: null, problem: failure };
    await saveBackup(app.db, record);
  };
  return {
    runDue: async () => {
      await checkFolder();
      if (!(await isDue()) || !(await hold())) return;
      const renewing = setInterval(() => {
        hold().catch((error: unknown) => reports.problems.happened('lease of the backup', error));
      }, RENEW_MS);
      try {
        // Another process may have made the backup while this one waited for the lease.
        if (await isDue()) await make();
      } finally {
        clearInterval(renewing);
        await releaseLease(app.db, LEASE, holder);
      }
    },
    problem: () => folderFault ?? (failure === null ? null : `the scheduled backup failed: ${failure}`),
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
    problems: reports.problems,
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
