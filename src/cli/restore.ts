import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { shellWord } from '../config/called-as.ts';
import { readConfig, type Config } from '../config/config.ts';
import type { Recovery } from '../app/chains/recover.ts';
import { readDatabaseUrl } from '../config/database-url.ts';
import type { RestoreTarget } from '../backup/restore-backup.ts';
import type { RestoreNote } from '../backup/restore-notes.ts';
import { manifestFields, manifestRecord, passphraseOf, readsBackup, type PassphraseOptions } from './backup.ts';
import { UsageFailure } from './failure.ts';
import { commandLog, databaseFailure } from './open.ts';
import { fields } from '../wire/fields.ts';
import { print, type OutputOptions } from './output.ts';
import { recoveryLines, recoveryRecord, withSkip } from './recover.ts';
import { progressReporter } from './progress.ts';
import { untilStopped } from './signals.ts';

/** The options that name a new database. */
export interface TargetOptions {
  readonly dataDir?: string;
  readonly to?: string;
}

interface RestoreCommandOptions extends OutputOptions, PassphraseOptions, TargetOptions {
  readonly skip?: number;
}

/** `cointill restore`. */
export function addRestoreCommand(restore: Command): void {
  withSkip(
    readsBackup(restore.description('create a database from a backup; a restore never overwrites existing data')),
  )
    .option('--data-dir <folder>', 'a new DATA_DIR with an embedded database')
    .option('--to <postgres://…>', 'an empty database on your own PostgreSQL server; the key file goes to DATA_DIR')
    .addHelpText('after', SKIP_HELP)
    .action(runRestore);
}

const SKIP_HELP = `
Cointill notes each restore in cointill-restores.jsonl, beside the backup. If backups in that folder were restored
before, --skip counts from the addresses and numbers at which the restored copies began.`;

/** The database comes from the command's options alone. */
const NO_DATABASE = {
  DATABASE_URL: undefined,
  DATABASE_URL_FILE: undefined,
  DATABASE_DIRECT_URL: undefined,
  DATABASE_DIRECT_URL_FILE: undefined,
  DATABASE_READ_URL: undefined,
  DATABASE_READ_URL_FILE: undefined,
};

async function runRestore(file: string, options: RestoreCommandOptions): Promise<void> {
  if (file === '-') {
    throw new UsageFailure(
      'A restore reads the backup twice, so it needs a file, not standard input. Save the backup first: cat > FILE',
    );
  }
  const target = targetOf(options);
  const config = readConfig({ ...process.env, ...NO_DATABASE }, process.cwd());
  const { restoreApart } = await import('../backup/restore-apart.ts');
  const place = target.kind === 'embedded' ? target.dataDir : shownUrl(target.url);
  const log = await commandLog();
  const restored = await untilStopped((stopping) =>
    restoreApart(
      {
        file: path.resolve(file),
        passphrase: () => passphraseOf(options),
        secretKey: config.secretKey,
        secretKeyPrevious: config.secretKeyPrevious,
        log,
        onProgress: progressReporter('Restored'),
        stopping,
      },
      target.kind === 'embedded' ? target : { ...target, keyDir: config.dataDir },
      { now: Date.now(), skip: options.skip ?? null, random: Math.random, place },
    ),
  ).catch((error: unknown) => {
    throw target.kind === 'postgres' ? databaseFailure(error, { ...config, databaseUrl: target.url }, '--to') : error;
  });
  const { manifest, durationMs, result } = restored;
  const { recovery, earlier, notesFile, problem, mayMeetEarlier } = result;
  const warning = problem === null ? null : notNoted(notesFile, problem, recovery, mayMeetEarlier);
  const owner = await ownerOf(target.kind === 'embedded' ? target.dataDir : null);
  print(
    options,
    {
      restored_to: place,
      duration_ms: durationMs,
      ...manifestRecord(manifest),
      ...recoveryRecord(recovery),
      earlier_restores: earlier.map((note) => ({
        restored_at: note.restored_at,
        file: note.file,
        restored_to: note.restored_to,
      })),
      noted_in: problem === null ? notesFile : null,
      note_problem: warning,
    },
    () => [
      ...fields([
        ['Restored to', place],
        ['Belongs to', owner === null ? null : `${owner}: the service must run as that user`],
        ...manifestFields(manifest),
        ['Took', `${(durationMs / 1000).toFixed(1)} s`],
        ...earlier.map((note): [string, string] => [
          'Restored before',
          `${note.restored_at}, ${note.file} to ${note.restored_to}`,
        ]),
      ]),
      ...ageLines(Date.now() - manifest.takenAt),
      '',
      ...recoveryLines(recovery),
      ...earlierLines(earlier, notesFile),
      '',
      warning ??
        `This restore is noted in ${notesFile}. If you also restore a copy of this backup from another folder, give --skip ${safeSkip(recovery)}.`,
      '',
      ...nextSteps(target, config),
    ],
  );
}

