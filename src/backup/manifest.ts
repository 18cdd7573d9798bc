import { Type, type Static } from 'typebox';
import { Check } from 'typebox/value';
import { ArchiveError } from '../archive/format.ts';

const Table = Type.Object({
  name: Type.String(),
  columns: Type.Array(Type.String()),
  rows: Type.Integer({ minimum: 0 }),
});

const Manifest = Type.Object({
  /** The version of the program that made the backup. */
  program: Type.String(),
  /** The time of the snapshot, in epoch milliseconds. */
  takenAt: Type.Integer({ minimum: 0 }),
  /** The kind of the source database, and its server's version. */
  database: Type.Object({
    kind: Type.Union([Type.Literal('embedded'), Type.Literal('postgres')]),
    version: Type.String(),
  }),
  migrations: Type.Array(Type.String()),
  tables: Type.Array(Table),
  sequences: Type.Array(
    Type.Object({
      table: Type.String(),
      column: Type.String(),
      last: Type.Union([Type.String({ pattern: '^\\d{1,19}$' }), Type.Null()]),
    }),
  ),
  /** Every part with its checksum, in the order of the file. */
  parts: Type.Array(Type.Object({ name: Type.String(), bytes: Type.Integer(), sha256: Type.String() })),
  /**
   * The key that webhook secrets were encrypted with. `file`: the key in `secret.key`, which is a part of the backup.
   * `setting`: SECRET_KEY, which is not part of it. `none`: nothing was ever encrypted. `check` shows whether another
   * key is the same.
   */
  key: Type.Union([
    Type.Object({ kind: Type.Literal('none') }),
    Type.Object({ kind: Type.Union([Type.Literal('file'), Type.Literal('setting')]), check: Type.String() }),
  ]),
});
export type Manifest = Static<typeof Manifest>;

/** The part with the key. */
export const KEY_PART = 'secret.key';

/** Parses a backup's manifest. Its checksum was verified, so any other shape was never written by us. */
export function readManifest(file: string, manifest: unknown): Manifest {
  if (Check(Manifest, manifest)) return manifest;
  throw new ArchiveError(`${file} has a manifest that this version of Cointill cannot read.`);
}

/** The part with a table's rows. */
export function tablePart(table: string): string {
  return `table ${table}`;
}
