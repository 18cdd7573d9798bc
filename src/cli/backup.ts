import { existsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Command } from 'commander';
import { MIN_PASSPHRASE_CHARACTERS } from '../archive/seal.ts';
import type { Sink } from '../archive/write-archive.ts';
import type { BackupTarget } from '../backup/backup-file.ts';
import type { Backup } from '../backup/make-backup.ts';
import type { Manifest } from '../backup/manifest.ts';
import { readConfig } from '../config/config.ts';
import { KEY_FILE_NAME } from '../webhooks/secret.ts';
import { isoTime } from '../wire/time.ts';
import { wholeNumber } from './arguments.ts';
import { databasePlace } from './banner.ts';
import { CommandFailure, UsageFailure } from './failure.ts';
import { commandLog, databaseFailure } from './open.ts';
import { fields } from '../wire/fields.ts';
import { print, printsRecord, writeErrorLines, type OutputOptions } from './output.ts';
import { megabytes, progressReporter } from './progress.ts';
import { untilStopped } from './signals.ts';

interface BackupCommandOptions extends OutputOptions, PassphraseOptions {
  readonly keep?: number;
}

export interface PassphraseOptions {
  readonly passphraseFile?: string;
}

const STDOUT = '-';
const MAX_KEPT = 10_000;

/** `cointill backup` and `cointill backup check`. */
export function addBackupCommands(backup: Command): void {
  withPassphrase(
    printsRecord(
      backup
        .description(
          'back up the database, and the key that encrypts webhook secrets, to one file; the service can keep running',
        )
        .argument('<target>', 'a file, a folder (Cointill names the file by timestamp), or - for standard output'),
    ),
    `encrypt the backup: a file whose first line is the passphrase, at least ${MIN_PASSPHRASE_CHARACTERS} characters`,
  )
    .option('--keep <n>', 'in a folder: remove all but the newest n backups', wholeNumber(1, MAX_KEPT))
    .action(runBackup);

  readsBackup(
    backup.command('check').description('restore a backup in a temporary folder, count its rows, and remove the copy'),
    // Options that both commands have are parsed by the parent command.
  ).action((file: string, _options: unknown, command: Command) => runCheck(file, command.optsWithGlobals()));
}

/** Gives a command the argument of a backup's file, and the option that opens it. */
export function readsBackup(command: Command): Command {
  return withPassphrase(
    printsRecord(command.argument('<file>', 'the backup')),
    'open an encrypted backup: a file whose first line is the passphrase',
  );
}

function withPassphrase(command: Command, does: string): Command {
  return command.option('--passphrase-file <file>', does);
}

/** The passphrase given to a command; null if none was. */
export async function passphraseOf({ passphraseFile: file }: PassphraseOptions): Promise<string | null> {
  if (file === undefined) return null;
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new CommandFailure(`--passphrase-file: ${file} cannot be read. Give a file that this user may read.`, {
      cause,
    });
  });
  const passphrase = text.split(/\r?\n/, 1)[0] ?? '';
  if (passphrase.length >= MIN_PASSPHRASE_CHARACTERS) return passphrase;
  throw new CommandFailure(
    `--passphrase-file: the first line of ${file} must have at least ${MIN_PASSPHRASE_CHARACTERS} characters. Make a passphrase with: openssl rand -base64 24`,
  );
}

async function runBackup(target: string, options: BackupCommandOptions): Promise<void> {
  const config = readConfig(process.env, process.cwd());
  const passphrase = await passphraseOf(options);
  const place = targetOf(target, options);
  const log = await commandLog();
  const { lowerOwnPriority, makeBackup } = await import('../backup/make-backup.ts');
  lowerOwnPriority();
  const onProgress = progressReporter('Copied');
  const made = await untilStopped((stopping) =>
    makeBackup({ config, log, target: place, passphrase, clock: Date.now, onProgress, stopping }),
  ).catch((error: unknown) => {
    throw databaseFailure(error, config);
  });
  // Standard output is for the backup.
  const shown = { ...record(made), database_place: databasePlace(config) };
  const shownLines = (): readonly string[] => lines(made, databasePlace(config));
  if (place.kind === 'stream') writeErrorLines(options.json === true ? [JSON.stringify(shown)] : shownLines());
  else print(options, shown, shownLines);
  if (made.manifest.key.kind === 'none') writeErrorLines([`Warning: ${noKey(config.dataDir)}`]);
}

/**
 * The warning that the file has no key. Without webhook endpoints none is needed yet, but a started service has created
 * a key in its DATA_DIR.
 */
function noKey(dataDir: string): string {
  return `the backup contains no key for webhook secrets, because there is no ${KEY_FILE_NAME} in ${dataDir} and SECRET_KEY is not set. No secret in the database needs a key yet. If the service has a key elsewhere, set DATA_DIR or SECRET_KEY as for the service, and make the backup again.`;
}

