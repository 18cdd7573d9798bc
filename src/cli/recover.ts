import path from 'node:path';
import type { Command } from 'commander';
import { recover, type Recovery } from '../app/chains/recover.ts';
import { GAP_LIMIT } from '../domain/networks.ts';
import { formatTransactionNumber } from '../domain/transaction-number.ts';
import { isoTime } from '../wire/time.ts';
import { addBookCommand } from './recover-book.ts';
import { readConfig } from '../config/config.ts';
import { takeSealingKey } from '../service/sealing-key.ts';
import { KEY_FILE_NAME } from '../webhooks/secret.ts';
import { wholeNumber } from './arguments.ts';
import { CommandFailure, UsageFailure } from './failure.ts';
import { withCointill } from './open.ts';
import { addLine, concerning, otherCopiesOf, noteOf, notesFileIn, readNotes } from '../backup/restore-notes.ts';
import { fields } from '../wire/fields.ts';
import { print, printsRecord, writeErrorLines, type OutputOptions } from './output.ts';
import { inTransaction } from '../app/in-transaction.ts';

interface RecoverOptions extends OutputOptions {
  readonly since?: string;
  readonly skip?: number;
  readonly backups?: string;
}

/** A failover without synchronous replication loses seconds: an hour is plenty. */
const DEFAULT_LOST_MS = 60 * 60_000;
const MAX_SKIP = 10_000_000;

/** `cointill recover`, `cointill recover book` and `cointill recover key`. */
export function addRecoverCommands(recovering: Command): void {
  withSkip(
    printsRecord(
      recovering.description(
        'skip addresses and numbers that a lost or second copy may have handed out; run this after a failover that may have lost data, or if a second copy took orders',
      ),
    ),
  )
    .option('--since <time>', 'when the data loss may have begun, such as 2026-11-22T03:10:00Z (default: an hour ago)')
    .option(
      '--backups <folder>',
      'the folder of the restored backups, with the notes about the restored copies (default: BACKUP_DIR)',
    )
    .action((options: RecoverOptions) => {
      const now = Date.now();
      const lostSince = options.since === undefined ? now - DEFAULT_LOST_MS : timeOf(options.since, now);
      const folder = options.backups ?? readConfig(process.env, process.cwd()).backups?.folder ?? null;
      return withCointill(async ({ app }) => {
        const copies = await copiesOf(folder, now);
        const request = {
          // A copy may have been selling ever since it was restored.
          lostSince: Math.min(lostSince, ...copies.notes.map((note) => Date.parse(note.restored_at))),
          now,
          skip: options.skip ?? null,
          otherCopies: otherCopiesOf(copies.notes),
        };
        const recovery = await inTransaction(app, (trx) => recover(app, trx, request));
        const fault = await copies.note(recovery);
        if (fault !== null) writeErrorLines([`Warning: ${fault}`]);
        print(options, recoveryRecord(recovery), () => recoveryLines(recovery));
      });
    });

  addBookCommand(recovering);
  addKeyCommand(recovering);
}

/** `cointill recover key`. */
function addKeyCommand(recover: Command): void {
  printsRecord(
    recover
      .command('key')
      .description('make the current SECRET_KEY or secret.key the key of the database, if its old key is lost'),
    // Options that both commands have are parsed by the parent command.
  ).action((_options: unknown, own: Command) => takeKey(own.optsWithGlobals()));
}

function takeKey(options: OutputOptions): Promise<void> {
  const { secretKey } = readConfig(process.env, process.cwd());
  return withCointill(async ({ handle, sealingKeys }) => {
    const [present] = await sealingKeys({ lost: true });
    await takeSealingKey(handle.db, present);
    const key = secretKey === null ? KEY_FILE_NAME : 'SECRET_KEY';
    print(options, { key: secretKey === null ? 'file' : 'setting' }, () => [
      `${key} is the key of this database from now on. Every process and command needs the same key.`,
    ]);
  });
}

/** The copies restored from a folder's backups, and the function that notes there where this installation continues. */
async function copiesOf(folder: string | null, now: number) {
  if (folder === null) return { notes: [], note: async () => null };
  const file = notesFileIn(path.resolve(folder));
  const { notes, problem } = await readNotes(file);
  if (problem !== null)
    throw new CommandFailure(`${file}: ${problem}. Fix this file, or move it away and give --skip 3000.`);
  return {
    notes: concerning({ takenAt: now }, notes),
    note: async (recovery: Recovery): Promise<string | null> => {
      if (notes.length === 0) return null;
      const fault = await addLine(file, noteOf(recovery, { now, file: 'recover', place: 'the installation itself' }));
      return fault === null ? null : `the skipped numbers could not be noted in ${file} (${fault}).`;
    },
  };
}

export function withSkip(command: Command): Command {
  return command.option(
    '--skip <n>',
    'how many addresses of each wallet, and how many transaction numbers, to skip (default: estimated from the busiest day and the time lost, at least 1000)',
    wholeNumber(1, MAX_SKIP),
  );
}

function timeOf(text: string, now: number): number {
  const at = /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:\d{2})$/.test(text) ? Date.parse(text) : NaN;
  if (at <= now) return at;
  throw new UsageFailure('--since must be a time in the past with its zone, such as 2026-11-22T03:10:00Z.');
}

/** The result of a recovery, as commands report it. */
export function recoveryRecord({ lostSince, wallets, numbers, waitingDeliveries }: Recovery): object {
  return {
    lost_since: isoTime(lostSince),
    wallets: wallets.map(({ network, projectIds, from, to, gapLimit }) => ({
      network,
      project_ids: projectIds,
      skipped_from: from,
      next_index: to,
      gap_limit: gapLimit,
    })),
    transaction_numbers: numbers.map(({ projectId, mode, year, last, to }) => ({
      project_id: projectId,
      mode,
      last: last === 0 ? null : formatTransactionNumber(year, last),
      next: formatTransactionNumber(year, to + 1),
    })),
    deliveries_waiting: waitingDeliveries,
  };
}

export function recoveryLines({ lostSince, wallets, numbers, waitingDeliveries }: Recovery): readonly string[] {
  const used = numbers.filter(({ last }) => last > 0);
  return [
    ...fields([
      ['Lost since', isoTime(lostSince)],
      ...wallets.map(({ network, from, to }): [string, string] => [
        'Addresses',
        `${network}: numbers ${from} to ${to - 1} are skipped but stay watched; the next is number ${to}`,
      ]),
      ...used.map(({ mode, year, last, to }): [string, string] => [
        'Numbers',
        `${mode}: after ${formatTransactionNumber(year, last)} comes ${formatTransactionNumber(year, to + 1)}`,
      ]),
    ]),
    ...gapLines(wallets),
    ...(waitingDeliveries === 0
      ? []
      : [
          '',
          `${waitingDeliveries} webhooks are waiting. Webhooks that were delivered in the lost time are sent again, with the same ids.`,
        ]),
    ...(wallets.length === 0
      ? []
      : [
          '',
          'The event payment.lost reports money that arrives at the skipped addresses. To see this money, run: cointill network status',
        ]),
  ];
}

/** Only wallets with keys scan for their addresses; deposit contracts are known by index. */
function gapLines(wallets: Recovery['wallets']): readonly string[] {
  return wallets
    .filter(({ gapLimit }) => gapLimit !== null)
    .flatMap(({ network, gapLimit }) => [
      '',
      `Most wallets stop looking after ${GAP_LIMIT} addresses without money. Raise the gap limit of your ${network} wallet to ${gapLimit} or more, so that the wallet finds later payments.`,
    ]);
}
