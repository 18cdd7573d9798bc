import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { emptyDatabase, testDatabase } from '../../test/database.ts';
import { rotateEndpointSecret } from '../app/webhooks/webhook-endpoints.ts';
import { webhookApp } from '../app/webhooks/webhooks.fixture.ts';
import { makeBackup } from '../backup/make-backup.ts';
import { restoreBackup } from '../backup/restore-backup.ts';
import { readConfig } from '../config/config.ts';
import { openDatabase, type Database } from '../store/database.ts';
import { checkSealingKeys, openSealingKeys, takeSealingKey } from './sealing-key.ts';

const newKey = (): [Buffer] => [randomBytes(32)];
const checksOf = (db: Database) => db.selectFrom('key_checks').selectAll().execute();

async function folder(): Promise<string> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'cointill-keys-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

describe('a database', () => {
  it('belongs to the first key that is used on it, before anything is sealed with it', async () => {
    const { db } = await testDatabase();
    const [first, other] = [newKey(), newKey()];
    await checkSealingKeys(db, first);
    await expect(checkSealingKeys(db, other)).rejects.toThrow(
      /^This database was first used with another key\. Use the SECRET_KEY .*DATA_DIR.* cointill recover key$/,
    );
    await checkSealingKeys(db, first);
  });

  it('goes to one of several keys that processes begin with at once, and all others are refused', async () => {
    const { db } = await testDatabase();
    const keys = Array.from({ length: 8 }, newKey);
    const ends = await Promise.allSettled(keys.map((key) => checkSealingKeys(db, key)));
    expect(ends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', ...Array(7).fill('rejected')]);
    const again = await Promise.allSettled(keys.map((key) => checkSealingKeys(db, key)));
    expect(again.map(({ status }) => status)).toEqual(ends.map(({ status }) => status));
  });

  it('keeps nothing of its key that is the same in two databases, or that is shorter than what any secret shows', async () => {
    const key = newKey();
    const [one, two] = [await testDatabase(), await testDatabase()];
    for (const { db } of [one, two]) await checkSealingKeys(db, key);
    const [first, second] = [...(await checksOf(one.db)), ...(await checksOf(two.db))].map(({ sealed }) => sealed);
    expect(first?.equals(second ?? Buffer.alloc(0))).toBe(false);
    for (const sealed of [first, second]) expect(sealed?.includes(key[0].subarray(0, 4))).toBe(false);
  });

  it('of before there were checks belongs to the key that its secrets are sealed with', async () => {
    const { app, register, sealingKeys } = await webhookApp();
    await register('http://127.0.0.1:9/');
    await expect(checkSealingKeys(app.db, newKey())).rejects.toThrow(
      /^The webhook secrets .* another key\..* --lost-key$/,
    );
    expect(await checksOf(app.db)).toEqual([]);
    await checkSealingKeys(app.db, sealingKeys);
    expect(await checksOf(app.db)).toHaveLength(1);
  });

  it('goes to a new key when a secret whose key is lost is made anew with it, and the old one is refused from then on', async () => {
    const { app, register, sealingKeys } = await webhookApp();
    await checkSealingKeys(app.db, sealingKeys);
    const { id } = await register('http://127.0.0.1:9/');
    const key = newKey();
    await expect(takeSealingKey(app.db, key[0])).rejects.toThrow(/^The webhook secrets .* another key\./);
    await rotateEndpointSecret(app, key, id, { isNewKey: true });
    await checkSealingKeys(app.db, key);
    await expect(checkSealingKeys(app.db, sealingKeys)).rejects.toThrow(/another key/);
  });

  it('with nothing sealed can be given to another key', async () => {
    const { db } = await testDatabase();
    const [first, other] = [newKey(), newKey()];
    await checkSealingKeys(db, first);
    await takeSealingKey(db, other[0]);
    await checkSealingKeys(db, other);
    await expect(checkSealingKeys(db, first)).rejects.toThrow(/another key/);
  });
});

describe('a process without a key', () => {
  it('makes none of its own for a database that has one, and says so', async () => {
    const { db } = await testDatabase();
    await checkSealingKeys(db, newKey());
    const dataDir = await folder();
    await expect(openSealingKeys(db, { secretKey: null, secretKeyPrevious: null, dataDir })).rejects.toThrow(
      /another key, and no key is set here\. /,
    );
    expect(await readdir(dataDir)).toEqual([]);
  });

  it('shares the one that it makes with all that begin on the same DATA_DIR at the same time', async () => {
    const { db } = await testDatabase();
    const source = { secretKey: null, secretKeyPrevious: null, dataDir: await folder() };
    const keys = await Promise.all(Array.from({ length: 8 }, () => openSealingKeys(db, source)));
    expect(new Set(keys.map(([key]) => Buffer.from(key).toString('hex'))).size).toBe(1);
    expect(await checksOf(db)).toHaveLength(1);
  });
});

it('a restored copy takes the key that the restore brought', async () => {
  const database = await testDatabase();
  const [dataDir, keyDir] = [await folder(), await folder()];
  const source = { secretKey: null, secretKeyPrevious: null, dataDir };
  const key = await openSealingKeys(database.db, source);
  const [log, onProgress] = [pino({ level: 'silent' }), (): void => {}];
  const file = path.join(dataDir, 'a.backup');
  const config = readConfig({ DATABASE_URL: database.url, DATA_DIR: dataDir }, dataDir);
  await makeBackup({ config, log, target: { kind: 'file', file }, passphrase: null, clock: Date.now, onProgress });
  const url = await emptyDatabase();
  const options = { file, passphrase: async () => null, secretKey: null, secretKeyPrevious: null, log, onProgress };
  await restoreBackup(options, { kind: 'postgres', url, keyDir }, async () => null);
  const { db, ...handle } = openDatabase({ connectionString: url }, { maxConnections: 1, onError: () => {} });
  onTestFinished(() => handle.close());
  expect(await openSealingKeys(db, { secretKey: null, secretKeyPrevious: null, dataDir: keyDir })).toEqual(key);
  await expect(checkSealingKeys(db, newKey())).rejects.toThrow(/another key/);
});
