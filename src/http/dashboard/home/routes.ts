import type { App } from '../../../app/context.ts';
import { webhookHealth, type Health } from '../../../app/dashboard/health.ts';
import {
  homeFigures,
  daysOf,
  lastDays,
  MAX_RANGE_DAYS,
  monthSoFar,
  type DayRange,
} from '../../../app/dashboard/home-figures.ts';
import { mayDo } from '../../../domain/role.ts';
import { isTimeZone } from '../../../domain/time-zone.ts';
import { firstSteps } from '../../../store/figures/home.ts';
import { currencyOf } from '../../../store/projects/projects.ts';
import { searchPayments } from '../../../store/payments/payment-list.ts';
import { isoTime } from '../../../wire/time.ts';
import { readDay } from '../../dates.ts';
import { invalid } from '../../errors.ts';
import { badField } from '../refusal-words.ts';
import type { QueryOf } from '../contract.ts';
import { readFilters } from '../payment-list/filters.ts';
import { paymentRow } from '../payments/record.ts';
import type { Dashboard, Routes } from '../route.ts';
import type { HealthLine } from './contract.ts';
import { figuresView } from './record.ts';

const LATEST = 8;

/** The figures of Home. */
export function homeRoutes(routes: Routes, { people: { app: core }, serviceHealth }: Dashboard): void {
  routes.add(
    'GET /dashboard/api/projects/:project/:mode/home',
    { action: 'read_payments' },
    async ({ scope, query }) => {
      const range = readRange(core, query);
      const [figures, latest, steps, service, webhooks] = await Promise.all([
        homeFigures(core, scope, range, await currencyOf(core.db, scope.projectId)),
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
          support: steps.support,
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
  const faults = mayKnow ? health.faults : [];
  return { ...health, faults: faults.map((fault) => ({ ...fault, at: fault.at === null ? null : isoTime(fault.at) })) };
}

/**
 * The range of days in a request of Home.
 *
 * @throws RequestError if they are no days, too many, or of no time zone
 */
export function readRange(app: App, query: QueryOf<'GET /dashboard/api/projects/:project/:mode/home'>): DayRange {
  const { period, from, to, zone = 'UTC' } = query;
  if (!isTimeZone(zone)) {
    throw invalid('zone', 'zone must be the name of a time zone, such as Europe/Berlin.');
  }
  if (from === undefined && to === undefined) {
    if (period === 'this_month' || period === 'last_month') return monthSoFar(app, zone, period);
    return lastDays(app, zone, Number.parseInt(period ?? '30d', 10));
  }
  if (period !== undefined) throw invalid('period', 'Give either period, or from and to, but not both.');
  if (from === undefined || to === undefined) {
    const missing = from === undefined ? 'from' : 'to';
    throw invalid(missing, `from and to must be given together, but ${missing} is missing.`);
  }
  const range = { from: readDay('from', from), to: readDay('to', to), zone };
  const days = daysOf(range);
  if (days < 1) throw badField('to', 'days_swapped', { from: range.from });
  if (days > MAX_RANGE_DAYS) {
    throw badField('from', 'too_many_days', { max: MAX_RANGE_DAYS, days });
  }
  return range;
}
