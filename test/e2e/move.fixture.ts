import { createHash } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { removeWithServers } from '../../src/embedded/postgres.fixture.ts';
import { startEmbeddedPostgres } from '../../src/embedded/postgres.ts';
import { COPIED_TABLES, isCopied } from '../../src/store/backups/copied-tables.ts';
import { openDatabase, type Connection } from '../../src/store/database.ts';

/** A folder for databases, that root's server can enter; removed with what runs in it. */
export async function home(): Promise<string> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'cointill-moves-'));
  await chmod(dir, 0o755);
  onTestFinished(async () => {
    await removeWithServers(dir);
    await rm(dir, { recursive: true, force: true });
  });
  return dir;
}

/** The rows of a table, and a checksum over their texts. */
export type Contents = Readonly<Record<string, string>>;

/** The content of every table that a move takes. */
export async function contentsOf(connection: Connection): Promise<Contents> {
  const handle = openDatabase(connection, { maxConnections: 1, onError: () => {} });
  const client = await handle.connect();
  try {
    const contents: Record<string, string> = {};
    for (const table of Object.keys(COPIED_TABLES).filter((name) => isCopied(name, 'move'))) {
      // A copy waits for transactions of its own server.
      const row = `(to_jsonb(t) - 'ended_before')::text`;
      const { rows } = await client.query<{ text: string }>(`select ${row} as text from ${table} t order by 1`);
      const sha256 = createHash('sha256').update(rows.map(({ text }) => text).join('\n'));
      contents[table] = `${rows.length} rows ${sha256.digest('hex')}`;
    }
    return contents;
  } finally {
    await client.end();
    await handle.close();
  }
}

/** Uses the embedded database of a folder without Cointill. */
export async function withEmbedded<Result>(
  dataDir: string,
  work: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  const server = await startEmbeddedPostgres({ dataDir, log: () => {}, mayBeEarlier: true });
  try {
    return await work(server.connection);
  } finally {
    await server.stop();
  }
}
