import type { FastifyInstance, FastifyRequest } from 'fastify';
import { exportPayments } from '../../../app/dashboard/exports.ts';
import { search } from '../../../app/dashboard/search.ts';
import { roleOfOpenSession } from '../../../app/people/open-session.ts';
import { ASSET_CODES } from '../../../domain/asset-code.ts';
import { EXPORT_COLUMNS, USUAL_COLUMNS } from '../../../domain/export-column.ts';
import { FIATS } from '../../../domain/money.ts';
import { NETWORK_FACTS, NETWORKS } from '../../../domain/networks.ts';
import { searchPayments } from '../../../store/payments/payment-list.ts';
import { knowsZone, type PaymentExport } from '../../../store/reports/payment-export.ts';
import { invalid } from '../../errors.ts';
import { paymentRow } from '../payments/record.ts';
import { addRoute, appFor, signedInOf, type Dashboard } from '../route.ts';
import { scopeOf, type ProjectScope } from '../scope.ts';
import type { FileSender } from '../send-file.ts';
import { paymentListContract, type ExportRequest } from './contract.ts';
import { readAfter, readFilters } from './filters.ts';

const PROJECT = '/dashboard/api/projects/:project/:mode';
const PAYMENTS = `${PROJECT}/payments` as const;
const READ = { action: 'read_payments' } as const;
const PAGE = 50;
const HITS = 8;

/** The list of both APIs' payments, and one box that finds a payment by any of its identifiers. */
export function paymentListRoutes(app: FastifyInstance, dashboard: Dashboard, send: FileSender): void {
  const { app: core } = dashboard.people;
  addRoute(app, `GET ${PAYMENTS}`, READ, async ({ params, query, request }) => {
    const scope = scopeOf(request, params);
    const limit = query.limit ?? PAGE;
    const page = { after: readAfter(query.after), limit: limit + 1 };
    const found = await searchPayments(core.db, scope, readFilters(query), page);
    const shown = found.slice(0, limit);
    return { data: shown.map(paymentRow), next: found.length > limit ? (shown.at(-1)?.id ?? null) : null };
  });
  exportRoute(app, dashboard, send);
  addRoute(app, `GET ${PROJECT}/search`, READ, async ({ params, query, request }) => {
    const { mode, hits } = await search(core, scopeOf(request, params), query.text, query.limit ?? HITS);
    return { mode, data: hits.map(({ by, payment }) => ({ found_by: by, payment: paymentRow(payment) })) };
  });
  addRoute(app, 'GET /dashboard/api/filters', { action: 'own_account' }, () =>
    Promise.resolve({
      coins: [...ASSET_CODES],
      networks: NETWORKS.map((name) => ({ name, label: NETWORK_FACTS[name].label })),
      currencies: [...FIATS],
    }),
  );
}

/** Exports of payments, sent while they are read: a million rows take no more memory than one. */
function exportRoute(app: FastifyInstance, dashboard: Dashboard, send: FileSender): void {
  const { app: core } = dashboard.people;
  const { params, body } = paymentListContract[`POST ${PAYMENTS}/export`];
  app.post<{ Params: { project: string; mode: string }; Body: ExportRequest }>(
    `${PAYMENTS}/export`,
    { config: { guard: { kind: 'session', ...READ }, stream: true }, schema: { hide: true, params, body } },
    async (request, reply) => {
      const scope = scopeOf(request, request.params);
      const file = await fileOf(request, scope, dashboard);
      const asked = { ...request.body, columns: file.columns };
      const open = () => exportPayments(appFor(core, request), dashboard.exports.connect, file, asked);
      return send(request, reply, open, {
        name: `payments-${scope.mode}`,
        format: file.format,
        mayRead: async () =>
          (await roleOfOpenSession(core, signedInOf(request), scope.projectId, 'read_payments')) === scope.role,
      });
    },
  );
}

async function fileOf(
  { body }: FastifyRequest<{ Body: ExportRequest }>,
  { projectId, mode }: ProjectScope,
  { people: { app } }: Dashboard,
): Promise<PaymentExport> {
  const { format = 'csv', separator = 'comma', columns, zone = 'UTC', ...filters } = body;
  if (columns?.length === 0) throw invalid('columns', 'columns must name at least one column, or be left out.');
  if (!(await knowsZone(app.db, zone))) {
    throw invalid('zone', 'zone must be the name of a time zone such as Europe/Berlin, or UTC.');
  }
  return {
    scope: { projectId, mode },
    search: readFilters(filters),
    columns: columns === undefined ? USUAL_COLUMNS : EXPORT_COLUMNS.filter((one) => columns.includes(one)),
    format,
    separator: separator === 'comma' ? ',' : ';',
    zone,
  };
}