const OLD_MS = 2 * 24 * 60 * 60_000;

/** A warning by the backup's age: the older it is, the more is unknown. */
function ageLines(ageMs: number): readonly string[] {
  if (ageMs < OLD_MS) return [];
  const days = Math.floor(ageMs / (OLD_MS / 2));
  return [
    '',
    `Warning: this backup is ${days} days old. If you have a newer backup that passes cointill backup check, restore the newer backup instead.`,
  ];
}

function earlierLines(earlier: readonly RestoreNote[], notesFile: string): readonly string[] {
  if (earlier.length === 0) return [];
  return [
    '',
    'Backups in this folder were restored before, as listed above. This copy skips the addresses and numbers that the earlier copies may have handed out. Only one copy may take orders, so stop the others.',
    `(If none of the earlier copies ever took orders, nothing has to be skipped. In that case, remove ${notesFile} and restore again.)`,
  ];
}

/** Enough to skip for somebody who restores again without knowing of this copy. */
function safeSkip({ wallets, numbers }: Recovery): number {
  const most = Math.max(0, ...wallets.map(({ from, to }) => to - from), ...numbers.map(({ last, to }) => to - last));
  return 1_000 * (Math.ceil(most / 1_000) + 1);
}

function notNoted(notesFile: string, problem: string, recovery: Recovery, mayMeetEarlier: boolean): string {
  const skip = safeSkip(recovery);
  const earlier = mayMeetEarlier
    ? ` If another restored copy of this installation took orders, this copy may hand out the same addresses. In that case, restore again with --skip ${skip} before this copy takes orders.`
    : '';
  return `Warning: this restore could not be noted in ${notesFile}: ${problem}.${earlier} If you restore a backup of this installation again, give --skip ${skip} or more, or first stop this copy and restore a new backup of this copy. Otherwise, both copies may hand out the same addresses and transaction numbers.`;
}

/** The owner of a restored folder; null: the present user. */
async function ownerOf(dataDir: string | null): Promise<string | null> {
  if (dataDir === null || process.getuid?.() !== 0) return null;
  const { readMachine, userName } = await import('../embedded/account.ts');
  return userName(await readMachine(), (await stat(dataDir)).uid);
}

/** The new database that the options name. */
export function targetOf({
  dataDir,
  to,
}: TargetOptions): { readonly kind: 'postgres'; readonly url: string } | Extract<RestoreTarget, { kind: 'embedded' }> {
  if (dataDir !== undefined && to === undefined) return { kind: 'embedded', dataDir: path.resolve(dataDir) };
  if (to !== undefined && dataDir === undefined) {
    if (!/^postgres(?:ql)?:\/\/./.test(to)) {
      throw new UsageFailure('--to must be the URL of a database: postgres://user:password@host/database');
    }
    const problems: string[] = [];
    readDatabaseUrl('--to', to, process.cwd(), problems);
    if (problems.length > 0) throw new UsageFailure(problems.join(' '));
    return { kind: 'postgres', url: to };
  }
  throw new UsageFailure(
    'Give exactly one of --data-dir (a new folder for an embedded database) and --to (the URL postgres://… of your own empty database).',
  );
}

/** The URL without its password. */
export function shownUrl(text: string): string {
  const url = new URL(text);
  url.password = '';
  return url.href;
}

function nextSteps(
  target: { readonly kind: RestoreTarget['kind']; readonly dataDir?: string },
  config: Config,
): readonly string[] {
  const settings =
    target.kind === 'embedded'
      ? `DATA_DIR=${shellWord(target.dataDir ?? '')}, and without DATABASE_URL`
      : `this DATABASE_URL and DATA_DIR=${shellWord(config.dataDir)}`;
  return [
    `Start the service with ${settings}, then make a new backup.`,
    'All the steps are in docs/when-something-is-lost.md',
  ];
}
