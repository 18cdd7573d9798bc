import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { purgeOld } from '../../src/app/purge-old.ts';
import { makeBackup } from '../../src/backup/make-backup.ts';
import { restoreBackup } from '../../src/backup/restore-backup.ts';
import { readConfig } from '../../src/config/config.ts';
import { openDatabase } from '../../src/store/database.ts';
import { emptyDatabase } from '../database.ts';
import { dashboardTest } from '../dashboard.ts';

const log = pino({ level: 'silent' });

it('a restored copy has people, their factors and the audit log, but no sessions or links', async () => {
  const test = await dashboardTest();
  onTestFinished(() => test.http.close());
  const owner = await test.join('owner');
  await owner.browser.do('POST /dashboard/api/people/invite', { email: 'open@shop.example', role: 'viewer' });
  const dir = await mkdtemp(path.join(os.tmpdir(), 'cointill-restored-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const file = path.join(dir, 'a.backup');
  const config = readConfig({ DATABASE_URL: test.http.app.database.url, DATA_DIR: dir }, dir);
  const onProgress = (): void => {};
  await makeBackup({ config, log, target: { kind: 'file', file }, passphrase: null, clock: Date.now, onProgress });
  const url = await emptyDatabase();
  const options = { file, passphrase: async () => null, secretKey: null, secretKeyPrevious: null, log, onProgress };
  await restoreBackup(options, { kind: 'postgres', url, keyDir: dir }, async () => null);
  const { db, ...handle } = openDatabase({ connectionString: url }, { maxConnections: 1, onError: () => {} });
  onTestFinished(() => handle.close());
  const counts = async (database: typeof db) => {
    const { rows } = await sql<Record<string, bigint>>`
      select (select count(*) from people) as people, (select count(*) from memberships) as memberships,
        (select count(*) from audit_log) as audit_log, (select count(*) from sessions) as sessions,
        (select count(*) from account_links) as links, (select count(*) from known_browsers) as browsers`.execute(
      database,
    );
    return rows[0];
  };
  const before = await counts(test.http.app.db);
  expect(before).toMatchObject({ people: 2n, memberships: 2n, sessions: 1n, links: 2n, browsers: 1n });
  expect(await counts(db)).toEqual({ ...before, sessions: 0n, links: 0n, browsers: 0n });
  await expect(sql`delete from audit_log`.execute(db)).rejects.toThrow('append-only');
});

it('expired sessions, sign-ins and links are purged, and valid ones are kept', async () => {
  const test = await dashboardTest();
  onTestFinished(() => test.http.close());
  const { app, clock } = test.http;
  const idle = await test.join('owner');
  await idle.browser.do('POST /dashboard/api/people/invite', { email: 'late@shop.example', role: 'viewer' });
  await test.browser().do('POST /dashboard/api/sign-in/passkey/options');
  clock.advance(24 * 60 * 60_000 + 1);
  const busy = await test.signIn(idle.email);
  expect(await purgeOld(app)).toBe(false);
  const left = async (table: 'sessions' | 'sign_ins' | 'account_links' | 'known_browsers'): Promise<number> =>
    (
      await app.db
        .selectFrom(table)
        .select(sql<number>`1`.as('one'))
        .execute()
    ).length;
  expect([await left('sessions'), await left('sign_ins')]).toEqual([1, 0]);
  expect(await busy.session()).toMatchObject({ state: 'signed_in' });
  expect(await left('account_links')).toBe(2);
  clock.advance(7 * 24 * 60 * 60_000);
  await purgeOld(app);
  // Invitations work for seven days, and say for as long that they do no more.
  expect([await left('sessions'), await left('account_links'), await left('known_browsers')]).toEqual([0, 2, 2]);
  clock.advance(7 * 24 * 60 * 60_000);
  await purgeOld(app);
  expect(await left('account_links')).toBe(0);
  clock.advance(180 * 24 * 60 * 60_000);
  await purgeOld(app);
  expect(await left('known_browsers')).toBe(0);
});
