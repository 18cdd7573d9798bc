import { once } from 'node:events';
import { Option, type Command } from 'commander';
import { exportReport, openStatement, type StatementLine } from '../app/dashboard/export-report.ts';
import type { OpenedExport } from '../app/dashboard/exports.ts';
import { isAssetCode, tokenOf } from '../domain/asset.ts';
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
import { findProject } from '../store/projects/projects.ts';
import type { StatementRecord } from '../wire/books.ts';
import { fields } from '../wire/fields.ts';
import { oneOf, projectIdOf } from './arguments.ts';
import { CommandFailure, UsageFailure } from './failure.ts';
import { noProject } from './refusal.ts';
import { withCointill } from './open.ts';
import { print, printsRecord, table, writeErrorLines, type OutputOptions } from './output.ts';

interface DaysOptions {
  readonly project: string;
  readonly mode: Mode;
  readonly period?: Period;
  readonly from?: string;
  readonly to?: string;
  readonly zone: string;
}

interface ExportOptions extends DaysOptions, OutputOptions {
  readonly report: Report;
  readonly coin?: string;
  readonly network?: string;
  readonly separator: 'comma' | 'semicolon';
}

/** `cointill report export` and `cointill report statement`. */
export function addReportCommands(report: Command): void {
  ofDays(report.command('export').description('write payments, transfers, refunds or sweeps to standard output'))
    .addOption(new Option('--report <report>', oneOf(REPORTS)).choices(REPORTS).makeOptionMandatory())
    .option('--coin <coin>', 'only this coin (needs --network)')
    .option('--network <network>', 'only this network (needs --coin)')
    .addOption(
      new Option('--separator <name>', 'the separator of CSV').choices(['comma', 'semicolon']).default('comma'),
    )
    .addOption(new Option('--json', 'write JSON lines instead of CSV'))
    .action((options: ExportOptions) =>
      withProject(options, async ({ app, handle }, scope, days) => {
        const { report: of, json = false, separator } = options;
        const opened = await exportReport(app, () => handle.connect(), {
          scope,
          days,
          report: of,
          token: tokenOption(options),
          format: json ? 'jsonl' : 'csv',
          separator: separator === 'comma' ? ',' : ';',
        });
        await written(opened, async (piece) => {
          if (!process.stdout.write(piece)) await once(process.stdout, 'drain');
        });
      }),
    );
  printsRecord(
    ofDays(report.command('statement').description("reconcile a period's money, coin by coin, to the last unit")),
  ).action((options: DaysOptions & OutputOptions) =>
    withProject(options, async ({ app, handle }, scope, days) => {
      const asked = { scope: { ...scope, withSweeps: true }, days };
      let record: StatementRecord | null = null;
      await written(await openStatement(app, () => handle.connect(), asked), async (piece) => {
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

function tokenOption({ coin, network }: ExportOptions) {
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

const VERDICTS = {
  balanced: 'Balanced to the last unit.',
  explained: 'Balanced, except for the differences listed below.',
  unexplained: 'There is an unexplained difference. Please report this as a bug in Cointill.',
} as const;

/** A statement as text. */
export function linesOf(statement: StatementRecord): readonly string[] {
  const {
    tokens,
    differences,
    over_refunds: overRefunds,
    repeated_refunds: repeated,
    deposit_differences: deposits,
  } = statement;
  return [
    ...fields([
      ['period', `${statement.from_day} to ${statement.to_day} (${statement.zone})`],
      ['result', VERDICTS[statement.verdict]],
    ]),
    '',
    ...table(
      [
        'COIN',
        'NETWORK',
        'OPENING',
        'RECEIVED',
        'APPLIED',
        'EXCESS',
        'NOT ACCEPTED',
        'REFUNDED',
        'CLOSING',
        `${statement.currency} IN`,
        'UNKNOWN',
      ],
      tokens.map((one) => [
        one.coin,
        one.network,
        one.opening,
        one.received,
        one.applied,
        one.excess,
        notAccepted(one),
        one.refunded,
        one.closing,
        one.value_at_receipt.amount,
        String(one.value_at_receipt.unknown),
      ]),
      'No money arrived in this period or before it.',
    ),
    ...listed(
      differences,
      (row) =>
        `${row.payment}: the transfers add up to ${row.transfers} ${row.coin}, but the payment records ${row.payment_sum}.`,
      'payments that differ from their transfers',
    ),
    ...listed(
      overRefunds,
      (row) =>
        `${row.payment}: its refunds, paid or pending, add up to ${row.refunded} ${row.coin}, but only ${row.received} ${row.coin} of its money is confirmed.`,
      'payments whose refunds exceed their confirmed money',
    ),
    ...listed(
      repeated,
      (row) =>
        `${row.refund}: ${row.times} transactions each paid ${row.amount} ${row.coin}, but the refund was owed only once.`,
      'refunds that were paid more than once',
    ),
    ...listed(deposits, depositLine, 'deposits that differ'),
  ];
}

function depositLine(row: StatementRecord['deposit_differences']['rows'][number]): string {
  return (
    `${row.address} received ${row.received} ${row.coin}; ${row.swept} ${row.coin} were swept, and ${row.there} ${row.coin} remain.` +
    (row.from_contracts === null
      ? ''
      : ` The other ${row.from_contracts} ${row.coin} came through a smart contract call, and Cointill did not detect them on arrival.`) +
    (row.is_unclear
      ? ' Money left this address in a block that no node could trace yet. For details, run: cointill network status'
      : '')
  );
}

/** A line for each row, and one that says how many more rows exist. */
function listed<Row>(
  { count, rows }: { readonly count: number; readonly rows: readonly Row[] },
  lineOf: (row: Row) => string,
  what: string,
): readonly string[] {
  const more = count > rows.length ? [`The list above shows the first ${rows.length} of ${count} ${what}.`] : [];
  return [...rows.map(lineOf), ...more];
}

/** The parts of the money that is not accepted, as `open 1, late 0.5`. */
function notAccepted(token: StatementRecord['tokens'][number]): string {
  const parts = (['open', 'underpaid', 'late', 'superseded', 'unquoted', 'lost'] as const)
    .filter((part) => token[part] !== '0')
    .map((part) => `${part} ${token[part]}`);
  return parts.length === 0 ? '0' : parts.join(', ');
}
