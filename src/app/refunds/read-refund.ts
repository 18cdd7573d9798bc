import type { Mode } from '../../domain/permission.ts';
import type { Refund } from '../../domain/refund.ts';
import { findRefund } from '../../store/refunds/refunds.ts';
import type { App } from '../context.ts';

/** A refund that the client may see. */
export async function readRefund(
  app: App,
  scope: { readonly id: string; readonly projectId: string; readonly mode: Mode },
): Promise<Refund | null> {
  const refund = await findRefund(app.db, scope.id);
  return refund !== null && refund.projectId === scope.projectId && refund.mode === scope.mode ? refund : null;
}
