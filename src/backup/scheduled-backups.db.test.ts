import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { testApp } from '../../test/harness.ts';
import { backupState, saveBackup } from '../store/backups/backups.ts';
import { backupInOwnProcess, type BackupOutcome, type BackupRun } from './own-process.ts';
import { scheduledBackups } from './scheduled-backups.ts';
import { noteProblems } from '../../test/problems.ts';

const AT = { hour: 3, minute: 10 };
const HOUR_MS = 3_600_000;
const midnight = Date.UTC(2026, 10, 22);

/** Processes that make backups on one database, and what they made. */
async function processes(count: number, run?: BackupRun) {
  const app = await testApp();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'cointill-scheduled-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const made: number[] = [];
  const reported: unknown[] = [];
  const problems: string[] = [];
  /** Records a good backup as the command does. */
  const keep = async (file: string, bytes = 1_000): Promise<BackupOutcome> => {
    const now = app.clock();
    await saveBackup(app.db, { startedAt: now, finishedAt: now, file, bytes, problem: null });
    return { kind: 'good', file, bytes, durationMs: 20, payments: 3 };
  };
  const good: BackupRun = async () => {
    made.push(app.clock());
    return keep(path.join(folder, 'a.backup'));
  };
  const all = Array.from({ length: count }, (_, index) =>
    scheduledBackups(app, { at: AT, folder }, `process ${index}`, run ?? good, {
      onGood: (details) => reported.push(details),
      problems: noteProblems(({ subject, problem }) => void problems.push(`${subject}: ${String(problem)}`)),
    }),
  );
  const lookAt = async (at: number): Promise<void> => {
    app.clock.set(at);
    await Promise.all(all.map((one) => one.runDue()));
  };
  return { app, folder, made, reported, problems, keep, lookAt, all };
}

it('one backup is made a day, after its time, by one of all processes', async () => {
  const { made, lookAt } = await processes(3);
  await lookAt(midnight + 3 * HOUR_MS);
  await lookAt(midnight + 3 * HOUR_MS + 60_000);
  // Nothing was ever made: the one of the day before is missing, and was made at once.
  expect(made).toEqual([midnight + 3 * HOUR_MS]);
  await lookAt(midnight + 3 * HOUR_MS + 10 * 60_000);
  for (let hour = 4; hour < 27; hour += 1) await lookAt(midnight + hour * HOUR_MS);
  expect(made).toEqual([midnight + 3 * HOUR_MS, midnight + 3 * HOUR_MS + 10 * 60_000]);
  await lookAt(midnight + 30 * HOUR_MS);
  expect(made).toHaveLength(3);
});

it('a backup that fails is reported with its reason, recorded, and retried a quarter of an hour later', async () => {
  let [tries, works] = [0, false];
  const scheduled = await processes(1, async () => {
    tries += 1;
    return works ? scheduled.keep(path.join(folder, 'a.backup'), 5) : { kind: 'failed', problem: 'the disk is full' };
  });
  const { app, folder, problems, reported, lookAt, all } = scheduled;
  const start = midnight + 4 * HOUR_MS;
  await lookAt(start);
  await lookAt(start + 14 * 60_000);
  expect([tries, problems]).toEqual([1, ['scheduled backup: the disk is full']]);
  expect(all[0]?.problem()).toBe('the scheduled backup failed: the disk is full');
  expect(await backupState(app.db)).toEqual({ lastGood: null, lastFailed: true });
  works = true;
  await lookAt(start + 15 * 60_000);
  expect(await backupState(app.db)).toEqual({
    lastGood: { startedAt: start + 15 * 60_000, bytes: 5 },
    lastFailed: false,
  });
  expect(all[0]?.problem()).toBeNull();
  expect(reported).toEqual([{ file: path.join(folder, 'a.backup'), bytes: 5, duration_ms: 20, payments: 3 }]);
});

