import { roleError } from '../../page-sentences.ts';
import { createConcurrencyLimit } from '../../../app/concurrency-limit.ts';
import { decimalsOf, exportReport, openStatement, tokensOf } from '../../../app/dashboard/export-report.ts';
import { tokenOf, type Token } from '../../../domain/asset.ts';
import { fiatDecimals, formatDecimal, type Fiat } from '../../../domain/money.ts';
import { daysOfPeriod, spanOf, type ReportDays } from '../../../domain/report.ts';
import { mayDo } from '../../../domain/role.ts';
import { knowsZone } from '../../../store/reports/payment-export.ts';
import type { ReportSelection } from '../../../store/reports/report-export.ts';
import { reportTotals, type ReportTotal } from '../../../store/reports/report-totals.ts';
import { currencyOf } from '../../../store/projects/projects.ts';
import { isoTime } from '../../../wire/time.ts';
import { readDay } from '../../dates.ts';
import { invalid } from '../../errors.ts';
import { badField } from '../refusal-words.ts';
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
  routes.add(`GET ${URL}`, { action: 'read_payments' }, async ({ scope, query, request }) => {
    const days = await readDays(dashboard, query);
    const selection = selectionOf(scope, query, days);
    const tokens = tokensOf(core, scope.mode);
    const currency = await currencyOf(core.db, scope.projectId);
    const totals = await limited(scope.projectId, async () =>
      // Nobody reads the answer once the page shows another report.
      request.raw.socket.destroyed ? null : reportTotals(core.db, selection, currency),
    );
    const { seenTokens } = core.railFor(scope.mode);
    return {
      from_day: days.from,
      to_day: days.to,
      zone: days.zone,
      from: isoTime(selection.span.startAt),
      until: isoTime(selection.span.endAt),
      currency,
      totals: totals === null ? null : totals.map((total) => totalView(total, tokens, currency)),
      tokens: seenTokens.map(({ asset, network }) => ({ coin: asset, network })),
    };
  });

  routes.file(`POST ${URL}/export`, 'read_payments', async ({ scope, body, own }) => {
    const { projectId, mode } = scope;
    const days = await readDays(dashboard, body);
    const { report, token } = selectionOf(scope, body, days);
    const file = { scope: { projectId, mode }, report, token, days, ...writingOf(body) };
    const open = () => exportReport(own, dashboard.exports.connect, file);
    return { name: `${report}-${mode}-${days.from}-${days.to}`, format: file.format, open };
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

/** @throws RequestError for a token that does not exist, and for sweeps if the person may not see wallets */
function selectionOf(
  { projectId, mode, role }: ProjectScope,
  { report, coin, network }: Pick<QueryOf<`GET ${typeof URL}`>, 'report' | 'coin' | 'network'>,
  days: ReportDays,
): ReportSelection {
  if (report === 'sweeps' && !mayDo(role, 'read_wallets')) {
    throw roleError(role, 'read_wallets');
  }
  if ((coin === undefined) !== (network === undefined)) {
    const missing = coin === undefined ? 'coin' : 'network';
    throw invalid(missing, `coin and network must be given together, but ${missing} is missing.`);
  }
  const token = coin === undefined || network === undefined ? null : { asset: coin, network };
  if (token !== null && tokenOf(token.asset, token.network) === null) {
    throw invalid('network', `There is no ${token.asset} on ${token.network}.`);
  }
  return { report, scope: { projectId, mode }, span: spanOf(days), token };
}

function totalView(
  { asset, network, decimals, rows, units, value, unvalued }: ReportTotal,
  tokens: readonly Token[],
  currency: Fiat,
) {
  const known = asset === null || network === null ? 0 : decimalsOf(tokens, { asset, network });
  return {
    coin: asset,
    network,
    rows,
    amount: formatDecimal(units, decimals ?? known),
    value: formatDecimal(value, fiatDecimals(currency)),
    unknown: unvalued,
  };
}
