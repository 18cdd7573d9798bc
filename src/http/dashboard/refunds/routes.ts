import type { FastifyRequest } from 'fastify';
import { exportRefunds } from '../../../app/dashboard/export-refunds.ts';
import { searchTermsOf } from '../../../app/dashboard/search.ts';
import { explorerOf } from '../../../app/explorer.ts';
import { decodeId, encodeId } from '../../../domain/id.ts';
import {
  findListedRefund,
  searchRefunds,
  type ListedRefund,
  type RefundSearch,
} from '../../../store/refunds/refund-list.ts';
import { notFound } from '../../errors.ts';
import type { Dashboard, Routes } from '../route.ts';
import { type ProjectScope, viewerOf } from '../scope.ts';
import type { ListedRefundView, RefundFilters } from './contract.ts';
import { listedRefundView } from './record.ts';
import { keysetOf, listOf, writingOf } from '../record-parts.ts';
import { readCreated } from '../../dates.ts';

const REFUNDS = '/dashboard/api/projects/:project/:mode/refunds';

/** The refunds of a project and mode: the list, single refunds, and exports. */
export function refundListRoutes(routes: Routes, dashboard: Dashboard): void {
  const { app: core } = dashboard.people;
  const READ = { action: 'read_payments' } as const;
  const viewIn = (request: FastifyRequest, scope: ProjectScope) => {
    const [rail, viewer] = [core.railFor(scope.mode), viewerOf(request, scope)];
    return (listed: ListedRefund): ListedRefundView =>
      listedRefundView(listed, (token) => explorerOf(rail, token), core.links, viewer);
  };
  routes.add(`GET ${REFUNDS}`, READ, async ({ scope, query, request }) => {
    const page = keysetOf(query, (text) => decodeId('refund', text));
    const found = await searchRefunds(core.db, scope, readFilters(query), page);
    return listOf(found, page, viewIn(request, scope), ({ refund }) => encodeId('refund', refund.id));
  });
  routes.add(`GET ${REFUNDS}/:refund`, READ, async ({ scope, params, request }) => {
    const id = decodeId('refund', params.refund);
    const found = id === null ? null : await findListedRefund(core.db, scope, id);
    if (found === null) throw notFound('There is no such refund in this project and mode.');
    return viewIn(request, scope)(found);
  });
  routes.file(`POST ${REFUNDS}/export`, 'read_payments', async ({ scope, body, own }) => {
    const file = { scope, search: readFilters(body), ...writingOf(body) };
    const open = () => exportRefunds(own, dashboard.exports.connect, file, { ...body });
    return { name: `refunds-${scope.mode}`, format: file.format, open };
  });
}

function readFilters({ stage, asset, network, created_after, created_before, search }: RefundFilters): RefundSearch {
  return {
    stage: stage ?? null,
    asset: asset ?? null,
    network: network ?? null,
    ...readCreated({ created_after, created_before }),
    terms: searchTermsOf(search ?? ''),
  };
}
