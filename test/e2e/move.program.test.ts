import { randomBytes } from 'node:crypto';
import { sealKeyCheck } from '../../src/app/sealing-key.ts';
import { saveFirstKeyCheck } from '../../src/store/key-checks.ts';
import { HDKey } from '@scure/bip32';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { program, textAt, type Program } from '../../src/cli/program.fixture.ts';
import { openDatabase } from '../../src/store/database.ts';
import { emptyDatabase, testDatabase } from '../database.ts';
import { client, testService, type TestService } from '../program.ts';
import { putReadyCluster } from '../ready-cluster.ts';
import { startNode } from '../rpc-node.ts';
import { standby } from '../standby.ts';
import { contentsOf, home, withEmbedded } from './move.fixture.ts';

const XPUB = HDKey.fromMasterSeed(new Uint8Array(32).fill(7)).derive("m/84'/0'/0'").publicExtendedKey;
const ORDER = { amount: 25, currency: 'USD', crypto_currency: 'BTC' };

/** The settings of a shop whose node is away: creating an order asks no node. */
async function settings(): Promise<Readonly<Record<string, string>>> {
  const node = await startNode(() => ({ error: { code: -28, message: 'Loading block index…' } }));
  onTestFinished(() => node.stop());
  return {
    BITCOIN_RPC_URL: node.url,
    FIXED_RATES: 'BTC=60000',
    RATE_SOURCES: 'none',
    LOG_LEVEL: 'fatal',
    SANDBOX_COMPLETE_AFTER_SECONDS: '3600',
  };
}

interface Keys {
  readonly live: string;
  readonly test: string;
}

/** A shop with live orders, a webhook that waits for its next attempt, and an open refund. */
async function fill(service: TestService): Promise<Keys> {
  const project = textAt(await service.command('project create --name Shop'), 'id');
  await service.command(`wallet set --project ${project} --network bitcoin --descriptor wpkh(${XPUB}/0/*)`);
  const key = async (mode: string): Promise<string> =>
    textAt(
      await service.command(`key create --project ${project} --mode ${mode} --kind secret --permission full --name K`),
      'key',
    );
  const keys = { live: await key('live'), test: await key('test') };
  await service.command(`webhook create --project ${project} --mode test --url http://127.0.0.1:9/ --events all`);
  const api = client(service.sandbox, keys.test);
  const { body } = await api('/v1/orders', { ...ORDER, crypto_currency: 'USDC', network: 'ethereum' });
  await service.command(`payment complete ${textAt(body, 'id')}`);
  const refund = await api('/v1/refunds', { order_id: body['id'], amount: 5 });
  expect(refund.status).toBe(200);
  return keys;
}

/** Takes an address and a transaction number. */
async function sell(service: TestService, keys: Keys): Promise<void> {
  const api = client(service.live, keys.live);
  const made = [await api('/v1/orders', ORDER), await api('/api/transactions/create', { amount: 30 })];
  expect(made.map(({ status }) => status)).toEqual([200, 200]);
}

/** The last transaction number and the next address of a database, and what waits in it. */
async function progressOf(url: string): Promise<unknown> {
  const handle = openDatabase({ connectionString: url }, { maxConnections: 1, onError: () => {} });
  try {
    const counters = await handle.db.selectFrom('transaction_counters').select('last').execute();
    const next = await handle.db.selectFrom('address_indexes').select('next_index').execute();
    const due = await handle.db.selectFrom('deliveries').select('next_attempt_at as at').execute();
    const refunds = await handle.db.selectFrom('refunds').select('status').execute();
    return { counters, next, isWebhookDue: due.some(({ at }) => at !== null), refunds };
  } finally {
    await handle.close();
  }
}

