import type { CompiledQuery } from 'kysely';
import type { Client } from 'pg';
import { copyOut } from '../backups/copy.ts';
import type { Database } from '../database.ts';
import type { Writing } from './export-columns.ts';
import { inlined, onConnection } from '../one-connection.ts';
import { liftLimits } from '../backups/snapshot.ts';
import { encodeId, type IdKind } from '../../domain/id.ts';
import { PAYMENT_APIS } from '../../domain/payment.ts';
import { PAYMENT_KINDS } from '../../domain/payment-kind.ts';

/** A file that is copied out of the database. */
export interface CopiedFile {
  /** The column heads of a CSV file. */
  readonly heads: readonly string[];
  /** The rows: a value for each head, or one JSON text. */
  readonly rows: (db: Database) => CompiledQuery;
  /** Planner settings that are switched off. */
  readonly without?: readonly string[];
  /** Rewrites each row, which includes its line feed. */
  readonly eachRow?: (row: Buffer) => Buffer;
}

/** JSON contains none of these characters, so that it is copied unchanged. */
export const AS_IT_IS = `format csv, delimiter E'\\x02', quote E'\\x01', escape E'\\x01'`;
/** Spreadsheets in countries with decimal commas expect semicolons, and read UTF-8 only after this mark. */
const BYTE_ORDER_MARK = '\ufeff';

/**
 * Passes a file on from one snapshot, beginning with the head. Returns the number of rows. Throws what `take` throws,
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
  await beginSnapshot(client, without);
  const options = format === 'csv' ? `format csv, delimiter '${separator}'` : AS_IT_IS;
  const query = inlined(client, rows(onConnection(client)));
  const count = await copyOut(client, `copy (${query}) to stdout with (${options})`, take, eachRow);
  await client.query('commit');
  return count;
}

/** Begins the transaction of a file: one snapshot, on one processor, without the limits of requests. */
export async function beginSnapshot(client: Client, without: readonly string[] = []): Promise<void> {
  await client.query('begin isolation level repeatable read, read only');
  await liftLimits(client);
  await client.query(`select set_config(name, 'off', true) from unnest($1::text[]) name`, [[...without, 'jit']]);
  await client.query('set local max_parallel_workers_per_gather = 0');
}

/** The length of a letter and a UUID. */
const ID_LENGTH = 37;
/** The kinds of ids by their first letters; other ids are UUIDs. */
const LETTERS: ReadonlyMap<number | undefined, IdKind> = new Map(
  [...PAYMENT_APIS.map((api) => PAYMENT_KINDS[api].idKind), 'refund' as const].flatMap((kind) =>
    kind === null ? [] : [[kind.charCodeAt(0), kind]],
  ),
);

/** Reads an id as SQL selects it for `idWriter`: the first letter of its kind, and the UUID. */
function idOf(row: Buffer, at: number): string {
  const uuid = row.toString('latin1', at + 1, at + ID_LENGTH);
  const kind = LETTERS.get(row[at]);
  return kind === undefined ? uuid : encodeId(kind, uuid);
}

/**
 * Writes the ids at the beginning of each row in the form of the APIs, which the database cannot at this pace. Each id
 * is followed by one byte; a row comes as one piece that ends with a line feed.
 *
 * @param names of the ids in JSON; `hasMore`: whether a row has anything besides them
 */
export function idWriter(
  names: readonly string[],
  { format, separator }: { readonly format: 'csv' | 'jsonl'; readonly separator: string },
  hasMore: boolean,
): (row: Buffer) => Buffer {
  let scratch = Buffer.allocUnsafe(64 * 1024);
  return (row) => {
    const ids = names.map((_name, index) => idOf(row, index * (ID_LENGTH + 1)));
    const before =
      format === 'csv'
        ? ids.join(separator)
        : `{${ids.map((id, index) => `"${names[index]}":"${id}"`).join(',')}${hasMore ? ',' : ''}`;
    // In JSON the delimiter and the opening brace of the object are removed.
    const from = names.length * (ID_LENGTH + 1) + (format === 'csv' ? -1 : 1);
    const length = before.length + row.length - from;
    if (scratch.length < length) scratch = Buffer.allocUnsafe(length);
    scratch.write(before, 'latin1');
    row.copy(scratch, before.length, from);
    return scratch.subarray(0, length);
  };
}
