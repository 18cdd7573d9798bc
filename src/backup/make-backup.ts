import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import os from 'node:os';
import type { Client } from 'pg';
import type { Logger } from 'pino';
import { keyOfCheck } from '../app/sealing-key.ts';
import { BackupError } from '../archive/format.ts';
import { writeArchive, type ArchiveWriter } from '../archive/write-archive.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import { saveBackup, type BackupRecord } from '../store/backups/backups.ts';
import type { Database } from '../store/database.ts';
import { readSnapshot, type Snapshot } from '../store/backups/snapshot.ts';
import { findKeyCheck } from '../store/key-checks.ts';
import { openSecret, SealingKeyError, type SealingKeys } from '../webhooks/secret.ts';
import { version } from '../config/built.ts';
import { writeBackupFile, type BackupTarget } from './backup-file.ts';
import { withDatabase, withLongRead } from './database.ts';
import { KEY_PART, keyInUse, tablePart, type Manifest } from './manifest.ts';

/** The progress of a backup or a restore. */
export interface Progress {
  /** The table being copied. */
  readonly table: string;
  /** Bytes of rows copied so far, in all tables together. */
  readonly bytes: number;
  /** The expected total; null if not known yet. */
  readonly ofBytes: number | null;
}

export interface BackupOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly target: BackupTarget;
  readonly passphrase: string | null;
  readonly clock: Clock;
  readonly onProgress: (progress: Progress) => void;
  /** Aborts the backup, which leaves nothing behind. */
  readonly stopping?: AbortSignal;
}

/** A complete backup. */
export interface Backup {
  /** Null: the backup was streamed. */
  readonly file: string | null;
  readonly bytes: number;
  readonly durationMs: number;
  readonly manifest: Manifest;
  readonly encrypted: boolean;
  /** The file time of the backup that it replaced; null: it replaced none. */
  readonly replacedAt: number | null;
  /** Names of older backups that were removed. */
  readonly removed: readonly string[];
}

/**
 * Copies the whole database as it is at this moment, and the key that encrypts secrets, into one file. The service may
 * be running; nothing is locked. If anything fails, nothing is left behind.
 */
export async function makeBackup(options: BackupOptions): Promise<Backup> {
  const { config, log, target, passphrase, clock, stopping } = options;
  const startedAt = performance.now();
  const takenAt = clock();
  return withDatabase(config, log, (handle) =>
    withLongRead(handle, stopping, async (client) => {
      const { result, ...written } = await writeBackupFile(target, takenAt, async (sink) => {
        const archive = await writeArchive(sink, { passphrase, randomBytes });
        const manifest = await readSnapshot(client, (snapshot) =>
          writeSnapshot(options, client, archive, snapshot, takenAt),
        );
        return { manifest, ...(await archive.finish(manifest)) };
      });
      const durationMs = Math.round(performance.now() - startedAt);
      await keepOnRecord(handle.db, log, {
        startedAt: takenAt,
        finishedAt: clock(),
        file: written.file,
        bytes: result.bytes,
      });
      return { ...result, ...written, durationMs, encrypted: passphrase !== null };
    }),
  );
}

/** Records the backup in the database. A database of an older version, or a read-only one, goes without the record. */
async function keepOnRecord(db: Database, log: Logger, backup: Omit<BackupRecord, 'problem'>): Promise<void> {
  await saveBackup(db, { ...backup, problem: null }).catch((error: unknown) =>
    log.info({ err: error }, 'the backup could not be recorded in the database'),
  );
}

async function writeSnapshot(
  { config, onProgress }: BackupOptions,
  client: Client,
  archive: ArchiveWriter,
  snapshot: Snapshot,
  takenAt: number,
): Promise<Manifest> {
  const { migrations, serverVersion } = snapshot;
  if (migrations.length === 0) {
    throw new BackupError(
      'The database contains no Cointill tables. Set DATA_DIR or DATABASE_URL as it is set for the service.',
    );
  }
  const kind = config.databaseUrl === null ? 'embedded' : 'postgres';
  if (kind === 'embedded') lowerPriority(snapshot.serverPid);
  const present = keyInUse(config, await snapshot.keyCheck());
  checkKey(present === null ? null : [present.key], await snapshot.sealedSecrets());
  const parts: Manifest['parts'] = [];
  if (present?.description.kind === 'file') {
    const text = Buffer.from(`${present.key.toString('base64')}\n`);
    parts.push(await archive.part(KEY_PART, (add) => add(text)));
  }
  const tables: Manifest['tables'] = [];
  let bytes = 0;
  for (const { name, columns } of snapshot.tables) {
    let rows = 0;
    const part = await archive.part(tablePart(name), async (add) => {
      rows = await snapshot.copy({ name, columns }, async (piece) => {
        bytes += piece.length;
        onProgress({ table: name, bytes, ofBytes: null });
        await add(piece);
      });
    });
    parts.push(part);
    tables.push({ name, columns: [...columns], rows });
  }
  return {
    program: version(),
    takenAt,
    database: { kind, version: serverVersion },
    migrations: [...migrations],
    tables,
    sequences: [...(await snapshot.sequences())],
    parts,
    key: present?.description ?? { kind: 'none' },
  };
}

/** Refuses a copy without the key of the webhook secrets, because the copy could not send webhooks. */
export function checkKey(
  keys: SealingKeys | null,
  sealed: readonly { readonly id: string; readonly secret: Buffer }[],
): void {
  if (sealed.length === 0) return;
  if (keys === null) {
    throw new SealingKeyError(
      'The key that encrypted the webhook secrets in this database is missing: SECRET_KEY is not set, and DATA_DIR contains no secret.key. ' +
        'Set DATA_DIR or SECRET_KEY as it is set for the service.',
    );
  }
  const opens = ({ id, secret }: { readonly id: string; readonly secret: Buffer }): boolean => {
    try {
      openSecret(keys, secret, id);
      return true;
    } catch {
      return false;
    }
  };
  if (sealed.some(opens)) return;
  throw new SealingKeyError(
    'The webhook secrets in this database were encrypted with a different key from the one in DATA_DIR or SECRET_KEY. A copy restored with this key could not send webhooks. ' +
      'Set DATA_DIR and SECRET_KEY as they are set for the service. If the key is lost, give every endpoint a new secret first: cointill webhook rotate ID --lost-key',
  );
}

/**
 * A backup yields to other processes, because the shop sells while it is copied. Beside four busy processes on two
 * cores a backup gets a seventh of a core; at 10 it would get a twentieth, and a busy shop's would hardly end.
 */
const LOW_PRIORITY = 5;

/** Lowers the priority of a process, unless it belongs to a user whose processes we cannot change. */
function lowerPriority(pid: number): void {
  try {
    os.setPriority(pid, LOW_PRIORITY);
  } catch {
    // The process only takes a larger share of the machine.
  }
}

/** Lowers the priority of this process and of its running threads, because Linux has a priority per thread. */
export function lowerOwnPriority(): void {
  lowerPriority(process.pid);
  const threads = existsSync('/proc/self/task') ? readdirSync('/proc/self/task') : [];
  for (const thread of threads) lowerPriority(Number(thread));
}

/** Refuses a move with a key that the new database would not start with. */
export async function checkOwnKey(db: Database, keys: SealingKeys | null): Promise<void> {
  const check = await findKeyCheck(db);
  if (check === null || (keys !== null && keyOfCheck(keys, check) !== null)) return;
  throw new SealingKeyError(
    'This database was first used with a different key from the one in DATA_DIR or SECRET_KEY. Set DATA_DIR and SECRET_KEY as they are set for the service.',
  );
}
