import { createHmac } from 'node:crypto';
import { Type, type Static } from 'typebox';
import { Check } from 'typebox/value';
import { keyOfCheck } from '../app/sealing-key.ts';
import { BackupError } from '../archive/format.ts';
import {
  existingKeys,
  hasSealingKey,
  loadSealingKey,
  type KeySource,
  type KeySources,
} from '../webhooks/sealing-keys.ts';

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
   * The key that sealed the webhook secrets. `file`: the key in `secret.key`, which is a part of the backup. `setting`:
   * SECRET_KEY, which the backup does not hold. `none`: nothing was ever sealed. `check`: see {@link keyCheck}.
   */
  key: Type.Union([
    Type.Object({ kind: Type.Literal('none') }),
    Type.Object({ kind: Type.Union([Type.Literal('file'), Type.Literal('setting')]), check: Type.String() }),
  ]),
});
export type Manifest = Static<typeof Manifest>;

/** The part with the key. */
export const KEY_PART = 'secret.key';

/** Parses a backup's manifest. Its checksum was verified, so another shape is from another version. */
export function readManifest(file: string, manifest: unknown): Manifest {
  if (Check(Manifest, manifest)) return manifest;
  throw new BackupError(`${file} has a manifest that this version of Cointill cannot read.`);
}

/** The part with a table's rows. */
export function tablePart(table: string): string {
  return `table ${table}`;
}

/** The key in use, and its description in a backup; null: there is no key yet. */
export function presentKey(source: KeySource): { readonly key: Buffer; readonly description: Manifest['key'] } | null {
  if (!hasSealingKey(source)) return null;
  const key = loadSealingKey(source);
  return { key, description: { kind: source.secretKey === null ? 'file' : 'setting', check: keyCheck(key) } };
}

/**
 * The key that sealed a database's secrets, and its description in a backup; null: there is no key yet. A key of
 * SECRET_KEY_PREVIOUS is a setting too.
 *
 * @param check the check of the database's key, if it has one
 */
export function keyInUse(source: KeySources, check: Buffer | null): ReturnType<typeof presentKey> {
  const keys = existingKeys(source);
  const former = keys === null || check === null ? null : keyOfCheck(keys, check);
  const present = presentKey(source);
  if (former === null || (present !== null && present.key.equals(former))) return present;
  return { key: Buffer.from(former), description: { kind: 'setting', check: keyCheck(former) } };
}

/** A text that is equal for equal keys and reveals nothing else about them. */
export function keyCheck(key: Uint8Array): string {
  return createHmac('sha256', key).update('cointill backup').digest('hex');
}
