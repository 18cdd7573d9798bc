import { once } from 'node:events';
import { Option, type Command } from 'commander';
import { bookingsFile } from '../app/dashboard/export-bookings.ts';
import { exportReport, openStatement, type StatementLine } from '../app/dashboard/export-report.ts';
import type { OpenedExport } from '../app/dashboard/exports.ts';
import { isAssetCode, tokenOf } from '../domain/asset.ts';
import { BOOKING_FORMATS, type BookingFormat } from '../domain/bookkeeping.ts';
import { isNetwork } from '../domain/networks.ts';
import { MODES, type Mode } from '../domain/permission.ts';
import {
  dayProblem,
  daysOfPeriod,
  PERIODS,
  REPORTS,
  type Period,
  type Report,
  type ReportDays,
} from '../domain/report.ts';
import type { Cointill } from '../service/core.ts';
import { knowsZone } from '../store/reports/payment-export.ts';
import { openLongRead } from '../store/long-reads.ts';
import { findProject } from '../store/projects/projects.ts';
import type { StatementRecord } from '../wire/books.ts';
import { oneOf, projectIdOf } from './arguments.ts';
import { CommandFailure, UsageFailure } from './failure.ts';
import { done, noProject } from './refusal.ts';
import { withCointill } from './open.ts';
import { linesOf, summaryLines } from './report-lines.ts';
import { print, printsRecord, writeErrorLines, type OutputOptions } from './output.ts';

interface DaysOptions {
  readonly project: string;
  readonly mode: Mode;
  readonly period?: Period;
  readonly from?: string;
  readonly to?: string;
  readonly zone: string;
}

interface TokenOptions {
  readonly coin?: string;
  readonly network?: string;
}

interface ExportOptions extends DaysOptions, TokenOptions, OutputOptions {
  readonly report: Report;
  readonly separator: 'comma' | 'semicolon';
}

interface BookingsOptions extends DaysOptions, TokenOptions {
  readonly format: BookingFormat;
}

/** `cointill report export`, `cointill report bookings` and `cointill report statement`. */
export function addReportCommands(report: Command): void {
  const exported = report
    .command('export')
    .description('write payments, transfers, refunds or sweeps to standard output');
  ofToken(ofDays(exported))
    .addOption(new Option('--report <report>', oneOf(REPORTS)).choices(REPORTS).makeOptionMandatory())
    .addOption(
      new Option('--separator <name>', 'the separator of CSV').choices(['comma', 'semicolon']).default('comma'),
    )
    .addOption(new Option('--json', 'write JSON lines instead of CSV'))
    .action((options: ExportOptions) =>
      withProject(options, async ({ app, handle }, scope, days) => {
        const { report: of, json = false, separator } = options;
        const opened = await exportReport(app, () => openLongRead(handle), {
          scope,
          days,
          report: of,
          token: tokenOption(options),
          format: json ? 'jsonl' : 'csv',
          separator: separator === 'comma' ? ',' : ';',
        });
        await written(opened, toOutput);
      }),
    );
  addBookingsCommand(report);
  printsRecord(
    ofDays(report.command('statement').description("reconcile a period's money, coin by coin, to the last unit")),
  ).action((options: DaysOptions & OutputOptions) =>
    withProject(options, async ({ app, handle }, scope, days) => {
      const asked = { scope: { ...scope, withSweeps: true }, days };
      let record: StatementRecord | null = null;
      await written(await openStatement(app, () => openLongRead(handle), asked), async (piece) => {
        const line = JSON.parse(String(piece)) as StatementLine;
        if ('step' in line) writeErrorLines([`Adding up ${line.step} …`]);
        if ('statement' in line) record = line.statement;
      });
      if (record === null) {
        throw new CommandFailure(
          'Another statement for this project is being created. Try again when that statement is finished.',
        );
      }
      const statement: StatementRecord = record;
      print(options, statement, () => linesOf(statement));
    }),
  );
}

