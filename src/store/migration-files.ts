import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

/** The folder of this program's migrations. */
export const MIGRATIONS_FOLDER = path.join(import.meta.dirname, '../../migrations');

/** The database cannot be migrated to this program's schema, or read by it; the message says why and what to do. */
export class MigrationError extends Error {}

/** A row of the table `migrations`. */
export interface Applied {
  readonly name: string;
  /** Null if a version applied it that stored no checksums. */
  readonly checksum: string | null;
}

/** A migration's text, and its SHA-256 in hex, independent of this machine's line endings. */
export interface Migration {
  readonly text: string;
  readonly checksum: string;
}

/** An applied migration whose stored checksum becomes `checksum` once `repair` was run. */
export interface Outdated {
  readonly name: string;
  readonly checksum: string;
  /** SQL that turns the result of an earlier text of the file into the result of the present one. */
  readonly repair: string;
}

/** The migrations that this program has, in order. */
export async function knownMigrations(folder: string = MIGRATIONS_FOLDER): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => /^\d{4}_.*\.sql$/.test(name)).toSorted();
}

export async function readMigration(folder: string, name: string): Promise<Migration> {
  const text = (await readFile(path.join(folder, name), 'utf8')).replaceAll('\r\n', '\n');
  return { text, checksum: createHash('sha256').update(text).digest('hex') };
}

/**
 * Compares the migrations applied to a database with the files of `folder`. A migration without a checksum is taken to
 * be unchanged. Some files had another text before the first release: `earlier/NAME.CHECKSUM.sql` repairs its result.
 *
 * @throws MigrationError if the database was migrated by a newer version or by an unknown text of one of the files: its
 * schema would be unknown, and differ from a fresh one
 */
export async function checkApplied(folder: string, applied: readonly Applied[]): Promise<readonly Outdated[]> {
  const known = new Set(await knownMigrations(folder));
  const outdated: Outdated[] = [];
  for (const { name, checksum } of applied) {
    if (!known.has(name)) {
      throw new MigrationError(
        `The database was migrated by a newer version of Cointill (${name}). Use that version, or restore a backup that an older one made.`,
      );
    }
    const today = (await readMigration(folder, name)).checksum;
    if (checksum === today) continue;
    const repair = checksum === null ? '' : await readRepair(folder, name, checksum);
    if (repair === null) throw unfitSchema('database', `its migration ${name} had another text`);
    outdated.push({ name, checksum: today, repair });
  }
  return outdated;
}

/** Null: this text of the migration was never published. */
async function readRepair(folder: string, name: string, checksum: string): Promise<string | null> {
  const file = path.join(folder, 'earlier', `${path.basename(name, '.sql')}.${checksum.slice(0, 8)}.sql`);
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
}

/** The error that a start, a backup, a restore and the check of a backup report in the same sentence. */
export function unfitSchema(of: 'database' | 'backup', because: string): MigrationError {
  return new MigrationError(
    `The schema of the ${of} does not fit this version of Cointill: ${because}. Use the version that made it. If you have changed a file of migrations/, undo that, and add a new migration for the change.`,
  );
}
