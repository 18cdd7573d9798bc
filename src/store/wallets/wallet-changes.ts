import { sql, type SqlBool } from 'kysely';
import type { Network } from '../../domain/networks.ts';
import type { Database, Trx } from '../database.ts';
import type { ActorKind } from '../schema/people.ts';
import { columnsOf, type NewRow } from '../tables.ts';

/** Payments of a project go to another wallet since then. */
export interface WalletChange {
  readonly id: string;
  readonly projectId: string;
  readonly network: Network;
  readonly changedAt: number;
  /** Who did it, as the audit log names them. */
  readonly actor: { readonly kind: ActorKind; readonly name: string };
  /** The kind of wallet and both ends of its source; null: there was none. */
  readonly before: string | null;
  readonly after: string;
}

export async function insertWalletChange(trx: Trx, change: WalletChange): Promise<void> {
  await trx
    .insertInto('wallet_changes')
    .values({
      id: change.id,
      project_id: change.projectId,
      network: change.network,
      changed_at: new Date(change.changedAt),
      actor_kind: change.actor.kind,
      actor_name: change.actor.name,
      before: change.before,
      after: change.after,
    } satisfies NewRow<'wallet_changes'>)
    .execute();
}

/** Those that nobody has marked as done yet, the newest first. */
export async function unseenWalletChanges(
  db: Database,
  projectId: string,
  limit: number,
): Promise<readonly WalletChange[]> {
  const rows = await db
    .selectFrom('wallet_changes as c')
    .select(columnsOf('wallet_changes').map((column) => `c.${column}` as const))
    .where('c.project_id', '=', projectId)
    .where(
      sql<SqlBool>`not exists (
        select from attention_marks m where m.project_id = c.project_id and m.mode = 'live' and m.kind = 'wallet_changed'
          and m.subject = c.id::text and m.done_at is not null)`,
    )
    .orderBy('c.id', 'desc')
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    projectId: row.project_id,
    network: row.network,
    changedAt: row.changed_at,
    actor: { kind: row.actor_kind, name: row.actor_name },
    before: row.before,
    after: row.after,
  }));
}
