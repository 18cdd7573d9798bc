import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createConcurrencyLimit } from '../../../app/concurrency-limit.ts';
import { decimalsOf, exportReport, openStatement, tokensOf } from '../../../app/dashboard/export-report.ts';
import { roleOfOpenSession } from '../../../app/people/open-session.ts';
import { tokenOf, type Token } from '../../../domain/asset.ts';
import { formatDecimal } from '../../../domain/money.ts';
import { daysOfPeriod, spanOf, type ReportDays } from '../../../domain/report.ts';
import { mayDo, refusalOf } from '../../../domain/role.ts';
import { knowsZone } from '../../../store/reports/payment-export.ts';
import type { ReportSelection } from '../../../store/reports/report-export.ts';
import { reportTotals, type ReportTotal } from '../../../store/reports/report-totals.ts';
import { isoTime } from '../../../wire/time.ts';
import { readDay } from '../../dates.ts';
import { invalid, RequestError } from '../../errors.ts';
import { CONTRACT, type QueryOf } from '../contract.ts';
import { addRoute, appFor, signedInOf, type Dashboard } from '../route.ts';
import { scopeOf, type ProjectScope } from '../scope.ts';
import type { FileSender } from '../send-file.ts';
import type { AskedDays, ReportExportRequest } from './contract.ts';

const URL = '/dashboard/api/projects/:project/:mode/reports';
type Params = { readonly project: string; readonly mode: string };

/** How many previews a project may compute at once: each takes a connection for seconds, which creations need. */
const MAX_PREVIEWS = 2;

/** The page of reports. */
export function reportRoutes(app: FastifyInstance, dashboard: Dashboard, send: FileSender): void {
  const { app: core } = dashboard.people;
  const limited = createConcurrencyLimit(MAX_PREVIEWS);
  addRoute(app, `GET ${URL}`, { action: 'read_payments' }, async ({ params, query, request }) => {
    const scope = scopeOf(request, params);
    const days = await readDays(dashboard, query);
    const selection = selectionOf(scope, query, days);
    const tokens = tokensOf(core, scope.mode);
    const totals = await limited(scope.projectId, async () =>
      // Nobody reads the answer once the page shows another report.
      request.raw.socket.destroyed ? null : reportTotals(core.db, selection),
    );
    const { seenTokens } = core.railFor(scope.mode);
    return {
      from_day: days.from,
      to_day: days.to,
      zone: days.zone,
      from: isoTime(selection.span.startAt),
      until: isoTime(selection.span.endAt),
      totals: totals === null ? null : totals.map((total) => totalView(total, tokens)),
      tokens: seenTokens.map(({ asset, network }) => ({ coin: asset, network })),
    };
  });

  const mayRead = (request: FastifyRequest, scope: ProjectScope) => async (): Promise<boolean> =>
    (await roleOfOpenSession(core, signedInOf(request), scope.projectId, 'read_payments')) === scope.role;

  app.post<{ Params: Params; Body: ReportExportRequest }>(
    `${URL}/export`,
    routeOf(`POST ${URL}/export`),
    async (request, reply) => {
      const scope = scopeOf(request, request.params);
      const { format = 'csv', separator = 'comma', ...asked } = request.body;
      const days = await readDays(dashboard, asked);
      const { report, token } = selectionOf(scope, asked, days);
      const file = {
        scope: { projectId: scope.projectId, mode: scope.mode },
        report,
        token,
        days,
        format,
        separator: separator === 'comma' ? (',' as const) : (';' as const),
      };
      const open = () => exportReport(appFor(core, request), dashboard.exports.connect, file);
      const name = `${report}-${scope.mode}-${days.from}-${days.to}`;
      return send(request, reply, open, { name, format, mayRead: mayRead(request, scope) });
    },
  );

  app.post<{ Params: Params; Body: AskedDays }>(
    `${URL}/statement`,
    routeOf(`POST ${URL}/statement`),
    async (request, reply) => {
      const scope = scopeOf(request, request.params);
      const days = await readDays(dashboard, request.body);
      const withSweeps = mayDo(scope.role, 'read_wallets');
      const asked = { scope: { projectId: scope.projectId, mode: scope.mode, withSweeps }, days };
      const open = () => openStatement(appFor(core, request), dashboard.exports.connect, asked);
      const name = `statement-${scope.mode}-${days.from}-${days.to}`;
      return send(request, reply, open, { name, format: 'jsonl', mayRead: mayRead(request, scope) });
    },
  );
}

function routeOf(name: `POST ${typeof URL}/${'export' | 'statement'}`) {
  const { params, body } = CONTRACT[name];
  return {
    config: { guard: { kind: 'session', action: 'read_payments' }, stream: true },
    schema: { hide: true, params, body },
  } as const;
}

/** @throws RequestError if they are no days of a known zone, or a period beside days */
async function readDays({ people: { app } }: Dashboard, asked: AskedDays): Promise<ReportDays> {
  const { period, from, to, zone = 'UTC' } = asked;
  if (!(await knowsZone(app.db, zone))) {
    throw invalid('zone', 'zone must be the name of a time zone such as Europe/Berlin, or UTC.');
  }
  if (from === undefined && to === undefined) return daysOfPeriod(period ?? 'last_month', zone, app.clock());
  if (period !== undefined) throw invalid('period', 'period cannot be given beside from and to: leave one out.');
  if (from === undefined || to === undefined) {
    const missing = from === undefined ? 'from' : 'to';
    throw invalid(missing, `from and to are given together: add ${missing}, or leave the other one out.`);
  }
  const days = { from: readDay('from', from), to: readDay('to', to), zone };
  if (days.to < days.from) throw invalid('to', `to must not be before from, which is ${days.from}.`);
  return days;
}

/** @throws RequestError for a token that does not exist, and for sweeps if the person may not see wallets */
function selectionOf(
  { projectId, mode, role }: ProjectScope,
  { report, coin, network }: Pick<QueryOf<`GET ${typeof URL}`>, 'report' | 'coin' | 'network'>,
  days: ReportDays,
): ReportSelection {
  if (report === 'sweeps' && !mayDo(role, 'read_wallets')) {
    throw new RequestError('permission_error', refusalOf(role, 'read_wallets'));
  }
  if ((coin === undefined) !== (network === undefined)) {
    const missing = coin === undefined ? 'coin' : 'network';
    throw invalid(missing, `coin and network are given together: add ${missing}, or leave the other one out.`);
  }
  const token = coin === undefined || network === undefined ? null : { asset: coin, network };
  if (token !== null && tokenOf(token.asset, token.network) === null) {
    throw invalid('network', `There is no ${token.asset} on ${token.network}.`);
  }
  return { report, scope: { projectId, mode }, span: spanOf(days), token };
}

function totalView(
  { asset, network, decimals, rows, units, usdCents, unvalued }: ReportTotal,
  tokens: readonly Token[],
) {
  const known = asset === null || network === null ? 0 : decimalsOf(tokens, { asset, network });
  return {
    coin: asset,
    network,
    rows,
    amount: formatDecimal(units, decimals ?? known),
    usd: formatDecimal(usdCents, 2),
    unknown: unvalued,
  };
}
