import type { Database, Trx } from '../database.ts';
import { countRows, deleteRows, fields, insertRows, updateRows, type Stored } from '../rows.ts';

/** Filters and columns of the list of payments under a name. */
export type SavedView = Stored<'saved_views'>;

/** A view with the e-mail address of the person who saved it. */
export interface OwnedView extends SavedView {
  readonly owner: string;
}

function selectViews(db: Database | Trx) {
  return db
    .selectFrom('saved_views as v')
    .innerJoin('people as p', 'p.id', 'v.person_id')
    .select(fields('saved_views', { of: 'v' }))
    .select('p.email as owner');
}

/** The views of a project that a person has: their own and the shared ones, oldest first. */
export async function listViews(
  db: Database,
  projectId: string,
  personId: string,
  limit: number,
): Promise<readonly OwnedView[]> {
  return selectViews(db)
    .where('v.project_id', '=', projectId)
    .where((where) => where.or([where('v.person_id', '=', personId), where('v.shared', '=', true)]))
    .orderBy('v.id')
    .limit(limit)
    .execute();
}

/** A view of the project, locked until the transaction ends; null if there is none. */
export async function lockView(trx: Trx, projectId: string, id: string): Promise<OwnedView | null> {
  const row = await selectViews(trx)
    .where('v.project_id', '=', projectId)
    .where('v.id', '=', id)
    .forUpdate('v')
    .executeTakeFirst();
  return row ?? null;
}

/** How many views of a project a person has saved. */
export async function countViews(trx: Trx, projectId: string, personId: string): Promise<number> {
  return countRows(trx, 'saved_views', { projectId, personId });
}

export async function insertView(trx: Trx, view: SavedView): Promise<void> {
  await insertRows(trx, 'saved_views', [view]);
}

/** Saves a change of a locked view. */
export async function updateView(trx: Trx, { id, name, query, shared, version, changedAt }: SavedView): Promise<void> {
  await updateRows(trx, 'saved_views', { id }, { name, query, shared, version, changedAt });
}

export async function deleteView(trx: Trx, id: string): Promise<void> {
  await deleteRows(trx, 'saved_views', { id });
}