it(
  'a shop moves to a server of one’s own and back: the same rows, the next address and number, and the old one is closed',
  { timeout: 300_000 },
  async () => {
    const env = await settings();
    const first = await testService(env);
    const started = await first.start();
    const keys = await fill(first);
    await sell(first, keys);
    const url = await emptyDatabase();

    const inUse = await first.cointill.run('move', '--to', url);
    expect(inUse).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^The database is in use: cointill\. Stop .*\n$/),
    });
    await started.stop();
    const { dataDir } = first.cointill;
    const before = await withEmbedded(dataDir, contentsOf);

    const moved = await first.cointill.json('move', '--to', url);
    expect(moved).toMatchObject({ moved_from: dataDir, payments: 3, rows: { payments: 3, refunds: 1 } });
    expect(await contentsOf({ connectionString: url })).toEqual(before);
    const closed =
      /^The database in \S+ was moved to postgres:\S+ at \S+ and is closed.* Set DATABASE_URL to that database\.\n$/;
    for (const words of [['start'], ['payment', 'list'], ['backup', dataDir], ['move', '--data-dir', `${dataDir}-2`]]) {
      expect(await first.cointill.run(...words)).toMatchObject({ code: 1, stderr: expect.stringMatching(closed) });
    }
    expect((await stat(path.join(dataDir, 'moved.json'))).mode & 0o777).toBe(0o600);

    const carried = { isWebhookDue: true, refunds: [{ status: 'pending' }] };
    expect(await progressOf(url)).toEqual({ ...carried, counters: [{ last: 1 }], next: [{ next_index: 1 }] });
    const own = await testService({ ...env, DATABASE_URL: url, DATA_DIR: dataDir });
    const running = await own.start();
    await sell(own, keys);
    expect(await progressOf(url)).toEqual({ ...carried, counters: [{ last: 2 }], next: [{ next_index: 2 }] });
    await running.stop();
    const worker = await testService({ ...env, DATABASE_URL: url, DATA_DIR: dataDir, ROLE: 'worker' });
    const working = await worker.start();
    const back = path.join(await home(), 'back');
    expect(await own.cointill.run('move', '--data-dir', back)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^The database is in use: cointill worker\. Stop each process .*\n$/),
    });
    await working.stop();

    const there = await contentsOf({ connectionString: url });
    await own.cointill.json('move', '--data-dir', back);
    expect(await withEmbedded(back, contentsOf)).toEqual(there);
    expect(await readFile(path.join(back, 'secret.key'), 'utf8')).toBe(
      await readFile(path.join(dataDir, 'secret.key'), 'utf8'),
    );
    const gone =
      /^The database that DATABASE_URL names was moved to \S+back at \S+ and is closed.* Set DATA_DIR=\S+back, and unset DATABASE_URL\.\n$/;
    for (const words of [['start'], ['payment', 'list'], ['backup', dataDir], ['move', '--data-dir', `${back}-2`]]) {
      expect(await own.cointill.run(...words)).toMatchObject({ code: 1, stderr: expect.stringMatching(gone) });
    }
    // A process that knows nothing of the move cannot write either.
    const handle = openDatabase({ connectionString: url }, { maxConnections: 1, onError: () => {} });
    onTestFinished(() => handle.close());
    await expect(handle.db.updateTable('address_indexes').set({ next_index: 9 }).execute()).rejects.toThrow(
      /this database was moved to .*back/,
    );

    const last = await testService({ ...env, DATA_DIR: back });
    await last.start();
    await sell(last, keys);
    const serverUrl = `postgres://cointill@${encodeURIComponent(path.join(back, 'postgres-socket'))}:5432/cointill`;
    expect(await progressOf(serverUrl)).toMatchObject({ counters: [{ last: 3 }], next: [{ next_index: 3 }] });
  },
);

