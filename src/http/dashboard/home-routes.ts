import type { FastifyInstance } from 'fastify';
import { webhookHealth, type Health } from '../../app/dashboard/health.ts';
import { homeFigures } from '../../app/dashboard/home-figures.ts';
import { mayDo } from '../../domain/role.ts';
import { firstSteps } from '../../store/figures/home.ts';
import { searchPayments } from '../../store/payments/payment-list.ts';
import type { HealthLine } from './contract/home.ts';
import { readRange } from './home-range.ts';
import { figuresView } from './home-views.ts';
import { readFilters } from './payment-filters.ts';
import { paymentRow } from './payment-views.ts';
import { scopeOf } from './project-scope.ts';
import { addRoute, type Dashboard } from './route.ts';

const LATEST = 8;

/** The figures of Home. */
export function homeRoutes(app: FastifyInstance, { people: { app: core }, serviceHealth }: Dashboard): void {
  addRoute(
    app,
    'GET /dashboard/api/projects/:project/:mode/home',
    { action: 'read_payments' },
    async ({ params, query, request }) => {
      const scope = scopeOf(request, params);
      const range = readRange(core, query);
      const [figures, latest, steps, service, webhooks] = await Promise.all([
        homeFigures(core, scope, range),
        searchPayments(core.db, scope, readFilters({}), { after: null, limit: LATEST }),
        firstSteps(core.db, scope.projectId),
        serviceHealth(),
        webhookHealth(core, scope),
      ]);
      // Details of nodes and backups are for operators, details of webhooks for developers.
      const isOperator = mayDo(scope.role, 'read_wallets');
      return {
        ...figuresView(figures, range),
        latest: latest.map(paymentRow),
        first_steps: {
          test_payment: steps.testPayment,
          webhook: steps.webhook,
          webhook_answered: steps.webhookAnswered,
          wallet: steps.wallet,
          live_key: steps.liveKey,
          live_payment: steps.livePayment,
        },
        health: {
          networks: lineOf(service.networks, isOperator),
          webhooks: lineOf(webhooks, mayDo(scope.role, 'read_developer')),
          backups: lineOf(service.backups, isOperator),
          clock: lineOf(service.clock, isOperator),
        },
      };
    },
  );
}

function lineOf(health: Health, mayKnow: boolean): HealthLine {
  return { ...health, detail: mayKnow ? health.detail : null };
}