function targetOf(target: string, { keep }: BackupCommandOptions): BackupTarget {
  if (target.trim() === '')
    throw new UsageFailure('The target is empty. Give a file, a folder, or - for standard output.');
  const place = path.resolve(target);
  const isFolder = target !== STDOUT && (target.endsWith('/') || (existsSync(place) && statSync(place).isDirectory()));
  if (keep !== undefined && !isFolder) {
    throw new UsageFailure('--keep works only with a folder. Give an existing folder, such as /var/backups/cointill/');
  }
  if (target !== STDOUT)
    return isFolder ? { kind: 'folder', folder: place, keep: keep ?? null } : { kind: 'file', file: place };
  if (process.stdout.isTTY) {
    throw new UsageFailure('A backup is binary and cannot go to a terminal. Give a file, or redirect standard output.');
  }
  return { kind: 'stream', sink: toStdout() };
}

/** If the reader of standard output ends early, the backup is incomplete, so that a closed pipe is an error here. */
function toStdout(): Sink {
  process.stdout.removeAllListeners('error');
  process.stdout.on('error', () => {});
  return (bytes) =>
    new Promise((resolve, reject) => {
      process.stdout.write(bytes, (error) => {
        if (error === null || error === undefined) resolve();
        else reject(new CommandFailure(`Standard output does not accept the backup (${error.message}).`));
      });
    });
}

function record({ file, bytes, durationMs, encrypted, replacedAt, removed, manifest }: Backup): object {
  const replaced = replacedAt === null ? null : isoTime(Math.round(replacedAt));
  return { file, bytes, duration_ms: durationMs, encrypted, ...manifestRecord(manifest), removed, replaced };
}

/** The reported content of a backup. */
export function manifestRecord({ takenAt, program, database, key, tables, migrations }: Manifest): object {
  return {
    taken_at: isoTime(takenAt),
    program_version: program,
    database: database.kind,
    postgresql_version: database.version,
    migration: migrations.at(-1) ?? null,
    key: key.kind,
    rows: Object.fromEntries(tables.map(({ name, rows }) => [name, rows])),
  };
}

/** The first lines of a backup's content for people. */
export function manifestFields({ takenAt, tables }: Manifest): readonly [string, string][] {
  const rowsOf = (name: string): string => String(tables.find((table) => table.name === name)?.rows ?? 0);
  return [
    ['Taken', isoTime(takenAt)],
    ['Payments', rowsOf('payments')],
    ['Events', rowsOf('events')],
  ];
}

function lines(
  { file, bytes, durationMs, encrypted, replacedAt, removed, manifest }: Backup,
  database: string,
): readonly string[] {
  return [
    ...fields([
      ['Database', database],
      ['Backup', file ?? 'standard output'],
      ['Size', `${megabytes(bytes)} in ${(durationMs / 1000).toFixed(1)} s`],
      ...manifestFields(manifest),
      ['Encrypted', encrypted ? 'yes, with the passphrase' : 'no'],
      ['Replaced', replacedAt === null ? null : `the backup of ${isoTime(Math.round(replacedAt))}`],
      ['Removed', removed.length === 0 ? null : removed.join(', ')],
    ]),
    ...keyLines(manifest, encrypted),
  ];
}

function keyLines({ key }: Manifest, encrypted: boolean): readonly string[] {
  const setting =
    'The backup does not contain SECRET_KEY (until `cointill secret rotate` has run: the former key). Keep this key elsewhere, because you need it for a restore.';
  const advice = 'Keep the file where nobody else can read it, or encrypt it with --passphrase-file.';
  if (encrypted) return key.kind === 'setting' ? ['', setting] : [];
  const readers =
    key.kind === 'file'
      ? [
          "Anybody who can read the file can read your customers' data. They can also sign webhooks in your name, because the file",
          `contains the key of the webhook secrets. ${advice}`,
        ]
      : [`Anybody who can read the file can read your customers' data. ${advice}`];
  return ['', ...readers, ...(key.kind === 'setting' ? [setting] : [])];
}

async function runCheck(file: string, options: OutputOptions & PassphraseOptions): Promise<void> {
  // Settings that are wrong for the service do not matter here.
  const [{ checkBackup }, { lowerOwnPriority }] = await Promise.all([
    import('../backup/restore-backup.ts'),
    import('../backup/make-backup.ts'),
  ]);
  // The shop keeps selling meanwhile. A database server started by this command inherits the low priority.
  lowerOwnPriority();
  const log = await commandLog();
  const checked = await untilStopped((stopping) =>
    checkBackup(
      {
        file: path.resolve(file),
        passphrase: () => passphraseOf(options),
        secretKey: null,
        secretKeyPrevious: null,
        log,
        onProgress: progressReporter('Restored'),
        stopping,
      },
      os.tmpdir(),
    ),
  );
  const { manifest, bytes, durationMs } = checked;
  print(
    options,
    { file: path.resolve(file), ok: true, bytes, duration_ms: durationMs, ...manifestRecord(manifest) },
    () => [
      ...fields([
        ['Backup', path.resolve(file)],
        ...manifestFields(manifest),
        ['Check', `good: restored in ${(durationMs / 1000).toFixed(1)} s, every table counted`],
      ]),
      ...(manifest.key.kind === 'setting'
        ? [
            '',
            'A restore needs the SECRET_KEY that was set when this backup was made; if it was made during a change of the key, the former one.',
          ]
        : []),
    ],
  );
}
