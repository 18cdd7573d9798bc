import { roleError } from '../../page-sentences.ts';
import { createConcurrencyLimit } from '../../../app/concurrency-limit.ts';
import type { App } from '../../../app/context.ts';
import { bookingsFile, previewBookings } from '../../../app/dashboard/export-bookings.ts';
import { decimalsOf, exportReport, openStatement, tokensOf } from '../../../app/dashboard/export-report.ts';
import { BOOKING_FORMATS } from '../../../domain/bookkeeping.ts';
import { tokenOf, type Token } from '../../../domain/asset.ts';
import { fiatDecimals, formatDecimal, type Fiat } from '../../../domain/money.ts';
import { daysOfPeriod, spanOf, type Report, type ReportDays, type ReportSpan } from '../../../domain/report.ts';
import { mayDo } from '../../../domain/role.ts';
import { knowsZone } from '../../../store/reports/payment-export.ts';
import type { ReportSelection } from '../../../store/reports/report-export.ts';
import { reportTotals, type ReportTotal } from '../../../store/reports/report-totals.ts';
import { currencyOf } from '../../../store/projects/projects.ts';
import { isoTime } from '../../../wire/time.ts';
import { readDay } from '../../dates.ts';
import { invalid } from '../../errors.ts';
import { badField, done } from '../refusal-words.ts';
import type { QueryOf } from '../contract.ts';
import type { Dashboard, Routes } from '../route.ts';
import type { ProjectScope } from '../scope.ts';
import type { AskedDays } from './contract.ts';
import { writingOf } from '../record-parts.ts';

const URL = '/dashboard/api/projects/:project/:mode/reports';

/** How many previews a project may compute at once: each takes a connection for seconds, which creations need. */
const MAX_PREVIEWS = 2;

/** The page of reports. */
export function reportRoutes(routes: Routes, dashboard: Dashboard): void {
  const { app: core } = dashboard.people;
  const limited = createConcurrencyLimit(MAX_PREVIEWS);
  routes.add(`GET ${URL}`, { action: 'read_payments' }, async ({ scope, query, request, own }) => {
    const days = await readDays(dashboard, query);
    const span = spanOf(days);
    const currency = await currencyOf(core.db, scope.projectId);
    const { totals, leftOut } = await limited(scope.projectId, async () => {
      // Nobody reads the answer once the page shows another report.
      if (request.raw.socket.destroyed) return NO_PREVIEW;
      if (query.report === 'bookings') return bookingsView(own, scope, query, days, currency);
      const found = await reportTotals(core.db, selectionOf(scope, query.report, tokenIn(query), span), currency);
      const tokens = tokensOf(core, scope.mode);
      return { ...NO_PREVIEW, totals: found?.map((total) => totalView(total, tokens, currency)) ?? null };
    });
    return {
      from_day: days.from,
      to_day: days.to,
      zone: days.zone,
      from: isoTime(span.startAt),
      until: isoTime(span.endAt),
      currency,
      totals,
      left_out: { count: leftOut.count, rows: [...leftOut.rows] },
      tokens: core.railFor(scope.mode).seenTokens.map(({ asset, network }) => ({ coin: asset, network })),
    };
  });

  routes.file(`POST ${URL}/export`, 'read_payments', async ({ scope, body, own }) => {
    const { projectId, mode } = scope;
    const days = await readDays(dashboard, body);
    const { report, format = 'csv', separator } = body;
    if (report === 'bookings') {
      const asked = askedBookings(scope, { ...body, format }, days);
      const { name, open } = done(await bookingsFile(own, dashboard.exports.connect, asked));
      return { name, format: 'csv', open, ...(asked.format === 'datev' && { charset: 'windows-1252' }) };
    }
    if (format !== 'csv' && format !== 'jsonl') throw invalid('format', 'Only bookings have the format of a program.');
    const { token } = selectionOf(scope, report, tokenIn(body), spanOf(days));
    const file = { scope: { projectId, mode }, report, token, days, ...writingOf({ format, separator }) };
    const open = () => exportReport(own, dashboard.exports.connect, file);
    return { name: `${report}-${mode}-${days.from}-${days.to}`, format, open };
  });
  routes.file(`POST ${URL}/statement`, 'read_payments', async ({ scope, body, own }) => {
    const { projectId, mode, role } = scope;
    const days = await readDays(dashboard, body);
    const asked = { scope: { projectId, mode, withSweeps: mayDo(role, 'read_wallets') }, days };
    const open = () => openStatement(own, dashboard.exports.connect, asked);
    return { name: `statement-${mode}-${days.from}-${days.to}`, format: 'jsonl', open };
  });
}

