import { randomBytes } from 'node:crypto';
import type { Client } from 'pg';
import type { Logger } from 'pino';
import { writeArchive, type ArchiveWriter } from '../archive/write-archive.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import { saveBackup, type BackupRecord } from '../store/backups/backups.ts';
import type { Database } from '../store/database.ts';
import { readSnapshot, type Snapshot } from '../store/backups/snapshot.ts';
import { openSecret, SealingKeyError } from '../webhooks/secret.ts';
import { version } from '../config/version.ts';
import { writeBackupFile, type BackupTarget } from './backup-file.ts';
import { withClient, withDatabase } from './database.ts';
import { BackupError } from './errors.ts';
import { lowerPriority } from './low-priority.ts';
import { KEY_PART, tablePart, type Manifest } from './manifest.ts';
import { presentKey } from './sealing-key.ts';

/** The progress of a backup or a restore. */
export interface Progress {
  /** The table being copied. */
  readonly table: string;
  /** Bytes of rows copied so far, of all tables together. */
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
  /** Aborts it; nothing is left behind. */
  readonly stopping?: AbortSignal;
}

/** A complete backup. */
export interface Backup {
  /** Null if it was streamed. */
  readonly file: string | null;
  readonly bytes: number;
  readonly durationMs: number;
  readonly manifest: Manifest;
  readonly encrypted: boolean;
  /** When the backup that it replaced was made, by that file's time; null: there was none. */
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
    withClient(handle, stopping, async (client) => {
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

/** A database of an older version, or one that takes no writes, stores no record; the backup is just as good. */
async function keepOnRecord(db: Database, log: Logger, backup: Omit<BackupRecord, 'problem'>): Promise<void> {
  await saveBackup(db, { ...backup, problem: null }).catch((error: unknown) =>
    log.info({ err: error }, 'the backup is not on record'),
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
      'There are no tables of Cointill in the database. Set DATA_DIR or DATABASE_URL as it is set for the service.',
    );
  }
  const kind = config.databaseUrl === null ? 'embedded' : 'postgres';
  if (kind === 'embedded') lowerPriority(snapshot.serverPid);
  const present = presentKey(config);
  checkKey(present?.key ?? null, await snapshot.sealedSecrets());
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

/** Without the key that its webhook secrets were encrypted with, a restored copy could not send webhooks. */
function checkKey(key: Uint8Array | null, sealed: readonly { readonly id: string; readonly secret: Buffer }[]): void {
  if (sealed.length === 0) return;
  if (key === null) {
    throw new SealingKeyError(
      'The key that the webhook secrets in this database were sealed with is not there: neither is SECRET_KEY set, nor is there a secret.key in DATA_DIR. ' +
        'Set DATA_DIR or SECRET_KEY as for the service.',
    );
  }
  const opens = ({ id, secret }: { readonly id: string; readonly secret: Buffer }): boolean => {
    try {
      openSecret(key, secret, id);
      return true;
    } catch {
      return false;
    }
  };
  if (sealed.some(opens)) return;
  throw new SealingKeyError(
    'The webhook secrets in this database were sealed with another key than the one in DATA_DIR or SECRET_KEY, and a backup with this one would send no webhook. ' +
      'Set DATA_DIR and SECRET_KEY as for the service. If the key is lost, give every endpoint a new secret first: cointill webhook rotate ID --lost-key',
  );
}
