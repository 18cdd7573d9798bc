import type { Payment } from '../../domain/payment.ts';
import type { PaymentPolicy } from '../../domain/transition.ts';
import type { Database, Trx } from '../../store/database.ts';
import { monitoringWindows } from '../../store/projects/projects.ts';
import type { App } from '../context.ts';

const HOUR_MS = 3_600_000;

/** A project's monitoring window in milliseconds, or the service's if the project has none. */
export function monitoringMsOf({ policy }: Pick<App, 'policy'>, hours: number | null): number {
  return hours === null ? policy.monitoringMs : hours * HOUR_MS;
}

/**
 * The durations in force for each of these payments, read at once. Test payments use the service's: nothing is watched
 * for them.
 */
export async function policiesOf(
  app: Pick<App, 'policy'>,
  executor: Database | Trx,
  payments: readonly Pick<Payment, 'projectId' | 'mode'>[],
): Promise<(payment: Pick<Payment, 'projectId' | 'mode'>) => PaymentPolicy> {
  const projects = new Set(payments.filter(({ mode }) => mode === 'live').map(({ projectId }) => projectId));
  const windows = projects.size === 0 ? null : await monitoringWindows(executor, [...projects]);
  return ({ projectId, mode }) => {
    const hours = mode === 'live' ? (windows?.get(projectId) ?? null) : null;
    return hours === null ? app.policy : { ...app.policy, monitoringMs: monitoringMsOf(app, hours) };
  };
}