/** @throws RequestError if they are no days of a known zone, or a period beside days */
async function readDays({ people: { app } }: Dashboard, asked: AskedDays): Promise<ReportDays> {
  const { period, from, to, zone = 'UTC' } = asked;
  if (!(await knowsZone(app.db, zone))) {
    throw invalid('zone', 'zone must be the name of a time zone such as Europe/Berlin, or UTC.');
  }
  if (from === undefined && to === undefined) return daysOfPeriod(period ?? 'last_month', zone, app.clock());
  if (period !== undefined) throw invalid('period', 'Give either period, or from and to, but not both.');
  if (from === undefined || to === undefined) {
    const missing = from === undefined ? 'from' : 'to';
    throw invalid(missing, `from and to must be given together, but ${missing} is missing.`);
  }
  const days = { from: readDay('from', from), to: readDay('to', to), zone };
  if (days.to < days.from) throw badField('to', 'days_swapped', { from: days.from });
  return days;
}

type Query = QueryOf<`GET ${typeof URL}`>;

/** @throws RequestError for a token that does not exist */
function tokenIn({ coin, network }: Pick<Query, 'coin' | 'network'>): ReportSelection['token'] {
  if ((coin === undefined) !== (network === undefined)) {
    const missing = coin === undefined ? 'coin' : 'network';
    throw invalid(missing, `coin and network must be given together, but ${missing} is missing.`);
  }
  if (coin === undefined || network === undefined) return null;
  if (tokenOf(coin, network) === null) throw invalid('network', `There is no ${coin} on ${network}.`);
  return { asset: coin, network };
}

/** @throws RequestError for sweeps if the person may not see wallets */
function selectionOf(
  { projectId, mode, role }: ProjectScope,
  report: Report,
  token: ReportSelection['token'],
  span: ReportSpan,
): ReportSelection {
  if (report === 'sweeps' && !mayDo(role, 'read_wallets')) {
    throw roleError(role, 'read_wallets');
  }
  return { report, scope: { projectId, mode }, span, token };
}

/** @throws RequestError without the format of a program */
function askedBookings(
  { projectId, mode, role }: ProjectScope,
  asked: Pick<Query, 'coin' | 'network'> & { readonly format?: string },
  days: ReportDays,
) {
  const format = BOOKING_FORMATS.find((one) => one === asked.format);
  if (format === undefined) throw invalid('format', `The format of bookings must be ${BOOKING_FORMATS.join(' or ')}.`);
  return { scope: { projectId, mode, withSweeps: mayDo(role, 'read_wallets') }, days, token: tokenIn(asked), format };
}

const NO_PREVIEW = { totals: null, leftOut: { count: 0, rows: [] } } as const;

async function bookingsView(own: App, scope: ProjectScope, query: Query, days: ReportDays, currency: Fiat) {
  const { summary } = done(await previewBookings(own, askedBookings(scope, query, days)));
  if (summary === null) return NO_PREVIEW;
  const totals = summary.sums.map(({ kind, asset, network, rows, amount, value, unvalued }) => {
    const isOut = kind !== 'receipt';
    return {
      kind,
      coin: asset,
      network,
      rows,
      amount: isOut && amount !== '0' ? `-${amount}` : amount,
      value: formatDecimal(isOut ? -value : value, fiatDecimals(currency)),
      unknown: unvalued,
    };
  });
  return { totals, leftOut: summary.leftOut };
}

function totalView(
  { asset, network, decimals, rows, units, value, unvalued }: ReportTotal,
  tokens: readonly Token[],
  currency: Fiat,
) {
  const known = asset === null || network === null ? 0 : decimalsOf(tokens, { asset, network });
  return {
    kind: null,
    coin: asset,
    network,
    rows,
    amount: formatDecimal(units, decimals ?? known),
    value: formatDecimal(value, fiatDecimals(currency)),
    unknown: unvalued,
  };
}
