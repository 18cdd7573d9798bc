import type { CompiledQuery } from 'kysely';
import type { Client } from 'pg';
import { copyOut } from '../backups/copy.ts';
import type { Database } from '../database.ts';
import type { Writing } from './export-columns.ts';
import { inlined } from '../inline.ts';
import { onConnection } from '../one-connection.ts';
import { liftLimits } from '../backups/snapshot.ts';

/** A file that is copied out of the database. */
export interface CopiedFile {
  /** Of a CSV file. */
  readonly heads: readonly string[];
  /** Its rows: a value for each head, or one JSON text. */
  readonly rows: (db: Database) => CompiledQuery;
  /** What the planner may not use, by the names of its settings. */
  readonly without?: readonly string[];
  /** Writes each row anew; it comes with its line feed. */
  readonly eachRow?: (row: Buffer) => Buffer;
}

/** What no JSON has in it: with these it is written as it is. */
const AS_IT_IS = `format csv, delimiter E'\\x02', quote E'\\x01', escape E'\\x01'`;
/** Spreadsheets of countries that write a comma in numbers take semicolons, and read UTF-8 where it is announced. */
const BYTE_ORDER_MARK = '\ufeff';

/**
 * Passes a file on as it is at one moment, the whole head first. Returns the number of rows. Throws what `take` throws,
 * and then the connection is unusable.
 */
export async function copyFile(
  client: Client,
  { format, separator }: Writing,
  { heads, rows, without = [], eachRow }: CopiedFile,
  take: (piece: Buffer) => Promise<void>,
): Promise<number> {
  if (format === 'csv') {
    await take(Buffer.from(`${separator === ';' ? BYTE_ORDER_MARK : ''}${heads.join(separator)}\n`));
  }
  await client.query('begin isolation level repeatable read, read only');
  await liftLimits(client);
  await client.query(`select set_config(name, 'off', true) from unnest($1::text[]) name`, [[...without, 'jit']]);
  await client.query('set local max_parallel_workers_per_gather = 0');
  const options = format === 'csv' ? `format csv, delimiter '${separator}'` : AS_IT_IS;
  const query = inlined(client, rows(onConnection(client)));
  const count = await copyOut(client, `copy (${query}) to stdout with (${options})`, take, eachRow);
  await client.query('commit');
  return count;
}
