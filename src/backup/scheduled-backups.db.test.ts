import { expect, it } from 'vitest';
import { testApp } from '../../test/harness.ts';
import { backupState, saveBackup } from '../store/backups.ts';
import { scheduledBackups, type BackupRun } from './scheduled-backups.ts';
import { noteTroubles } from '../../test/troubles.ts';

const AT = { hour: 3, minute: 10 };
const HOUR_MS = 3_600_000;
const midnight = Date.UTC(2026, 10, 22);

/** Processes that make backups on one database, and what they made. */
async function processes(count: number, run?: BackupRun) {
  const app = await testApp();
  const made: number[] = [];
  const problems: string[] = [];
  const good: BackupRun = async () => {
    const now = app.clock();
    made.push(now);
    await saveBackup(app.db, { startedAt: now, finishedAt: now, file: '/backups/a', bytes: 1_000, problem: null });
    return null;
  };
  const all = Array.from({ length: count }, (_, index) =>
    scheduledBackups(
      app,
      { at: AT },
      `process ${index}`,
      run ?? good,
      noteTroubles(({ subject, problem }) => void problems.push(`${subject}: ${String(problem)}`)),
    ),
  );
  const lookAt = async (at: number): Promise<void> => {
    app.clock.set(at);
    await Promise.all(all.map((one) => one.look()));
  };
  return { app, made, problems, lookAt, all };
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

it('a backup that fails is told with its reason, kept on record, and tried again a quarter of an hour later', async () => {
  let [tries, works] = [0, false];
  const { app, problems, lookAt } = await processes(1, async () => {
    tries += 1;
    if (!works) return 'the disk is full';
    await saveBackup(app.db, { startedAt: app.clock(), finishedAt: app.clock(), file: null, bytes: 5, problem: null });
    return null;
  });
  const start = midnight + 4 * HOUR_MS;
  await lookAt(start);
  await lookAt(start + 14 * 60_000);
  expect([tries, problems]).toEqual([1, ['scheduled backup: the disk is full']]);
  expect(await backupState(app.db)).toEqual({ lastGood: null, lastFailed: true });
  works = true;
  await lookAt(start + 15 * 60_000);
  expect(await backupState(app.db)).toEqual({
    lastGood: { startedAt: start + 15 * 60_000, bytes: 5 },
    lastFailed: false,
  });
});

it('a process that stops ends the backup under way, and another one makes it', async () => {
  let begun = (): void => {};
  const started = new Promise<void>((resolve) => (begun = resolve));
  const { app, all, problems } = await processes(1, (signal) => {
    begun();
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve('it ended with 1')));
  });
  app.clock.set(midnight + 4 * HOUR_MS);
  const looking = all[0]?.look();
  await started;
  await all[0]?.stop();
  await looking;
  expect(problems).toEqual([]);
  expect(await backupState(app.db)).toBeNull();
});
