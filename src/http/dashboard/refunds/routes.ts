import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { exportRefunds } from '../../../app/dashboard/export-refunds.ts';
import { searchKeysOf } from '../../../app/dashboard/search.ts';
import { explorerOf } from '../../../app/explorer.ts';
import { roleOfOpenSession } from '../../../app/people/open-session.ts';
import { decodeId, encodeId } from '../../../domain/id.ts';
import {
  findListedRefund,
  searchRefunds,
  type ListedRefund,
  type RefundSearch,
} from '../../../store/refunds/refund-list.ts';
import { readCreated } from '../../dates.ts';
import { invalid, notFound } from '../../errors.ts';
import { CONTRACT } from '../contract.ts';
import { addRoute, appFor, signedInOf, type Dashboard } from '../route.ts';
import { scopeOf, type ProjectScope, viewerOf } from '../scope.ts';
import type { FileSender } from '../send-file.ts';
import type { ListedRefundView, RefundExportRequest, RefundFilters } from './contract.ts';
import { listedRefundView } from './record.ts';

const REFUNDS = '/dashboard/api/projects/:project/:mode/refunds';
const PAGE = 50;

/** The refunds of a project and mode: the list, single refunds, and exports. */
export function refundListRoutes(app: FastifyInstance, dashboard: Dashboard, send: FileSender): void {
  const { app: core } = dashboard.people;
  const READ = { action: 'read_payments' } as const;
  const viewIn = (request: FastifyRequest, scope: ProjectScope) => {
    const [rail, viewer] = [core.railFor(scope.mode), viewerOf(request, scope)];
    return (listed: ListedRefund): ListedRefundView =>
      listedRefundView(listed, (token) => explorerOf(rail, token), core.links, viewer);
  };
  addRoute(app, `GET ${REFUNDS}`, READ, async ({ params, query, request }) => {
    const scope = scopeOf(request, params);
    const { limit = PAGE, after } = query;
    const page = { after: after === undefined ? null : afterOf(after), limit: limit + 1 };
    const found = await searchRefunds(core.db, scope, readFilters(query), page);
    const last = found.length > limit ? found[limit - 1] : undefined;
    return {
      data: found.slice(0, limit).map(viewIn(request, scope)),
      next: last === undefined ? null : encodeId('refund', last.refund.id),
    };
  });
  addRoute(app, `GET ${REFUNDS}/:refund`, READ, async ({ params, request }) => {
    const scope = scopeOf(request, params);
    const id = decodeId('refund', params.refund);
    const found = id === null ? null : await findListedRefund(core.db, scope, id);
    if (found === null) throw notFound('There is no such refund in this project and mode.');
    return viewIn(request, scope)(found);
  });
  fileRoute(app, dashboard, send);
}

type ExportCall = FastifyRequest<{ Params: { project: string; mode: string }; Body: RefundExportRequest }>;

function fileRoute(app: FastifyInstance, dashboard: Dashboard, send: FileSender): void {
  const { app: core } = dashboard.people;
  const { params, body } = CONTRACT[`POST ${REFUNDS}/export`];
  const config = { guard: { kind: 'session', action: 'read_payments' }, stream: true } as const;
  const handle = async (request: ExportCall, reply: FastifyReply): Promise<FastifyReply> => {
    const scope = scopeOf(request, request.params);
    const { format = 'csv', separator = 'comma', ...filters } = request.body;
    const written = { format, separator: separator === 'comma' ? ',' : ';' } as const;
    const file = { scope, search: readFilters(filters), ...written };
    const open = () => exportRefunds(appFor(core, request), dashboard.exports.connect, file, { ...request.body });
    return send(request, reply, open, {
      name: `refunds-${scope.mode}`,
      format,
      mayRead: async () =>
        (await roleOfOpenSession(core, signedInOf(request), scope.projectId, 'read_payments')) === scope.role,
    });
  };
  app.post<{ Params: { project: string; mode: string }; Body: RefundExportRequest }>(
    `${REFUNDS}/export`,
    { config, schema: { hide: true, params, body } },
    handle,
  );
}

function afterOf(text: string): string {
  const id = decodeId('refund', text);
  if (id === null) throw invalid('after', 'after must be the next of the page before, as it was given.');
  return id;
}

function readFilters({ stage, asset, network, created_after, created_before, search }: RefundFilters): RefundSearch {
  return {
    stage: stage ?? null,
    asset: asset ?? null,
    network: network ?? null,
    ...readCreated({
      ...(created_after === undefined ? {} : { created_after }),
      ...(created_before === undefined ? {} : { created_before }),
    }),
    keys: searchKeysOf(search ?? ''),
  };
}
