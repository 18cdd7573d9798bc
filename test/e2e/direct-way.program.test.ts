import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkSameDatabase } from '../../src/store/backups/check-database.ts';
import { openDatabase } from '../../src/store/database.ts';
import { UnfitDatabaseError } from '../../src/store/unfit-database.ts';
import { databaseProxy } from '../database-proxy.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { testService } from '../program.ts';

/** A database without any table, on the same server. */
async function emptyDatabase({ db, url }: TestDatabase): Promise<string> {
  const name = `empty_${randomBytes(8).toString('hex')}`;
  await sql.raw(`create database ${name}`).execute(db);
  onTestFinished(async () => void (await sql.raw(`drop database ${name} with (force)`).execute(db)));
  return url.replace(/[^/]*$/, name);
}

async function tablesOf(url: string): Promise<number> {
  const handle = openDatabase({ connectionString: url }, { maxConnections: 1, onError: () => {} });
  try {
    return (await sql`select from pg_tables where schemaname = 'public'`.execute(handle.db)).rows.length;
  } finally {
    await handle.close();
  }
}

async function check(url: string, directUrl: string): Promise<void> {
  const handle = openDatabase(
    { connectionString: url },
    { maxConnections: 1, direct: { connectionString: directUrl }, onError: () => {} },
  );
  onTestFinished(() => handle.close());
  const direct = await handle.connect();
  onTestFinished(() => direct.end());
  await checkSameDatabase(direct, handle.db);
}

describe('a direct way that leads to another database', () => {
  it('is refused at the start, by its setting and with the way out, before anything is written on either side', async () => {
    const database = await testDatabase();
    const [one, other] = [await emptyDatabase(database), await emptyDatabase(database)];
    const service = await testService({ DATABASE_URL: one, DATABASE_DIRECT_URL: other });
    expect(await service.cointill.run('start')).toMatchObject({
      code: 1,
      stdout: '',
      stderr:
        'DATABASE_DIRECT_URL leads to another database than DATABASE_URL. Set it to the same one, past the pooler only, or leave it unset where there is no pooler.\n',
    });
    expect([await tablesOf(one), await tablesOf(other)]).toEqual([0, 0]);
  });

  it('is refused where both are migrated', async () => {
    const [one, other] = [await testDatabase(), await testDatabase()];
    await expect(check(one.url, other.url)).rejects.toThrow(UnfitDatabaseError);
  });

  it('is refused where only the schema is another, and what is one database is taken, by whatever way', async () => {
    const database = await testDatabase();
    await sql`create schema elsewhere`.execute(database.db);
    const elsewhere = `${database.url}?options=${encodeURIComponent('-c search_path=elsewhere')}`;
    await expect(check(database.url, elsewhere)).rejects.toThrow(/another schema than DATABASE_URL/);
    await check((await databaseProxy(database)).url, database.url);
  });

  it('is found out by a role that may do nothing but connect, which no identifier needs to be shown to', async () => {
    const [one, other] = [await testDatabase(), await testDatabase()];
    const role = `plain_${randomBytes(8).toString('hex')}`;
    await sql.raw(`create role ${role} login`).execute(one.db);
    onTestFinished(async () => void (await sql.raw(`drop role ${role}`).execute(one.db)));
    const [url, directUrl] = [one, other].map((database) => database.url.replace(/\/\/[^@]*@/, `//${role}@`));
    await check(String(url), String(url));
    await expect(check(String(url), String(directUrl))).rejects.toThrow(
      /^DATABASE_DIRECT_URL leads to another database/,
    );
  });
});