function addBookingsCommand(report: Command): void {
  const bookings = report.command('bookings').description('write the money received and refunded for DATEV or Xero');
  ofToken(ofDays(bookings))
    .addOption(new Option('--format <format>', oneOf(BOOKING_FORMATS)).choices(BOOKING_FORMATS).makeOptionMandatory())
    .action((options: BookingsOptions) =>
      withProject(options, async ({ app, handle }, { projectId, mode }, days) => {
        const scope = { projectId, mode, withSweeps: true };
        const asked = { scope, days, token: tokenOption(options), format: options.format };
        const file = done(
          await bookingsFile(
            app,
            () => openLongRead(handle),
            asked,
            (summary, currency) => writeErrorLines(summaryLines(summary, currency, options.format)),
          ),
        );
        await written(await file.open(), toOutput);
      }),
    );
}

async function toOutput(piece: Buffer): Promise<void> {
  if (!process.stdout.write(piece)) await once(process.stdout, 'drain');
}

function ofToken(command: Command): Command {
  return command
    .option('--coin <coin>', 'only this coin (needs --network)')
    .option('--network <network>', 'only this network (needs --coin)');
}

function ofDays(command: Command): Command {
  return command
    .requiredOption('--project <id>', "the project's id", projectIdOf)
    .addOption(new Option('--mode <mode>', 'live or test').choices(MODES).default('live'))
    .addOption(
      new Option('--period <period>', 'the period, instead of --from and --to (default: last_month)').choices(PERIODS),
    )
    .option('--from <day>', 'the first day, such as 2026-01-01')
    .option('--to <day>', 'the last day, such as 2026-01-31')
    .option('--zone <zone>', 'the time zone of the days', 'UTC');
}

function withProject(
  options: DaysOptions,
  work: (
    cointill: Cointill,
    scope: { readonly projectId: string; readonly mode: Mode },
    days: ReportDays,
  ) => Promise<void>,
): Promise<void> {
  const { project: projectId } = options;
  return withCointill(async (cointill) => {
    // An offset such as +05:00 is not accepted: PostgreSQL reads its sign the other way round.
    if (!(await knowsZone(cointill.app.db, options.zone))) {
      throw new UsageFailure('--zone must be the name of a time zone, such as Europe/Berlin.');
    }
    const days = daysOption(options, cointill.app.clock());
    if ((await findProject(cointill.app.db, projectId)) === null) throw noProject(projectId);
    await work(cointill, { projectId, mode: options.mode }, days);
  });
}

function daysOption({ period, from, to, zone }: DaysOptions, now: number): ReportDays {
  if (from === undefined && to === undefined) return daysOfPeriod(period ?? 'last_month', zone, now);
  if (period !== undefined || from === undefined || to === undefined) {
    throw new UsageFailure('Give both --from and --to, or only --period.');
  }
  for (const [name, day] of [
    ['--from', from],
    ['--to', to],
  ] as const) {
    const problem = dayProblem(day);
    if (problem !== null) throw new UsageFailure(`${name} ${problem}`);
  }
  if (to < from) throw new UsageFailure('--to must not be before --from.');
  return { from, to, zone };
}

function tokenOption({ coin, network }: TokenOptions) {
  if (coin === undefined && network === undefined) return null;
  const asset = coin?.toUpperCase() ?? '';
  const token = isAssetCode(asset) && network !== undefined && isNetwork(network) ? tokenOf(asset, network) : null;
  if (token === null)
    throw new UsageFailure('Give a coin with both --coin and --network, such as --coin BTC --network bitcoin.');
  return { asset: token.asset, network: token.network };
}

async function written(opened: OpenedExport, take: (piece: Buffer) => Promise<void>): Promise<void> {
  if (opened.kind === 'busy') {
    throw new CommandFailure('Two exports are already running. Try again when one of them has finished.');
  }
  await opened.file.write(take);
}
