import path from 'node:path';
import type { Command } from 'commander';
import { readConfig, type Config } from '../config/config.ts';
import type { RestoreTarget } from '../backup/restore-backup.ts';
import { manifestFields, manifestRecord, passphraseOf, withPassphrase, type PassphraseOptions } from './backup.ts';
import { UsageFailure } from './failure.ts';
import { commandLog, databaseFailure } from './open.ts';
import { fields, print, printsRecord, type OutputOptions } from './output.ts';
import { recoveryLines, recoveryRecord, withSkip } from './recover.ts';
import { progressTeller } from './progress.ts';
import { untilStopped } from './signals.ts';

interface RestoreCommandOptions extends OutputOptions, PassphraseOptions {
  readonly dataDir?: string;
  readonly to?: string;
  readonly skip?: number;
}

/** `cointill restore`. */
export function addRestoreCommand(program: Command): void {
  withSkip(
    withPassphrase(
      printsRecord(
        program
          .command('restore')
          .description('make a new database of a backup; nothing is ever restored onto what is there')
          .argument('<file>', 'the backup'),
      ),
    ),
  )
    .option('--data-dir <folder>', 'a new DATA_DIR with an embedded database')
    .option('--to <postgres://…>', 'an empty database on a PostgreSQL server of your own; the key goes to DATA_DIR')
    .action(runRestore);
}

async function runRestore(file: string, options: RestoreCommandOptions): Promise<void> {
  const target = targetOf(options);
  const config = readConfig(
    target.kind === 'postgres' ? { ...process.env, DATABASE_URL: target.url } : process.env,
    process.cwd(),
  );
  const [{ restoreBackup }, { passOver }, { onConnection }] = await Promise.all([
    import('../backup/restore-backup.ts'),
    import('../app/chains/recover.ts'),
    import('../store/one-connection.ts'),
  ]);
  const log = await commandLog();
  const restored = await untilStopped((stopping) =>
    restoreBackup(
      {
        file: path.resolve(file),
        passphrase: () => passphraseOf(options),
        secretKey: config.secretKey,
        log,
        onProgress: progressTeller('Restored'),
        stopping,
      },
      target.kind === 'embedded' ? target : { ...target, keyDir: config.dataDir },
      (client, manifest) =>
        passOver(onConnection(client), { lostSince: manifest.takenAt, now: Date.now(), skip: options.skip ?? null }),
    ),
  ).catch((error: unknown) => {
    throw target.kind === 'postgres' ? databaseFailure(error, config) : error;
  });
  const { manifest, durationMs, result: recovery } = restored;
  const place = target.kind === 'embedded' ? target.dataDir : shownUrl(target.url);
  print(
    options,
    { restored_to: place, duration_ms: durationMs, ...manifestRecord(manifest), ...recoveryRecord(recovery) },
    () => [
      ...fields([['Restored to', place], ...manifestFields(manifest), ['Took', `${(durationMs / 1000).toFixed(1)} s`]]),
      '',
      ...recoveryLines(recovery),
      '',
      ...nextSteps(target, config),
    ],
  );
}

function targetOf({
  dataDir,
  to,
}: RestoreCommandOptions):
  | { readonly kind: 'postgres'; readonly url: string }
  | Extract<RestoreTarget, { kind: 'embedded' }> {
  if (dataDir !== undefined && to === undefined) return { kind: 'embedded', dataDir: path.resolve(dataDir) };
  if (to !== undefined && dataDir === undefined) {
    if (/^postgres(?:ql)?:\/\/./.test(to) && URL.canParse(to)) return { kind: 'postgres', url: to };
    throw new UsageFailure('--to must be the URL of a database: postgres://user:password@host/database');
  }
  throw new UsageFailure(
    'Give exactly one of --data-dir (a new folder for an embedded database) and --to (postgres://… of an empty database of your own).',
  );
}

/** Without the password that may be in it. */
function shownUrl(text: string): string {
  const url = new URL(text);
  url.password = '';
  return url.href;
}

function nextSteps(
  target: { readonly kind: RestoreTarget['kind']; readonly dataDir?: string },
  config: Config,
): readonly string[] {
  return target.kind === 'embedded'
    ? [`Start the service on it: DATA_DIR=${target.dataDir ?? ''} cointill start`]
    : [`Start the service on it with this DATABASE_URL and DATA_DIR=${config.dataDir}`];
}
