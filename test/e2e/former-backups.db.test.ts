import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { skipIssued } from '../../src/app/chains/recover.ts';
import { restoreBackup } from '../../src/backup/restore-backup.ts';
import { COPIED_TABLES } from '../../src/store/backups/copied-tables.ts';
import { openDatabase } from '../../src/store/database.ts';
import { countRows } from '../../src/store/backups/load.ts';
import { knownMigrations } from '../../src/store/migration-files.ts';
import { onConnection } from '../../src/store/one-connection.ts';
import { openSecret } from '../../src/webhooks/secret.ts';
import { loadSealingKey } from '../../src/webhooks/sealing-keys.ts';
import { emptyDatabase, testDatabase } from '../database.ts';
import { structureOf } from '../structure.ts';

/**
 * One of each version that could make backups, named by its last migration, and never changed: add those of a new
 * version.
 */
const FOLDER = path.join(import.meta.dirname, 'backups');
const files = await readdir(FOLDER);

describe('a backup of every former version', () => {
  it('is kept', () => {
    expect(files).toEqual(expect.arrayContaining(['0013-encrypted.backup', '0013-plain.backup']));
  });

  it.each(files)('is restored, and brought to this version: %s', async (name) => {
    const url = await emptyDatabase();
    const keyDir = await mkdtemp(path.join(os.tmpdir(), 'cointill-former-'));
    onTestFinished(() => rm(keyDir, { recursive: true, force: true }));
    const { manifest } = await restoreBackup(
      {
        file: path.join(FOLDER, name),
        passphrase: async () => 'four words are enough',
        secretKey: null,
        secretKeyPrevious: null,
        log: pino({ level: 'silent' }),
        onProgress: () => {},
      },
      { kind: 'postgres', url, keyDir },
      (client, { takenAt }) => skipIssued(onConnection(client), { lostSince: takenAt, now: Date.now(), skip: null }),
    );
    const handle = openDatabase({ connectionString: url }, { maxConnections: 2, onError: () => {} });
    onTestFinished(() => handle.close());
    const { db } = handle;
    const client = await handle.connect();
    onTestFinished(() => client.end());

    const applied = await sql<{ name: string }>`select name from migrations order by name`.execute(db);
    expect(applied.rows.map((row) => row.name)).toEqual(await knownMigrations());
    const counts = await countRows(
      client,
      Object.keys(COPIED_TABLES).map((table) => ({ name: table })),
    );
    // The tables that a restore adds rows to.
    const { skipped_indexes, transaction_counters, ...others } = Object.fromEntries(
      manifest.tables.map(({ name: table, rows }) => [table, rows]),
    );
    expect(Object.fromEntries(counts)).toMatchObject(others);
    expect(counts.get('skipped_indexes')).toBe((skipped_indexes ?? 0) + 2);
    expect(counts.get('transaction_counters')).toBeGreaterThanOrEqual(transaction_counters ?? 0);

    // Payments saved then can be read now, and numbering continues after the last number.
    const payments = await db.selectFrom('payments').selectAll().orderBy('id').execute();
    expect(payments.map(({ status }) => status).toSorted()).toEqual(['completed', 'created', 'pending']);
    expect(payments.find(({ status }) => status === 'completed')).toMatchObject({
      amount_minor: 2_500n,
      merchant_order_id: 'A-1',
      metadata: { seat: '12' },
    });
    const endpoints = await db.selectFrom('webhook_endpoints').selectAll().execute();
    const key = loadSealingKey({ dataDir: keyDir });
    expect(endpoints.map(({ id, secret }) => openSecret([key], secret, id))).toEqual([
      expect.stringMatching(/^whsec_/),
    ]);
    const { rows } = await sql<{ next: bigint; last: bigint }>`
      select nextval(pg_get_serial_sequence('delivery_attempts', 'id')) as next, max(id) as last from delivery_attempts`.execute(
      db,
    );
    expect(rows[0]?.next).toBeGreaterThan(rows[0]?.last ?? 0n);
    // The indexes and keys equal those of a database that only the migrations created.
    expect(await structureOf(db)).toEqual(await structureOf((await testDatabase()).db));
  });
});
