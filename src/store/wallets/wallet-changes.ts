import { sql, type SqlBool } from 'kysely';
import type { Database, Trx } from '../database.ts';
import type { ActorKind } from '../schema/people.ts';
import { fields, toRow, type Stored } from '../rows.ts';

type Row = Stored<'wallet_changes'>;

/** A change of the wallet that a project's payments go to. */
export interface WalletChange extends Omit<Row, 'actorKind' | 'actorName'> {
  /** The actor of the change, as the audit log names them. */
  readonly actor: { readonly kind: ActorKind; readonly name: string };
}

export async function insertWalletChange(trx: Trx, change: WalletChange): Promise<void> {
  const { kind: actorKind, name: actorName } = change.actor;
  await trx
    .insertInto('wallet_changes')
    .values(toRow('wallet_changes', { ...change, actorKind, actorName }))
    .execute();
}

/** The changes that nobody has marked as done yet, newest first. */
export async function unseenWalletChanges(
  db: Database,
  projectId: string,
  limit: number,
): Promise<readonly WalletChange[]> {
  const rows = await db
    .selectFrom('wallet_changes as c')
    .select(fields('wallet_changes', { of: 'c' }))
    .where('c.project_id', '=', projectId)
    .where(
      sql<SqlBool>`not exists (
        select from attention_marks m where m.project_id = c.project_id and m.mode = 'live' and m.kind = 'wallet_changed'
          and m.subject = c.id::text and m.done_at is not null)`,
    )
    .orderBy('c.id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ actorKind: kind, actorName: name, ...row }) => ({ ...row, actor: { kind, name } }));
}