describe('a move is refused in one line, and changes nothing', () => {
  const refusedWith = async (cointill: Program, args: readonly string[], message: RegExp, code = 1): Promise<void> => {
    const ended = await cointill.run('move', ...args);
    const lines = ended.stderr.trimEnd().split('\n').length;
    expect({ ...ended, lines }).toEqual({ code, stdout: '', stderr: expect.stringMatching(message), lines: 1 });
  };

  it('from the embedded database', async () => {
    const cointill = await program();
    const { dataDir } = cointill;
    await refusedWith(cointill, [], /exactly one of --data-dir .* and --to/, 2);
    await refusedWith(cointill, ['--to', 'mysql://a/b'], /--to must be the URL/, 2);
    await refusedWith(cointill, ['--to', await emptyDatabase()], /There is no database in/);
    await putReadyCluster(dataDir);
    const before = await withEmbedded(dataDir, contentsOf);
    await refusedWith(cointill, ['--to', (await testDatabase()).url], /The database is not empty \(\w+, /);
    await refusedWith(cointill, ['--to', (await standby()).url], /--to leads to a replica, which accepts no writes/);
    await refusedWith(
      cointill,
      ['--to', 'postgres://a:secret@127.0.0.1:1/b'],
      /cannot be reached .* or correct --to\./,
    );
    const full = await home();
    await writeFile(path.join(full, 'letter'), 'Dear Sir');
    await refusedWith(cointill, ['--data-dir', full], /is not empty \(letter\), and Cointill never writes/);
    await refusedWith(cointill, ['--data-dir', dataDir], /is the DATA_DIR of the database itself/);
    const socket = encodeURIComponent(path.join(dataDir, 'postgres-socket'));
    await refusedWith(
      cointill,
      ['--to', `postgres://cointill@${socket}/cointill`],
      /--to names the database that is to be moved/,
    );
    expect(await withEmbedded(dataDir, contentsOf)).toEqual(before);
    expect(await cointill.run('project', 'list')).toMatchObject({ code: 0 });
  });

  it('from a database of one’s own', async () => {
    const { url } = await testDatabase();
    const cointill = await program({ DATABASE_URL: url }, 'process');
    const to = path.join(await home(), 'new');
    await refusedWith(cointill, ['--to', url], /--to names the database that DATABASE_URL names already/);
    await refusedWith(cointill, ['--to', await emptyDatabase()], /pg_dump and pg_restore/);
    const replica = await program({ DATABASE_URL: (await standby()).url });
    await refusedWith(replica, ['--data-dir', to], /DATABASE_URL leads to a replica/);
    const empty = await program({ DATABASE_URL: await emptyDatabase() });
    await refusedWith(empty, ['--data-dir', to], /contains no Cointill tables/);
    await mkdir(to);
    await writeFile(path.join(to, 'letter'), 'Dear Sir');
    await refusedWith(cointill, ['--data-dir', to], /is not empty \(letter\)/);
    const opened = openDatabase({ connectionString: url }, { maxConnections: 1, onError: () => {} });
    await saveFirstKeyCheck(opened.db, sealKeyCheck(randomBytes(32)));
    await opened.close();
    await refusedWith(cointill, ['--data-dir', `${to}-2`], /first used with a different key/);
    expect(await cointill.run('project', 'list')).toMatchObject({ code: 0 });
  });

  it('whose new database cannot be asked whether it is complete', async () => {
    const cointill = await program();
    await putReadyCluster(cointill.dataDir);
    const to = path.join(await home(), 'new');
    await cointill.json('move', '--data-dir', to);
    const mark = path.join(cointill.dataDir, 'moved.json');
    const text = await readFile(mark, 'utf8');
    await writeFile(mark, text.replace('"moved"', '"moving"'));
    await rename(to, `${to}-away`);
    for (const words of [['project', 'list'], ['start'], ['move', '--data-dir', to]]) {
      expect(await cointill.run(...words)).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(
          /^A move of .* was interrupted, and the new database does not tell whether .*\n$/,
        ),
      });
    }
    await rename(`${to}-away`, to);
    expect(await cointill.json('move', '--data-dir', to)).toEqual({ moved_to: to, was_interrupted: true });
    expect(await cointill.run('project', 'list')).toMatchObject({
      stderr: expect.stringContaining(`Set DATA_DIR=${to}.`),
    });
  });
});

describe('a start where a move was interrupted, or forgotten', () => {
  it('begins no second shop on an empty server beside the database of DATA_DIR', async () => {
    const dataDir = await home();
    await putReadyCluster(dataDir);
    const url = await emptyDatabase();
    const cointill = await program({ DATA_DIR: dataDir, DATABASE_URL: url });
    expect(await cointill.run('start')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /is empty, and DATA_DIR \S+ has a database\. Move that one with: .*cointill move --to/,
      ),
    });
  });

  it('begins no second shop in the folder that a move was filling', async () => {
    const dataDir = path.join(await home(), 'new');
    await mkdir(`${dataDir}.unfinished-1-00000000`);
    const cointill = await program({ DATA_DIR: dataDir });
    expect(await cointill.run('start')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`remove ${dataDir}.unfinished-1-00000000`),
    });
  });
});
