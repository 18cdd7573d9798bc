import { sql } from 'kysely';
import { expect, inject, it, onTestFinished, vi } from 'vitest';
import { testDatabase } from '../../test/database.ts';
import { openDatabase, type Database, type DatabaseHandle } from './database.ts';

const AT = '2026-11-21T01:20:59.123Z';

async function opened(url: string): Promise<DatabaseHandle> {
  const handle = openDatabase({ connectionString: url }, { maxConnections: 2, onError: () => {} });
  onTestFinished(() => handle.close());
  return handle;
}

async function readTime(db: Database, text: string): Promise<number | undefined> {
  const { rows } = await sql<{ at: number }>`select ${text}::timestamptz as at`.execute(db);
  return rows[0]?.at;
}

/** The settings of the pool, the pipeline and a separate connection. */
async function settingsOf(handle: DatabaseHandle, name: string): Promise<readonly unknown[]> {
  const show = sql<Record<string, string>>`show ${sql.raw(name)}`;
  const client = await handle.connect();
  onTestFinished(() => client.end());
  const results = [
    await show.execute(handle.db),
    (await handle.pipeline.executeQuery(show.compile(handle.db))) as { rows: unknown[] },
    await client.query(`show ${name}`),
  ];
  return results.flatMap(({ rows }) => rows).map((row) => Object.values(Object(row))[0]);
}

it('times are what was stored, whatever time zone and style the database, the role and the URL ask for', async () => {
  const database = await testDatabase();
  const name = sql.id(new URL(database.url).pathname.slice(1));
  await sql`alter database ${name} set timezone to 'America/St_Johns'`.execute(database.db);
  await sql`alter database ${name} set datestyle to 'German'`.execute(database.db);
  for (const options of ['', '?options=-c%20timezone=Asia/Kolkata%20-c%20datestyle=SQL%20-c%20work_mem=5MB']) {
    const handle = await opened(`${database.url}${options}`);
    expect(await readTime(handle.db, AT)).toBe(Date.parse(AT));
    expect(await settingsOf(handle, 'timezone')).toEqual(['UTC', 'UTC', 'UTC']);
    // The URL's other options stay.
    const workMem = options === '' ? '4MB' : '5MB';
    expect(await settingsOf(handle, 'work_mem')).toEqual([workMem, workMem, workMem]);
  }
});

it('times are what was stored, also in a session that a pooler has left in another time zone', async () => {
  const { db } = await testDatabase();
  await db.connection().execute(async (session) => {
    for (const zone of ['UTC', 'Asia/Kolkata', 'America/St_Johns', 'Europe/Berlin', 'America/New_York']) {
      await sql`select set_config('timezone', ${zone}, false)`.execute(session);
      for (const text of [AT, '2026-06-15T23:59:59Z', '2026-01-01T00:00:00.5Z', '1850-01-01T00:00:00Z']) {
        expect({ zone, at: await readTime(session, text) }).toEqual({ zone, at: Date.parse(text) });
      }
    }
  });
});

it.each(['prefer', 'require', 'verify-ca', 'verify-full'])(
  'sslmode=%s asks for TLS and lets nothing else be written than the log',
  async (mode) => {
    const { host, port, user } = inject('postgres');
    const emitWarning = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    onTestFinished(() => emitWarning.mockRestore());
    const url = `postgres://${user}@${encodeURIComponent(host)}:${port}/postgres?application_name=shop&sslmode=${mode}`;
    const handle = await opened(url);
    await expect(readTime(handle.db, AT)).rejects.toThrow('The server does not support SSL connections');
    expect(emitWarning).not.toHaveBeenCalled();
  },
);
