import { createHash } from 'node:crypto';
import { sql, type ExpressionBuilder } from 'kysely';
import type { Mode } from '../../domain/permission.ts';
import { affectedRows, timestamp, type Database, type Trx } from '../database.ts';
import type { Tables } from '../tables.ts';

/** The request that an answer belongs to. */
interface AnswerScope {
  readonly projectId: string;
  readonly mode: Mode;
  readonly route: string;
  readonly key: string;
}

/** The text that replaces a key once customers' data are deleted, because a key may name the customer. */
export function digestOfKey(key: string): string {
  return `sha256:${createHash('sha256').update(key).digest('hex')}`;
}

export function isDigestOfKey(key: string): boolean {
  return /^sha256:[0-9a-f]{64}$/.test(key);
}

function isOf({ projectId, mode, route, key }: AnswerScope) {
  return (where: ExpressionBuilder<Tables, 'idempotency_keys'>) =>
    where.and([where.and({ project_id: projectId, mode, route }), where('key', 'in', [key, digestOfKey(key)])]);
}

/** The stored answer of a request, if its key was used since `since`. */
export async function findAnswer(
  executor: Database | Trx,
  scope: AnswerScope,
  since: number,
): Promise<{ readonly bodyHash: Buffer; readonly response: string } | null> {
  const row = await executor
    .selectFrom('idempotency_keys')
    .select(['body_hash as bodyHash', 'response'])
    .where(isOf(scope))
    .where('created_at', '>', timestamp(since))
    .executeTakeFirst();
  return row ?? null;
}

/** Deletes an answer that is older than 24 hours, so that its key can be used again. */
export async function purgeOldAnswer(executor: Database | Trx, scope: AnswerScope, before: number): Promise<void> {
  await executor
    .deleteFrom('idempotency_keys')
    .where(isOf(scope))
    .where('created_at', '<=', timestamp(before))
    .execute();
}

/** Deletes up to `limit` answers given before a time; returns how many. */
export async function purgeAnswersBefore(db: Database, before: number, limit: number): Promise<number> {
  return affectedRows(
    db,
    sql`
      with old as (
        select project_id, mode, route, key from idempotency_keys where created_at < ${timestamp(before)} limit ${limit}
      )
      delete from idempotency_keys k using old
      where (k.project_id, k.mode, k.route, k.key) = (old.project_id, old.mode, old.route, old.key)`,
  );
}
