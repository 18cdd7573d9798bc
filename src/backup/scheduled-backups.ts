import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { App } from '../app/context.ts';
import type { BackupSchedule } from '../config/config.ts';
import { lastAt } from '../domain/backup-time.ts';
import type { Troubles } from '../domain/trouble.ts';
import { backupState, saveBackup } from '../store/backups.ts';
import { holdLease, releaseLease } from '../store/leases.ts';
import { startLoop } from '../workers/loop.ts';

/** One process at a time makes backups, whatever their number; one that died gives them up after this. */
const LEASE = 'backup';
const LEASE_MS = 60_000;
const SUBJECT = 'scheduled backup';
const RENEW_MS = 15_000;
const LOOK_MS = 20_000;
/** A backup that failed is tried again after this: what is wrong, such as a full disk, takes a person. */
const RETRY_MS = 15 * 60_000;
const PROGRAM = path.join(import.meta.dirname, '../cli/launch.ts');

/** What made a backup. Resolves with the problem, in one line, or null when it is good. */
export type BackupRun = (signal: AbortSignal) => Promise<string | null>;

export interface ScheduledBackups {
  /** Makes the backup that is due now, if any, and nobody else makes it. */
  look(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Makes a backup at the same time each day. One that was missed because nothing ran then is made at once. `run` keeps a good one on
 * record itself; a failed one is kept here.
 */
export function scheduledBackups(
  app: Pick<App, 'db' | 'clock'>,
  { at }: Pick<BackupSchedule, 'at'>,
  holder: string,
  run: BackupRun,
  troubles: Troubles,
): ScheduledBackups {
  const stopping = new AbortController();
  let notBefore = 0;

  const isDue = async (): Promise<boolean> => {
    const now = app.clock();
    if (now < notBefore) return false;
    const state = await backupState(app.db);
    return (state?.lastGood?.startedAt ?? 0) < lastAt(at, now);
  };
  const hold = (): Promise<boolean> => {
    const now = app.clock();
    return holdLease(app.db, LEASE, holder, now, now + LEASE_MS);
  };
  return {
    look: async () => {
      if (!(await isDue()) || !(await hold())) return;
      const renewing = setInterval(() => {
        hold().catch((error: unknown) => troubles.happened('lease of the backup', error));
      }, RENEW_MS);
      try {
        // Another process may have made it while the lease was waited for.
        if (!(await isDue())) return;
        const startedAt = app.clock();
        const problem = await run(stopping.signal);
        if (stopping.signal.aborted) return;
        if (problem === null) {
          troubles.works(SUBJECT);
          return;
        }
        notBefore = app.clock() + RETRY_MS;
        await saveBackup(app.db, { startedAt, finishedAt: app.clock(), file: null, bytes: null, problem });
        troubles.failed(SUBJECT, problem);
      } finally {
        clearInterval(renewing);
        await releaseLease(app.db, LEASE, holder);
      }
    },
    stop: async () => stopping.abort(),
  };
}

/** Looks every so often. Stopping ends a backup under way, which leaves nothing behind. */
export function startScheduledBackups(
  app: Pick<App, 'db' | 'clock'>,
  schedule: BackupSchedule,
  holder: string,
  troubles: Troubles,
): { stop(): Promise<void> } {
  const backups = scheduledBackups(app, schedule, holder, inOwnProcess(schedule), troubles);
  const loop = startLoop({
    name: 'backups',
    restMs: LOOK_MS,
    troubles,
    work: async () => {
      await backups.look();
      return false;
    },
  });
  return {
    stop: async () => {
      await backups.stop();
      await loop.stop();
    },
  };
}

/** Runs the command, so that compressing takes nothing of the time in which requests are answered. */
function inOwnProcess({ folder, keep, passphraseFile }: BackupSchedule): BackupRun {
  const more = passphraseFile === null ? [] : ['--passphrase-file', passphraseFile];
  const args = [PROGRAM, 'backup', `${folder}/`, '--keep', String(keep), '--json', ...more];
  return async (signal) => {
    const child: ChildProcess = spawn(process.execPath, [...process.execArgv, ...args], {
      env: { ...process.env, LOG_LEVEL: '' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const end = (): void => void child.kill('SIGTERM');
    signal.addEventListener('abort', end, { once: true });
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    const told = child.stderr === null ? '' : text(child.stderr);
    const code = await ended;
    signal.removeEventListener('abort', end);
    return code === 0 ? null : lastLine(await told) || `it ended with ${code}`;
  };
}

function lastLine(output: string): string {
  return output.trim().split('\n').at(-1) ?? '';
}
