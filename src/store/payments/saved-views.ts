import type { Selectable } from 'kysely';
import type { Database, Trx } from '../database.ts';
import type { NewRow, Tables } from '../tables.ts';

/** Filters and columns of the list of payments under a name. Times in epoch milliseconds. */
export interface SavedView {
  readonly id: string;
  readonly projectId: string;
  readonly personId: string;
  readonly name: string;
  /** The query of the list's address. */
  readonly query: string;
  /** Whether everybody who sees the project's payments has it. */
  readonly shared: boolean;
  /** From 1, one more with each change. */
  readonly version: number;
  readonly createdAt: number;
  readonly changedAt: number;
}

/** A view with the e-mail address of the person who saved it. */
export interface OwnedView extends SavedView {
  readonly owner: string;
}

const COLUMNS = [
  'v.id',
  'v.project_id',
  'v.person_id',
  'v.name',
  'v.query',
  'v.shared',
  'v.version',
  'v.created_at',
  'v.changed_at',
  'p.email',
] as const;

/** The views of a project that a person has: their own and the shared ones, oldest first. */
export async function listViews(
  db: Database,
  projectId: string,
  personId: string,
  limit: number,
): Promise<readonly OwnedView[]> {
  const rows = await db
    .selectFrom('saved_views as v')
    .innerJoin('people as p', 'p.id', 'v.person_id')
    .select(COLUMNS)
    .where('v.project_id', '=', projectId)
    .where((where) => where.or([where('v.person_id', '=', personId), where('v.shared', '=', true)]))
    .orderBy('v.id')
    .limit(limit)
    .execute();
  return rows.map(viewFromRow);
}

/** A view of the project, locked until the transaction ends; null if there is none. */
export async function lockView(trx: Trx, projectId: string, id: string): Promise<OwnedView | null> {
  const row = await trx
    .selectFrom('saved_views as v')
    .innerJoin('people as p', 'p.id', 'v.person_id')
    .select(COLUMNS)
    .where('v.project_id', '=', projectId)
    .where('v.id', '=', id)
    .forUpdate('v')
    .executeTakeFirst();
  return row === undefined ? null : viewFromRow(row);
}

/** How many views of a project a person has saved. */
export async function countViews(trx: Trx, projectId: string, personId: string): Promise<number> {
  const { views } = await trx
    .selectFrom('saved_views')
    .select(({ fn }) => fn.countAll<bigint>().as('views'))
    .where('project_id', '=', projectId)
    .where('person_id', '=', personId)
    .executeTakeFirstOrThrow();
  return Number(views);
}

export async function insertView(trx: Trx, view: SavedView): Promise<void> {
  await trx
    .insertInto('saved_views')
    .values({
      id: view.id,
      project_id: view.projectId,
      person_id: view.personId,
      name: view.name,
      query: view.query,
      shared: view.shared,
      version: view.version,
      created_at: new Date(view.createdAt),
      changed_at: new Date(view.changedAt),
    } satisfies NewRow<'saved_views'>)
    .execute();
}

/** Saves a change of a locked view. */
export async function updateView(trx: Trx, { id, name, query, shared, version, changedAt }: SavedView): Promise<void> {
  await trx
    .updateTable('saved_views')
    .set({ name, query, shared, version, changed_at: new Date(changedAt) })
    .where('id', '=', id)
    .execute();
}

export async function deleteView(trx: Trx, id: string): Promise<void> {
  await trx.deleteFrom('saved_views').where('id', '=', id).execute();
}

function viewFromRow(row: Selectable<Tables['saved_views']> & { readonly email: string }): OwnedView {
  return {
    id: row.id,
    projectId: row.project_id,
    personId: row.person_id,
    name: row.name,
    query: row.query,
    shared: row.shared,
    version: row.version,
    createdAt: row.created_at,
    changedAt: row.changed_at,
    owner: row.email,
  };
}
