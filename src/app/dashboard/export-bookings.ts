import { isInOneMonth, type BookingFormat } from '../../domain/bookkeeping.ts';
import { spanOf } from '../../domain/report.ts';
import type { Fiat } from '../../domain/money.ts';
import { findProject } from '../../store/projects/projects.ts';
import {
  bookingSummary,
  copyBookings,
  type BookingFile,
  type BookingSummary,
} from '../../store/reports/booking-export.ts';
import type { BookingSelection } from '../../store/reports/booking-rows.ts';
import { forPreview } from '../../store/reports/report-totals.ts';
import { isoTime } from '../../wire/time.ts';
import type { ConnectToRead } from '../../store/long-reads.ts';
import type { App } from '../context.ts';
import { noProject, rejected, type Rejected } from '../rejected.ts';
import { audited, tokensOf, type AskedStatement } from './export-report.ts';
import { openExport, type OpenedExport } from './exports.ts';

/** Bookings, as they were asked for; without `withSweeps` they omit fees. */
interface AskedBookings extends AskedStatement {
  readonly token: BookingSelection['token'];
  readonly format: BookingFormat;
}

/** The file of bookings, unless its format has no place for them. Fees are in it where they have an account. */
async function plan(
  app: App,
  { scope, days, token, format }: AskedBookings,
): Promise<{ readonly kind: 'done'; readonly file: BookingFile } | Rejected> {
  const project = await findProject(app.db, scope.projectId);
  if (project === null) return noProject(scope.projectId);
  const { datev: settings } = project;
  const currency = project.defaultCurrency ?? 'USD';
  const file = {
    scope: { projectId: scope.projectId, mode: scope.mode, currency },
    days,
    span: spanOf(days),
    token,
    tokens: tokensOf(app, scope.mode),
  };
  if (format === 'xero') return { kind: 'done', file: { ...file, withFees: false, software: { format } } };
  if (settings === null) return rejected('datev_not_set');
  if (currency !== 'EUR') return rejected('datev_currency', { currency });
  if (!isInOneMonth(days)) return rejected('datev_month', { param: 'to' });
  const withFees = scope.withSweeps && settings.feesAccount !== null;
  const madeAt = isoTime(app.clock()).replaceAll(/\D/g, '');
  return { kind: 'done', file: { ...file, withFees, software: { format, settings, madeAt } } };
}

/** The sums of a file of bookings, and the movements without one; null if computing them takes too long. */
export async function previewBookings(
  app: App,
  asked: AskedBookings,
): Promise<{ readonly kind: 'done'; readonly summary: BookingSummary | null } | Rejected> {
  const planned = await plan(app, asked);
  if (planned.kind === 'rejected') return planned;
  const { file } = planned;
  return { kind: 'done', summary: await forPreview(app.db, (trx) => bookingSummary(trx, file, file.days.zone)) };
}

/** A file of bookings that can be opened. `onSummary` is called before the first byte of the file. */
export async function bookingsFile(
  app: App,
  connect: ConnectToRead,
  asked: AskedBookings,
  onSummary?: (summary: BookingSummary, currency: Fiat) => void,
): Promise<{ readonly kind: 'done'; readonly name: string; readonly open: () => Promise<OpenedExport> } | Rejected> {
  const planned = await plan(app, asked);
  if (planned.kind === 'rejected') return planned;
  const { scope, days, token, format } = asked;
  const { file } = planned;
  const about = { report: 'bookings', format, ...(token !== null && { coin: token.asset, network: token.network }) };
  // DATEV finds its files by the beginning of their names.
  const prefix = format === 'datev' ? 'EXTF_' : 'xero-';
  return {
    kind: 'done',
    name: `${prefix}bookings-${scope.mode}-${days.from}-${days.to}`,
    open: () =>
      openExport(app, connect, {
        audited: audited({ scope, days }, 'report.export', about),
        copy: (client, take) =>
          copyBookings(client, file, take, (summary) => onSummary?.(summary, file.scope.currency)),
      }),
  };
}
