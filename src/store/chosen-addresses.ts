import { decodeId, encodeId } from '../domain/id.ts';
import type { Database, Trx } from './database.ts';

/**
 * Those of these refunds whose address a person chose when they were created, in the dashboard or on the command line;
 * the customer enters that of the others, or a key gave it. The audit log keeps it.
 */
export async function withChosenAddress(
  executor: Database | Trx,
  refundIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (refundIds.length === 0) return new Set();
  const rows = await executor
    .selectFrom('audit_log')
    .select(['subject_id', 'after'])
    .where('subject_kind', '=', 'refund')
    .where(
      'subject_id',
      'in',
      refundIds.map((id) => encodeId('refund', id)),
    )
    .where('action', '=', 'refund.create')
    .execute();
  const chosen = rows.filter(({ after }) => typeof after?.['address'] === 'string');
  return new Set(chosen.flatMap(({ subject_id: id }) => decodeId('refund', id ?? '') ?? []));
}
