import { encodeId } from '../../domain/id.ts';

/** As long as the letter and the UUID. */
const ID_LENGTH = 37;
const [ORDER, REFUND] = ['o'.charCodeAt(0), 'r'.charCodeAt(0)];

/** How SQL selects an id for `idWriter`: a letter for what it is of (order, refund, or anything else), and the UUID. */
function idOf(row: Buffer, at: number): string {
  const uuid = row.toString('latin1', at + 1, at + ID_LENGTH);
  if (row[at] === ORDER) return encodeId('order', uuid);
  return row[at] === REFUND ? encodeId('refund', uuid) : uuid;
}

/**
 * Writes the ids that a row of a file begins with as the APIs do, which the database cannot at this pace. Each is
 * followed by one byte; a row comes as one piece that ends with a line feed.
 *
 * @param names of the ids, which JSON has; `hasMore`: whether there is anything in a row beside them
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
    // In JSON the delimiter and the brace that the object begins with go.
    const from = names.length * (ID_LENGTH + 1) + (format === 'csv' ? -1 : 1);
    const length = before.length + row.length - from;
    if (scratch.length < length) scratch = Buffer.allocUnsafe(length);
    scratch.write(before, 'latin1');
    row.copy(scratch, before.length, from);
    return scratch.subarray(0, length);
  };
}
