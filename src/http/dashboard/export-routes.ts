import type { FastifyInstance, FastifyRequest } from 'fastify';
import { exportPayments } from '../../app/dashboard/export-payments.ts';
import { roleOfOpenSession } from '../../app/people/open-session.ts';
import { EXPORT_COLUMNS, USUAL_COLUMNS } from '../../domain/export-column.ts';
import { knowsZone, type PaymentExport } from '../../store/reports/payment-export.ts';
import { invalid } from '../errors.ts';
import { CONTRACT } from './contract/index.ts';
import type { ExportRequest } from './contract/export.ts';
import { readFilters } from './payment-filters.ts';
import { scopeOf, type ProjectScope } from './project-scope.ts';
import { appFor, signedInOf, type Dashboard } from './route.ts';
import type { FileSender } from './send-file.ts';

const URL = '/dashboard/api/projects/:project/:mode/payments/export';

const ROUTE = {
  config: { guard: { kind: 'session', action: 'read_payments' }, stream: true },
  schema: { hide: true, params: CONTRACT[`POST ${URL}`].params, body: CONTRACT[`POST ${URL}`].body },
} as const;

/** Files of payments, sent while they are read: a million rows take no more memory than one. */
export function exportRoutes(app: FastifyInstance, dashboard: Dashboard, send: FileSender): void {
  const { app: core } = dashboard.people;
  app.post<{ Params: { project: string; mode: string }; Body: ExportRequest }>(URL, ROUTE, async (request, reply) => {
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
  });
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
