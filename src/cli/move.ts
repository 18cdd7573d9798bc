import type { Command } from 'commander';
import type { MoveOutcome, MoveTarget } from '../backup/move.ts';
import { shellWord } from '../config/called-as.ts';
import { readConfig, type Config } from '../config/config.ts';
import { fields } from '../wire/fields.ts';
import { commandLog, databaseFailure } from './open.ts';
import { print, printsRecord, type OutputOptions } from './output.ts';
import { megabytes, progressReporter } from './progress.ts';
import { shownUrl, targetOf, type TargetOptions } from './restore.ts';
import { untilStopped } from './signals.ts';

/** `cointill move`. */
export function addMoveCommand(move: Command): void {
  printsRecord(
    move.description(
      'move the database: from the embedded one to your own PostgreSQL server, or back, or to a new version of PostgreSQL',
    ),
  )
    .option('--data-dir <folder>', 'a new DATA_DIR with an embedded database')
    .option('--to <postgres://…>', 'an empty database on your own PostgreSQL server; the key file stays in DATA_DIR')
    .addHelpText('after', HELP)
    .action(runMove);
}

const HELP = `
Stop the service first, on every machine. Everything but sessions is copied and compared, and the old database is closed
for good, so addresses and numbers continue without a gap. To copy a database that stays open, use backup and restore.
If the command is killed, run it again: it finishes the move, or starts again from the beginning.`;

async function runMove(options: OutputOptions & TargetOptions): Promise<void> {
  const given = targetOf(options);
  const config = readConfig(process.env, process.cwd());
  const target: MoveTarget =
    given.kind === 'embedded'
      ? { kind: 'embedded', place: given.dataDir }
      : { kind: 'postgres', place: shownUrl(given.url), url: given.url };
  const { moveDatabase } = await import('../backup/move.ts');
  const log = await commandLog();
  const outcome = await untilStopped((stopping) =>
    moveDatabase({ config, log, target, clock: Date.now, onProgress: progressReporter('Moved'), stopping }),
  ).catch((error: unknown) => {
    throw target.kind === 'postgres' && config.databaseUrl === null
      ? databaseFailure(error, { ...config, databaseUrl: target.url }, '--to')
      : databaseFailure(error, config);
  });
  const place = outcome.kind === 'moved' ? target.place : outcome.move.place;
  print(options, recordOf(outcome, place), () => linesOf(outcome, place, config));
}

function recordOf(outcome: MoveOutcome, place: string): object {
  if (outcome.kind === 'had_arrived') return { moved_to: place, was_interrupted: true };
  const { from, durationMs, bytes, rows } = outcome;
  return {
    moved_from: from,
    moved_to: place,
    duration_ms: durationMs,
    bytes,
    payments: rows.get('payments') ?? 0,
    rows: Object.fromEntries(rows),
    was_interrupted: false,
  };
}

function linesOf(outcome: MoveOutcome, place: string, config: Config): readonly string[] {
  const head =
    outcome.kind === 'had_arrived'
      ? ['An earlier move was interrupted after the new database was complete. It is finished now.', '']
      : [];
  const counted =
    outcome.kind === 'had_arrived'
      ? []
      : ([
          ['Moved from', outcome.from],
          ['Payments', String(outcome.rows.get('payments') ?? 0)],
          [
            'Rows',
            `${[...outcome.rows.values()].reduce((sum, rows) => sum + rows, 0)}, each compared (${megabytes(outcome.bytes)})`,
          ],
          ['Took', `${(outcome.durationMs / 1000).toFixed(1)} s`],
        ] as const);
  return [...head, ...fields([['Moved to', place], ...counted]), '', ...nextSteps(place, config)];
}

function nextSteps(place: string, config: Config): readonly string[] {
  const isFolder = place.startsWith('/');
  return [
    isFolder
      ? `Start the service with DATA_DIR=${shellWord(place)}, and without DATABASE_URL. Then make a backup.`
      : `Start the service with DATABASE_URL=${shellWord(place)}, with the password in it, and with DATA_DIR=${shellWord(config.dataDir)} as before. Then make a backup.`,
    'The old database is closed for good: a start on it refuses. Everybody signs in to the dashboard again.',
  ];
}
