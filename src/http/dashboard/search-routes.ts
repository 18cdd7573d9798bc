import type { FastifyInstance } from 'fastify';
import { search } from '../../app/dashboard/search.ts';
import { ASSET_CODES } from '../../domain/asset-code.ts';
import { FIATS } from '../../domain/money.ts';
import { NETWORK_FACTS, NETWORKS } from '../../domain/networks.ts';
import { paymentRow } from './payment-views.ts';
import { scopeOf } from './project-scope.ts';
import { addRoute, type Dashboard } from './route.ts';

const FOUND = 8;

/** One box that finds a payment by whatever somebody knows of it. */
export function searchRoutes(app: FastifyInstance, { people: { app: core } }: Dashboard): void {
  const READ = { action: 'read_payments' } as const;
  addRoute(app, 'GET /dashboard/api/projects/:project/:mode/search', READ, async ({ params, query, request }) => {
    const { mode, hits } = await search(core, scopeOf(request, params), query.text, query.limit ?? FOUND);
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
