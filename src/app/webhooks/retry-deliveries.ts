import { encodeId } from '../../domain/id.ts';
import { lockUndelivered, type DeliverySearch } from '../../store/webhooks/delivery-list.ts';
import {
  endRetry,
  findRetry,
  insertRetry,
  newestRetry,
  type RetryProgress,
} from '../../store/webhooks/delivery-retries.ts';
import type { Database, Trx } from '../../store/database.ts';
import { lockProject } from '../../store/projects/projects.ts';
import { recordAudit } from '../audit.ts';
import { newId, type App } from '../context.ts';
import { rejected, type Rejected } from '../rejected.ts';
import type { ProjectMode } from '../../domain/permission.ts';

/** The largest number of deliveries in one retry. */
export const MAX_RETRIED = 10_000;

type Retried = { readonly kind: 'done'; readonly retry: RetryProgress } | Rejected;

/**
 * Makes deliveries that did not arrive due at once, newest first and at most {@link MAX_RETRIED}. The workers send
 * them; if one fails again, its schedule continues as if it had not been sent again. One retry at a time.
 */
export async function retryDeliveries(app: App, scope: ProjectMode, search: DeliverySearch): Promise<Retried> {
  const now = app.clock();
  const id = newId(app, now);
  return app.db.transaction().execute(async (trx): Promise<Retried> => {
    await lockProject(trx, scope.projectId);
    const running = await runningRetry(trx, scope);
    if (running !== null) return rejected('retry_running', { done: running.done, total: running.total });
    const ids = await lockUndelivered(trx, scope, search, MAX_RETRIED);
    if (ids.length === 0) return rejected('nothing_to_retry');
    await insertRetry(trx, { ...scope, id }, ids, now);
    const { projectId, mode } = scope;
    await recordAudit(app, trx, {
      action: 'webhook.retry',
      projectId,
      subject: { kind: 'retry', id },
      after: {
        mode,
        deliveries: ids.length,
        endpoint: search.endpointId === null ? null : encodeId('endpoint', search.endpointId),
      },
    });
    const retry = await findRetry(trx, scope, id);
    return retry === null ? rejected('no_retry') : { kind: 'done', retry };
  });
}

/** The progress of a retry. */
export async function retryProgress(app: App, scope: ProjectMode, id: string): Promise<Retried> {
  const retry = await findRetry(app.db, scope, id);
  return retry === null ? rejected('no_retry') : { kind: 'done', retry };
}

/** The newest retry, if it is still running; null otherwise. */
export async function runningRetry(executor: Database | Trx, scope: ProjectMode): Promise<RetryProgress | null> {
  const id = await newestRetry(executor, scope);
  const retry = id === null ? null : await findRetry(executor, scope, id);
  return retry !== null && retry.stoppedAt === null && retry.done < retry.total ? retry : null;
}

/** Stops a retry: its deliveries that are not being sent get their former state back. */
export async function stopRetry(app: App, scope: ProjectMode, id: string): Promise<Retried> {
  return app.db.transaction().execute(async (trx): Promise<Retried> => {
    const retry = await findRetry(trx, scope, id);
    if (retry === null) return rejected('no_retry');
    if (await endRetry(trx, id, app.clock())) {
      const { projectId, mode } = scope;
      const change = { action: 'webhook.retry_stop', projectId, subject: { kind: 'retry', id }, after: { mode } };
      await recordAudit(app, trx, change);
    }
    const ended = await findRetry(trx, scope, id);
    return ended === null ? rejected('no_retry') : { kind: 'done', retry: ended };
  });
}
