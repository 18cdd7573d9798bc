import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';

import { isInUse, shareUse, tryLaunchLock } from './launch-lock.ts';
import { isRunning } from './process.ts';
import { readPostmaster } from './server.ts';
import {
  isRoot,
  kill,
  makeSharedCluster,
  query,
  removeWithServers,
  start,
  startElsewhere,
  temporaryFolder,
  until,
  untilStopped,
} from './postgres.fixture.ts';
import type { SharedCluster } from './postgres.fixture.ts';
import { PROMPT_MS } from '../../test/deadline.ts';

let shared: SharedCluster;

beforeAll(async () => {
  shared = await makeSharedCluster();
});

afterAll(async () => {
  await removeWithServers(shared.dir);
});

async function backendPids(db: Parameters<typeof query>[0]): Promise<number[]> {
  const rows = await query<{ pid: number }>(
    db,
    "select pid from pg_stat_activity where application_name = 'cointill presence'",
  );
  return rows.map((row) => row.pid);
}

/** A database that another process has started. */
async function runningElsewhere() {
  const dataDir = shared.dataDir();
  const { systemDir } = shared;
  const other = startElsewhere({ dataDir, systemDir });
  const { pid } = await other.heard();
  return { dataDir, systemDir, other, pid };
}

describe('a start', () => {
  it('makes a durable UTF-8 cluster with checksums, reachable through a private Unix socket alone', async () => {
    const db = await start(join(await temporaryFolder(), 'not', 'yet', 'there'), { systemDir: shared.systemDir });
    const names = [
      'listen_addresses',
      'unix_socket_permissions',
      'fsync',
      'synchronous_commit',
      'full_page_writes',
      'data_checksums',
      'jit',
    ];
    const more = ['server_encoding', 'shared_buffers', 'max_wal_size', 'max_connections', 'TimeZone'];
    const rows = await query<{ setting: string[] }>(
      db,
      `select array_agg(current_setting(name) order by i) as setting from unnest('{${[...names, ...more].join(',')}}'::text[]) with ordinality as names(name, i)`,
    );
    expect(rows[0]?.setting).toEqual(
      ['', '0700', 'on', 'on', 'on', 'on', 'off'].concat(['UTF8', '128MB', '1GB', '100', 'UTC']),
    );
    const collation = await query(db, "select datcollate, datctype from pg_database where datname = 'cointill'");
    expect(collation).toEqual([{ datcollate: 'C', datctype: 'C' }]);
    expect((await stat(db.connection.host)).mode & 0o777).toBe(0o700);
  });

  it('waits while another process, also of another container, makes or launches the database', async () => {
    const [dataDir, empty] = [shared.dataDir(), await temporaryFolder()];
    const locks = [dataDir, empty].map((dir) => tryLaunchLock(dir));
    expect([tryLaunchLock(dataDir), tryLaunchLock(empty)]).toEqual([null, null]);
    let areReleased = false;
    const starts = [dataDir, empty].map(async (dir) => {
      await start(dir, { systemDir: shared.systemDir });
      return areReleased;
    });
    // Starts that did not wait would be over before this one.
    await start(await temporaryFolder(), { systemDir: shared.systemDir });
    areReleased = true;
    for (const lock of locks) lock?.release();
    expect(await Promise.all(starts)).toEqual([true, true]);
  });

  it('launches no server beside one that a process of another container uses, at whatever path', async () => {
    const dataDir = shared.dataDir();
    const use = shareUse(dataDir);
    let isReleased = false;
    const started = start(dataDir, { systemDir: shared.systemDir }).then(() => isReleased);
    // A start that did not wait would be over before this one.
    await start(await temporaryFolder(), { systemDir: shared.systemDir });
    expect(await readPostmaster(join(dataDir, 'postgres'))).toBeUndefined();
    isReleased = true;
    use?.release();
    expect(await started).toBe(true);
    expect(isInUse(dataDir)).toBe(true);
  });

  it('has an existing database ready at once', async () => {
    const dataDir = shared.dataDir();
    const times: number[] = [];
    for (let run = 0; run < 3; run += 1) {
      const before = performance.now();
      const db = await start(dataDir, { systemDir: shared.systemDir });
      await query(db, 'select 1');
      times.push(performance.now() - before);
      await db.stop();
    }
    expect(Math.min(...times)).toBeLessThan(PROMPT_MS);
  });

  it.runIf(isRoot)('as root runs the server as another user', async () => {
    const dataDir = shared.dataDir();
    const db = await start(dataDir, { systemDir: shared.systemDir });
    const { uid } = await stat(`/proc/${db.postmasterPid()}`);
    expect(uid).not.toBe(0);
    expect((await stat(join(dataDir, 'postgres'))).uid).toBe(uid);
  });

  it('takes settings of its caller, but opens no network', async () => {
    const dataDir = shared.dataDir();
    const settings = { max_connections: '20', listen_addresses: '*' };
    const db = await start(dataDir, { systemDir: shared.systemDir, settings });
    const rows = await query(
      db,
      "select current_setting('max_connections') as most, current_setting('listen_addresses') as network",
    );
    expect(rows).toEqual([{ most: '20', network: '' }]);
  });

  it('at the same moment as another first start shares one cluster and one server with it', async () => {
    const dataDir = join(await temporaryFolder(), 'data');
    const { systemDir } = shared;
    const other = startElsewhere({ dataDir, systemDir });
    const [one, two, heard] = await Promise.all([
      start(dataDir, { systemDir }),
      start(dataDir, { systemDir }),
      other.heard(),
    ]);
    expect(two.postmasterPid()).toBe(one.postmasterPid());
    expect(heard['pid']).toBe(one.postmasterPid());
    expect(await backendPids(one)).toHaveLength(3);
    expect((await readdir(dataDir)).filter((name) => name.includes('unfinished'))).toEqual([]);
    await other.stop();
  });

  it('goes well when the process id in a stale postmaster.pid belongs to another program by now', async () => {
    const dataDir = shared.dataDir();
    const clusterDir = join(dataDir, 'postgres');
    const owner = await stat(clusterDir);
    const stranger = spawn(
      'sleep',
      ['600'],
      isRoot ? { uid: owner.uid, gid: owner.gid, stdio: 'ignore' } : { stdio: 'ignore' },
    );
    onTestFinished(() => kill(stranger.pid ?? 0));
    await once(stranger, 'spawn');
    await writeFile(
      join(clusterDir, 'postmaster.pid'),
      `${stranger.pid}\n${clusterDir}\n1700000000\n5432\n${clusterDir}-socket\n\n`,
    );
    const db = await start(dataDir, { systemDir: shared.systemDir });
    expect(db.postmasterPid()).not.toBe(stranger.pid);
    expect(await query(db, 'select 1 as one')).toEqual([{ one: 1 }]);
  });
});