it('a backup that is made by hand elsewhere neither hides that the scheduled ones fail nor takes the place of one', async () => {
  let works = true;
  const scheduled = await processes(1, async () => {
    const file = path.join(scheduled.folder, 'a.backup');
    return works ? scheduled.keep(file) : { kind: 'failed', problem: 'the disk is full' };
  });
  const { app, folder, keep, lookAt, all } = scheduled;
  const first = midnight + 4 * HOUR_MS;
  await lookAt(first);
  works = false;
  const second = first + 24 * HOUR_MS;
  await lookAt(second);
  for (const [minutes, file] of [
    [1, '/mnt/by-hand.backup'],
    [2, `${folder}-of-another-name/a.backup`],
  ] as const) {
    app.clock.set(second + minutes * 60_000);
    await keep(file);
    expect(await backupState(app.db)).toEqual({ lastGood: { startedAt: first, bytes: 1_000 }, lastFailed: true });
  }
  await lookAt(second + 15 * 60_000);
  expect(all[0]?.problem()).toBe('the scheduled backup failed: the disk is full');
  // One into their own folder shows that it can be written; they are tried on all the same.
  app.clock.set(second + 16 * 60_000);
  await keep(path.join(folder, 'b.backup'));
  expect(await backupState(app.db)).toMatchObject({ lastFailed: false });
  await lookAt(second + 30 * 60_000);
  expect(await backupState(app.db)).toMatchObject({ lastFailed: true });
  works = true;
  await lookAt(second + 45 * 60_000);
  expect(await backupState(app.db)).toMatchObject({
    lastGood: { startedAt: second + 45 * 60_000 },
    lastFailed: false,
  });
});

it('a missing folder is reported at the first check, even if no backup is due; once it exists, a backup is made', async () => {
  const { folder, made, problems, lookAt, all } = await processes(1);
  const start = midnight + 4 * HOUR_MS;
  await lookAt(start);
  await rm(folder, { recursive: true });
  for (const minutes of [1, 2]) await lookAt(start + minutes * 60_000);
  const problem = `BACKUP_DIR: There is no folder ${folder}. Create it, or give another folder.`;
  expect(problems).toEqual([problem, problem]);
  expect(all[0]?.problem()).toBe(problem);
  await lookAt(start + 24 * HOUR_MS);
  expect(problems).toEqual([problem, problem, problem, `scheduled backup: ${problem}`]);
  await mkdir(folder);
  await lookAt(start + 24 * HOUR_MS + 60_000);
  expect(problems).toHaveLength(4);
  expect(made).toEqual([start, start + 24 * HOUR_MS + 60_000]);
  expect(all[0]?.problem()).toBeNull();
});

it('a process that stops ends the backup under way, and another one makes it', async () => {
  let begun = (): void => {};
  const started = new Promise<void>((resolve) => (begun = resolve));
  const { app, all, problems } = await processes(1, (signal) => {
    begun();
    return new Promise((resolve) =>
      signal.addEventListener('abort', () => resolve({ kind: 'failed', problem: 'stopped' })),
    );
  });
  app.clock.set(midnight + 4 * HOUR_MS);
  const running = all[0]?.runDue();
  await started;
  await all[0]?.stop();
  await running;
  expect(problems).toEqual([]);
  expect(await backupState(app.db)).toBeNull();
});

it('a passphrase file that cannot be read is reported with the setting that names it', async () => {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'cointill-backups-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const passphraseFile = path.join(dir, 'missing');
  // Vitest's own, which is no setting of ours.
  vi.stubEnv('BASE_URL', undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
  const run = backupInOwnProcess({ at: AT, folder: dir, keep: 3, passphraseFile });
  expect(await run(new AbortController().signal)).toEqual({
    kind: 'failed',
    problem: `BACKUP_PASSPHRASE_FILE: ${passphraseFile} cannot be read. Give a file that this user may read.`,
  });
});
