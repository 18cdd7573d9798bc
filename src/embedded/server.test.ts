import { chmod, mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { chooseAccount, readMachine } from './account.ts';
import { explainEnding, prepareSocketDir, rotateLog } from './server.ts';
import { isRoot, NOBODY, temporaryFolder } from './postgres.fixture.ts';

const setup = {
  binaries: { initdb: '/i', postgres: '/p', major: 18 },
  account: { name: 'shop', uid: 1000, gid: 1000, switchUser: false },
  dataDir: '/srv/data',
  clusterDir: '/srv/data/postgres',
  socketDir: '/srv/data/postgres-socket',
  logFile: '/srv/data/postgres.log',
  settings: {},
};

describe('why a server that we started ended, by the words that PostgreSQL 18.4 printed', () => {
  it('is no failure when another start was faster', () => {
    const words =
      '2026-11-21 01:49:19.492 UTC [12413] FATAL:  lock file "postmaster.pid" already exists\nHINT:  Is another postmaster (PID 12) running in data directory "/srv/data/postgres"?\n';
    expect(explainEnding(setup, 1, words)).toEqual({ kind: 'again' });
    expect(explainEnding(setup, 1, 'FATAL:  lock file "postmaster.pid" is empty\n')).toEqual({ kind: 'again' });
  });

  it('is a matter of waiting while orphans hold the memory', () => {
    const words =
      '2026-11-21 02:00:00.000 UTC [7] FATAL:  pre-existing shared memory block (key 17039364, ID 3) is still in use\n';
    expect(explainEnding(setup, 1, words)).toEqual({ kind: 'orphans' });
  });

  it('is no failure when it was told to stop or was killed', () => {
    expect(
      explainEnding(setup, 0, 'LOG:  received fast shutdown request\nLOG:  database system is shut down\n'),
    ).toEqual({ kind: 'again' });
    expect(explainEnding(setup, null, '')).toEqual({ kind: 'again' });
  });

  it.each([
    '2026-11-21 02:00:00.000 UTC [7] FATAL:  could not write lock file "postmaster.pid": No space left on device\n',
    '2026-11-21 02:00:00.000 UTC [7] FATAL:  could not extend file "base/1/2689": wrote only 4096 of 8192 bytes at block 5\n' +
      '2026-11-21 02:00:00.000 UTC [7] PANIC:  cannot abort transaction 1, it was already committed\n',
  ])('names the full disk', (words) => {
    const ending = explainEnding(setup, 1, words);
    expect(ending.kind === 'failed' && ending.error.message).toMatch(
      /disk that holds \/srv\/data\/postgres is full.*Free some space.*DATABASE_URL/,
    );
  });

  it("otherwise quotes the server's last word and says where more is", () => {
    const words = '2026-11-21 02:00:00.000 UTC [7] FATAL:  invalid value for parameter "max_connections": "many"\n';
    const ending = explainEnding(setup, 1, words);
    expect(ending.kind === 'failed' && ending.error.message).toMatch(
      /does not start: FATAL: {2}invalid value for parameter "max_connections": "many"\. \/srv\/data\/postgres\.log has more\./,
    );
  });
});

describe("the socket's folder", () => {
  it('keeps to itself: a folder that others may enter is closed', async () => {
    const dir = await temporaryFolder();
    const account = chooseAccount(await readMachine(), undefined);
    await mkdir(join(dir, 'postgres-socket'));
    await chmod(join(dir, 'postgres-socket'), 0o777);
    const stats = await stat(await prepareSocketDir(join(dir, 'postgres'), account));
    expect([stats.mode & 0o777, stats.uid]).toEqual([0o700, account.uid]);
  });

  it("is never a link or somebody else's, as anybody could have put it into /tmp first", async () => {
    const dir = await temporaryFolder();
    const clusterDir = join(dir, 'd'.repeat(100), 'postgres');
    const account = chooseAccount(await readMachine(), undefined);
    const inTmp = await prepareSocketDir(clusterDir, account);
    try {
      expect(inTmp).toMatch(/^\/tmp\/cointill-/);
      expect(await prepareSocketDir(clusterDir, account)).toBe(inTmp);
      await rm(inTmp, { recursive: true });
      await symlink(dir, inTmp);
      await expect(prepareSocketDir(clusterDir, account)).rejects.toThrow(/not a folder of user .* Remove it/);
    } finally {
      await rm(inTmp, { recursive: true, force: true });
    }
  });

  it.runIf(isRoot)("refuses another user's folder of the expected name", async () => {
    const dir = await temporaryFolder();
    await mkdir(join(dir, 'postgres-socket'));
    const stranger = { name: 'nobody', ...NOBODY, switchUser: false };
    await expect(prepareSocketDir(join(dir, 'postgres'), stranger)).rejects.toThrow(/not a folder of user nobody/);
  });
});

describe('the log', () => {
  it('never grows past 10 MiB: what was is kept once, and the writer goes on in the same file', async () => {
    const log = join(await temporaryFolder(), 'postgres.log');
    await rotateLog(log);
    await writeFile(log, Buffer.alloc(10 * 1024 * 1024, 'x'));
    const { ino } = await stat(log);
    await rotateLog(log);
    expect((await stat(log)).size).toBe(10 * 1024 * 1024);
    await writeFile(log, 'y', { flag: 'a' });
    await rotateLog(log);
    await writeFile(log, 'z', { flag: 'a' });
    expect([(await stat(log)).ino, await readFile(log, 'utf8')]).toEqual([ino, 'z']);
    expect((await stat(`${log}.1`)).size).toBe(10 * 1024 * 1024 + 1);
  });
});
