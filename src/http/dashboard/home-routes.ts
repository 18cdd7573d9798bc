import type { FastifyInstance } from 'fastify';
import { webhookHealth, type Health } from '../../app/dashboard/health.ts';
import { homeFigures, type Compared } from '../../app/dashboard/home-figures.ts';
import { formatDecimal } from '../../domain/money.ts';
import { mayDo } from '../../domain/role.ts';
import { firstSteps } from '../../store/home.ts';
import { searchPayments } from '../../store/payment-list.ts';
import { isoTime } from '../../wire/time.ts';
import type { HealthLine } from './contract/home.ts';
import { readFilters } from './payment-filters.ts';
import { paymentRow } from './payment-views.ts';
import { scopeOf } from './project-scope.ts';
import { addRoute, type Dashboard } from './route.ts';

const DAYS = { '7d': 7, '30d': 30, '90d': 90 } as const;
const LATEST = 8;

/** The figures of Home. */
export function homeRoutes(app: FastifyInstance, { people: { app: core }, serviceHealth }: Dashboard): void {
  addRoute(
    app,
    'GET /dashboard/api/projects/:project/:mode/home',
    { action: 'read_payments' },
    async ({ params, query, request }) => {
      const scope = scopeOf(request, params);
      const [figures, latest, steps, service, webhooks] = await Promise.all([
        homeFigures(core, scope, DAYS[query.period ?? '30d']),
        searchPayments(core.db, scope, readFilters({}), { after: null, limit: LATEST }),
        firstSteps(core.db, scope.projectId),
        serviceHealth(),
        webhookHealth(core, scope),
      ]);
      // Details of nodes and backups are for operators, details of webhooks for developers.
      const isOperator = mayDo(scope.role, 'read_wallets');
      return {
        from: isoTime(figures.from),
        until: isoTime(figures.until),
        currency: 'USD' as const,
        volume: figureOf(figures.usdCents, inUsd),
        created: figureOf(figures.created, String),
        completed: figureOf(figures.completed, String),
        conversion: figureOf(figures.conversion, (share) => formatDecimal(BigInt(share), 4)),
        statuses: figures.statuses.map(({ status, payments, usdCents }) => ({
          status,
          payments: payments.value,
          before: payments.before,
          volume: inUsd(usdCents),
        })),
        days: figures.days.map(({ day, usdCents, created, completed }) => ({
          day,
          volume: inUsd(usdCents),
          created,
          completed,
        })),
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
        },
      };
    },
  );
}

const inUsd = (cents: bigint): string => formatDecimal(cents, 2);

function figureOf<Value>({ value, before }: Compared<Value | null>, written: (value: Value) => string) {
  const or = (one: Value | null): string | null => (one === null ? null : written(one));
  return { value: or(value), before: or(before) };
}

function lineOf(health: Health, mayKnow: boolean): HealthLine {
  return { ...health, detail: mayKnow ? health.detail : null };
}
