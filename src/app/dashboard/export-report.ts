import type { Client } from 'pg';
import { allTokens, type Token } from '../../domain/asset.ts';
import { statementOf, type BookStep, type Statement } from '../../domain/books.ts';
import type { Mode, ProjectMode } from '../../domain/permission.ts';
import { spanOf, type ReportDays } from '../../domain/report.ts';
import { onConnection } from '../../store/one-connection.ts';
import { currencyOf } from '../../store/projects/projects.ts';
import { readBooks, takeBooksSlot } from '../../store/reports/report-books.ts';
import { copyReport, type ReportFile } from '../../store/reports/report-export.ts';
import { statementRecord, type StatementRecord } from '../../wire/books.ts';
import type { AuditedChange } from '../audit.ts';
import type { ConnectToRead } from '../../store/long-reads.ts';
import type { App } from '../context.ts';
import { openExport, type OpenedExport } from './exports.ts';

/** A report, as it was asked for. */
export interface AskedReport {
  readonly scope: ProjectMode;
  readonly days: ReportDays;
}

/** A statement, as it was asked for; without `withSweeps` it omits what only people who may see wallets may know. */
export interface AskedStatement extends AskedReport {
  readonly scope: ProjectMode & { readonly withSweeps: boolean };
}

/**
 * All tokens with their decimals here: the operator may have configured another contract than the well-known one, or
 * have switched a network off since it received money.
 */
export function tokensOf({ railFor }: Pick<App, 'railFor'>, mode: Mode): readonly Token[] {
  const { seenTokens } = railFor(mode);
  const isSeen = ({ asset, network }: Token): boolean =>
    seenTokens.some((seen) => seen.asset === asset && seen.network === network);
  return [...seenTokens, ...allTokens().filter((token) => !isSeen(token))];
}

/** A token's decimals here; 0 if the token is unknown. */
export function decimalsOf(tokens: readonly Token[], { asset, network }: { asset: string; network: string }): number {
  return tokens.find((token) => token.asset === asset && token.network === network)?.decimals ?? 0;
}

/** The entry in the audit log of a report that somebody asked for. */
export function audited(
  { scope, days }: AskedReport,
  action: string,
  more: Readonly<Record<string, unknown>>,
): AuditedChange {
  return {
    action,
    projectId: scope.projectId,
    subject: { kind: 'report', id: null },
    after: { mode: scope.mode, ...days, ...more },
  };
}

/** Opens the file of a report. */
export function exportReport(
  app: App,
  connect: ConnectToRead,
  { days, ...file }: AskedReport & Omit<ReportFile, 'span' | 'tokens' | 'zone'>,
): Promise<OpenedExport> {
  const { scope, report, token, format, separator } = file;
  const span = spanOf(days);
  const tokens = tokensOf(app, scope.mode);
  const about = { report, format, ...(token !== null && { coin: token.asset, network: token.network }) };
  return openExport(app, connect, {
    audited: audited({ scope, days }, 'report.export', about),
    copy: (client, take) =>
      copyReport(client, { report, scope, token, span, tokens, zone: days.zone, format, separator }, take),
  });
}

/** A line of the file of a statement: its progress, and at last the statement. */
export type StatementLine =
  | { readonly step: BookStep }
  | { readonly statement: StatementRecord }
  /** Another statement of the project is being made. */
  | { readonly busy: true };

/**
 * Opens a statement of a project's money, reconciled to the last unit. The file is written as JSON lines, so that the
 * reader sees the progress; one at a time per project.
 */
export function openStatement(app: App, connect: ConnectToRead, asked: AskedStatement): Promise<OpenedExport> {
  return openExport(app, connect, {
    audited: audited(asked, 'report.statement', {}),
    copy: async (client, take) => {
      const say = (line: StatementLine): Promise<void> => take(Buffer.from(`${JSON.stringify(line)}\n`));
      if (!(await takeBooksSlot(client, asked.scope.projectId))) {
        await say({ busy: true });
        return 0;
      }
      const [span, madeAt] = [spanOf(asked.days), app.clock()];
      const statement = await makeStatement(app, client, asked, (step) => say({ step }));
      await say({ statement: statementRecord(statement, asked.days, span, madeAt) });
      return 1;
    },
  });
}

/** Adds up a project's money on a connection of its own. */
export async function makeStatement(
  app: Pick<App, 'railFor'>,
  client: Client,
  { scope, days }: AskedStatement,
  onStep: (step: BookStep) => Promise<void>,
): Promise<Statement> {
  const currency = await currencyOf(onConnection(client), scope.projectId);
  const books = await readBooks(client, { ...scope, currency }, spanOf(days), onStep);
  const tokens = tokensOf(app, scope.mode);
  return statementOf(books, (token) => decimalsOf(tokens, token));
}