describe('the server', () => {
  it("outlives the terminal's Ctrl-C, and the next start joins it", async () => {
    const { dataDir, systemDir, other, pid } = await runningElsewhere();
    process.kill(-(other.process.pid ?? 0), 'SIGINT');
    await other.ended;
    const db = await start(dataDir, { systemDir });
    expect(db.postmasterPid()).toBe(pid);
    expect(db.messages).toEqual(['info: joined the running embedded database']);
  });

  it('outlives kill -9 of the process that started it, and the next start joins it', async () => {
    const { dataDir, systemDir, other, pid } = await runningElsewhere();
    other.process.kill('SIGKILL');
    await other.ended;
    const db = await start(dataDir, { systemDir });
    expect(db.postmasterPid()).toBe(pid);
    await db.stop();
    expect(await readPostmaster(join(dataDir, 'postgres'))).toBeUndefined();
  });

  it('does not keep the event loop of its process alive', async () => {
    const dataDir = shared.dataDir();
    const other = startElsewhere({ dataDir, systemDir: shared.systemDir, mode: 'drain' });
    const { pid } = await other.heard();
    expect(await other.ended).toBe(0);
    expect(await isRunning(Number(pid))).toBe(true);
  });

  it('comes back after kill -9 of both: of its process and of itself', async () => {
    const { dataDir, systemDir, other, pid } = await runningElsewhere();
    other.process.kill('SIGKILL');
    kill(Number(pid));
    await other.ended;
    const db = await start(dataDir, { systemDir });
    expect(db.postmasterPid()).not.toBe(pid);
    expect(await query(db, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it.each(['started', 'joined'])(
    'that was %s comes back by itself at the same socket after kill -9, with what was committed',
    async (how) => {
      const dataDir = shared.dataDir();
      const { systemDir } = shared;
      if (how === 'joined') {
        const other = startElsewhere({ dataDir, systemDir });
        await other.heard();
        other.process.kill('SIGKILL');
        await other.ended;
      }
      const db = await start(dataDir, { systemDir });
      expect(db.messages[0]).toContain(how);
      await query(db, `create table payment_${how} as select 42 as amount`);
      for (let time = 0; time < 2; time += 1) {
        const killed = db.postmasterPid();
        kill(killed);
        await until('another server serves', () => db.postmasterPid() !== killed);
        await db.ready();
        expect(await query(db, `select amount from payment_${how}`)).toEqual([{ amount: 42 }]);
        expect(await backendPids(db)).toHaveLength(1);
      }
      await db.stop();
      expect(await readPostmaster(join(dataDir, 'postgres'))).toBeUndefined();
    },
  );

  it('comes back as soon as the last orphan of a killed server lets go of its memory', async () => {
    const dataDir = shared.dataDir();
    const db = await start(dataDir, { systemDir: shared.systemDir });
    const client = new Client(db.connection);
    client.on('error', () => undefined);
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const orphan = rows[0]?.pid ?? 0;
    kill(orphan, 'SIGSTOP');
    onTestFinished(() => kill(orphan));
    const killed = db.postmasterPid();
    kill(killed);
    const log = join(dataDir, 'postgres.log');
    await until('a refused start', async () =>
      (await readFile(log, 'utf8')).includes('pre-existing shared memory block'),
    );
    expect(db.postmasterPid()).toBe(killed);
    kill(orphan);
    await until('another server serves', () => db.postmasterPid() !== killed);
    expect(await query(db, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('is joined again after it ended all sessions because one of them crashed', async () => {
    const dataDir = shared.dataDir();
    const db = await start(dataDir, { systemDir: shared.systemDir });
    const pid = db.postmasterPid();
    const [backend = 0] = await backendPids(db);
    kill(backend);
    // The first way back may lead into the sessions that the server is about to end.
    await until('we are back', async () => {
      const [presence = backend, ...others] = await backendPids(db).catch((): number[] => []);
      return presence !== backend && others.length === 0;
    });
    expect(db.postmasterPid()).toBe(pid);
  });
});

describe('stop', () => {
  it('ends the server in order, and nothing brings it back', async () => {
    const dataDir = shared.dataDir();
    const db = await start(dataDir, { systemDir: shared.systemDir });
    const pid = db.postmasterPid();
    await Promise.all([db.stop(), db.stop()]);
    expect(await isRunning(pid)).toBe(false);
    expect(await readFile(join(dataDir, 'postgres.log'), 'utf8')).toMatch(/database system is shut down\n$/);
    await db.ready();
    expect(await readPostmaster(join(dataDir, 'postgres'))).toBeUndefined();
    expect(db.messages).toEqual(['info: started the embedded database']);
  });

  it.each(['removed', 'moved'])('ends the server although its folder was %s, which is said once', async (how) => {
    const dataDir = shared.dataDir();
    const db = await start(dataDir, { systemDir: shared.systemDir });
    const pid = db.postmasterPid();
    if (how === 'moved') await rename(dataDir, `${dataDir}-elsewhere`);
    else await rm(dataDir, { recursive: true });
    const gone = `error: the folder of the embedded database is gone: ${join(dataDir, 'postgres')}.`;
    await until('it is noticed', () => db.messages.some((message) => message.startsWith(gone)));
    expect(await isRunning(pid)).toBe(true);
    await db.stop();
    expect(await isRunning(pid)).toBe(false);
    expect(db.messages.filter((message) => message.startsWith(gone))).toHaveLength(1);
  });

  it('leaves the server to another process that uses it, whoever started it; the last one stops it', async () => {
    const dataDir = shared.dataDir();
    const { systemDir } = shared;
    const service = await start(dataDir, { systemDir });
    const command = startElsewhere({ dataDir, systemDir });
    const { pid } = await command.heard();
    await service.stop();
    expect(await isRunning(Number(pid))).toBe(true);
    const service2 = await start(dataDir, { systemDir });
    await command.stop();
    expect(await query(service2, 'select 1 as one')).toEqual([{ one: 1 }]);
    await service2.stop();
    expect(await isRunning(Number(pid))).toBe(false);
  });

  it('respects another process also after the server crashed under both', async () => {
    const dataDir = shared.dataDir();
    const { systemDir } = shared;
    const one = await start(dataDir, { systemDir });
    const two = await start(dataDir, { systemDir });
    const killed = one.postmasterPid();
    kill(killed);
    await until('both are back', () => one.postmasterPid() !== killed && two.postmasterPid() === one.postmasterPid());
    await one.stop();
    expect(await query(two, 'select 1 as one')).toEqual([{ one: 1 }]);
    await two.stop();
    expect(await isRunning(two.postmasterPid())).toBe(false);
  });

  it('in the middle of a recovery neither hangs nor leaves a server behind', async () => {
    const dataDir = shared.dataDir();
    const db = await start(dataDir, { systemDir: shared.systemDir });
    kill(db.postmasterPid());
    await until('the loss is noticed', () => db.messages.length > 1);
    await db.stop();
    const left = await readPostmaster(join(dataDir, 'postgres'));
    expect(left?.isAlive ?? false).toBe(false);
  });

  it('of another process, which cuts a newcomer off, makes the newcomer start the server again', async () => {
    const dataDir = shared.dataDir();
    const { systemDir } = shared;
    const first = startElsewhere({ dataDir, systemDir, mode: 'drain' });
    const { pid, host } = await first.heard();
    await first.ended;
    const leaver = new Client({ host: String(host), port: 5432, user: 'cointill', database: 'cointill', ssl: false });
    leaver.on('error', () => undefined);
    await leaver.connect();
    await until('the first process has left', async () => {
      const { rows } = await leaver.query("select pg_try_advisory_lock(x'636f696e74696c6c'::bigint) as alone");
      return rows[0]?.alone === true;
    });
    const newcomer = start(dataDir, { systemDir });
    await until('the newcomer waits', async () => {
      const { rows } = await leaver.query("select 1 from pg_locks where locktype = 'advisory' and not granted");
      return rows.length === 1;
    });
    kill(Number(pid), 'SIGINT');
    const db = await newcomer;
    await untilStopped(Number(pid));
    expect(db.postmasterPid()).not.toBe(pid);
    expect(await query(db, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('at the same moment as starts of others never leaves anybody without a server', async () => {
    const dataDir = shared.dataDir();
    const { systemDir } = shared;
    let current = await start(dataDir, { systemDir });
    for (let round = 0; round < 8; round += 1) {
      const [next] = await Promise.all([start(dataDir, { systemDir }), current.stop()]);
      expect(await query(next, 'select 1 as one')).toEqual([{ one: 1 }]);
      current = next;
    }
  });
});

describe('the socket', () => {
  it('moves to a private folder in /tmp when its path would be longer than 107 bytes', async () => {
    const dataDir = await shared.copy('d'.repeat(100));
    const { systemDir } = shared;
    const db = await start(dataDir, { systemDir });
    const { uid } = await stat(join(dataDir, 'postgres'));
    expect(db.connection.host).toMatch(new RegExp(`^/tmp/cointill-${uid}-[0-9a-f]{16}$`));
    const folder = await stat(db.connection.host);
    expect([folder.mode & 0o777, folder.uid]).toEqual([0o700, uid]);
    expect((await start(dataDir, { systemDir })).postmasterPid()).toBe(db.postmasterPid());
    onTestFinished(() => rm(db.connection.host, { recursive: true, force: true }));
  });

  it('works below a folder with commas, quotes and spaces in its name', async () => {
    const dataDir = await shared.copy(`a, "b" 'c' é\\d`);
    const db = await start(dataDir, { systemDir: shared.systemDir });
    expect(db.connection.host).toBe(join(dataDir, 'postgres-socket'));
    const again = await start(dataDir, { systemDir: shared.systemDir });
    expect(again.postmasterPid()).toBe(db.postmasterPid());
  });
});
