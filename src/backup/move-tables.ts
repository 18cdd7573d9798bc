import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { Client } from 'pg';
import { BackupError } from '../archive/format.ts';
import { isCopied } from '../store/backups/copied-tables.ts';
import { copyOut } from '../store/backups/copy.ts';
import { loadSnapshot, type LoadedTable } from '../store/backups/load.ts';
import { copyStatement, type CopiedTable, type Snapshot } from '../store/backups/snapshot.ts';
import type { Progress } from './make-backup.ts';

/** The rows that were copied and compared. */
export interface Transferred {
  readonly rows: ReadonlyMap<string, number>;
  readonly bytes: number;
}

/**
 * Copies the rows of a snapshot straight into an empty database, in the open transaction of `client`, and reads each
 * table again there: the bytes must be the same.
 */
export async function transfer(
  snapshot: Snapshot,
  client: Client,
  onProgress: (progress: Progress) => void,
): Promise<Transferred> {
  const rows = new Map<string, number>();
  let bytes = 0;
  const content = { ...snapshot, sequences: await snapshot.sequences() };
  await loadSnapshot(client, content, async (load) => {
    // A scan that begins in the middle of a large table would read its rows in another order.
    await client.query('set local synchronize_seqscans = off');
    for (const table of snapshot.tables.filter(({ name }) => isCopied(name, 'move'))) {
      const sent = await send(snapshot, table, load, (piece) => {
        bytes += piece.length;
        onProgress({ table: table.name, bytes, ofBytes: null });
      });
      await compare(client, table, sent);
      rows.set(table.name, sent.rows);
    }
    onProgress({ table: '', bytes, ofBytes: bytes });
  });
  return { rows, bytes };
}

/** The content of a table, as both databases copy it out. */
interface Content {
  readonly rows: number;
  readonly sha256: string;
}

const BUFFER_BYTES = 4 * 1024 * 1024;

async function send(
  snapshot: Snapshot,
  table: CopiedTable,
  load: (table: LoadedTable, content: AsyncIterable<Buffer>) => Promise<number>,
  onPiece: (piece: Buffer) => void,
): Promise<Content> {
  const hash = createHash('sha256');
  const between = new PassThrough({ highWaterMark: BUFFER_BYTES });
  const failed = new AbortController();
  const reading = async (): Promise<number> => {
    try {
      const rows = await snapshot.copy(table, async (piece) => {
        hash.update(piece);
        onPiece(piece);
        if (!between.write(piece)) await once(between, 'drain', { signal: failed.signal });
      });
      between.end();
      return rows;
    } catch (error) {
      between.destroy(error instanceof Error ? error : new Error(String(error)));
      throw error;
    }
  };
  const loading = load(table, between).catch((error: unknown) => {
    failed.abort(error);
    throw error;
  });
  const [read, loaded] = await Promise.all([reading(), loading]);
  if (read !== loaded) throw differs(table, read, loaded);
  return { rows: read, sha256: hash.digest('hex') };
}

async function compare(client: Client, table: CopiedTable, sent: Content): Promise<void> {
  const hash = createHash('sha256');
  const rows = await copyOut(client, copyStatement(client, table, 'move'), async (piece) => void hash.update(piece));
  if (rows !== sent.rows || hash.digest('hex') !== sent.sha256) throw differs(table, sent.rows, rows);
}

function differs({ name }: CopiedTable, rows: number, found: number): BackupError {
  return new BackupError(
    `The new database has other rows of ${name} than the old one (${found} rows, instead of ${rows}). Nothing was moved, and the old database can still be used.`,
  );
}
