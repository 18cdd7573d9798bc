import type { AccessKey } from '../app/projects/access.ts';
import type { App } from '../app/context.ts';
import type { Payment, PaymentApi } from '../domain/payment.ts';
import { PAYMENT_STATUSES, type PaymentStatus } from '../domain/status.ts';
import { countPayments, listPayments, type StatusCounts } from '../store/payments/payments.ts';
import { readCreated } from './dates.ts';
import { pagination } from './fields.ts';

interface ListQuery {
  readonly created_after?: string;
  readonly created_before?: string;
  readonly limit?: number;
  readonly offset?: number;
}

/** One page of the payments that a key can see on an API, newest first; `statuses` is null for all. */
export async function pageOfPayments(
  app: App,
  key: AccessKey,
  api: PaymentApi,
  statuses: readonly PaymentStatus[] | null,
  query: ListQuery,
): Promise<{ readonly payments: readonly Payment[]; readonly pagination: ReturnType<typeof pagination> }> {
  const { limit = 50, offset = 0 } = query;
  const scope = { projectId: key.project.id, mode: key.mode, modes: [key.mode], api };
  const filter = { statuses, ...readCreated(query) };
  const [payments, counts] = await Promise.all([
    listPayments(app.db, scope, filter, { limit, offset }),
    countPayments(app.db, scope, filter),
  ]);
  return { payments, pagination: pagination({ limit, offset }, payments.length, totalOf(counts, statuses)) };
}

/** The number of payments with one of these statuses, or with any. */
export function totalOf(counts: StatusCounts, statuses: readonly PaymentStatus[] | null): number {
  return PAYMENT_STATUSES.filter((status) => statuses?.includes(status) ?? true)
    .map((status) => counts.get(status)?.payments ?? 0)
    .reduce((sum, count) => sum + count, 0);
}
