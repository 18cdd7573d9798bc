import type { Selectable } from 'kysely';
import type { Database, Trx } from './database.ts';
import { notify } from './notifications.ts';
import type { ProjectsTable } from './tables.ts';

export interface Project {
  readonly id: string;
  readonly name: string;
  readonly active: boolean;
  readonly allowIps: readonly string[];
  /** How much dearer than the market its customers buy, in hundredths of a percent. */
  readonly spreadBasisPoints: number;
  /** What a deposit must hold to be swept, at the price that its payment was quoted at. */
  readonly sweepMinUsdCents: bigint;
  readonly allowOrigins: readonly string[];
  readonly createdAt: number;
}

function projectFromRow(row: Selectable<ProjectsTable>): Project {
  return {
    id: row.id,
    name: row.name,
    active: row.active,
    allowIps: row.allow_ips,
    spreadBasisPoints: row.spread_basis_points,
    sweepMinUsdCents: row.sweep_min_usd_cents,
    allowOrigins: row.allow_origins,
    createdAt: row.created_at,
  };
}

export async function insertProject(trx: Trx, project: Project): Promise<void> {
  await trx
    .insertInto('projects')
    .values({
      id: project.id,
      name: project.name,
      active: project.active,
      allow_ips: [...project.allowIps],
      spread_basis_points: project.spreadBasisPoints,
      sweep_min_usd_cents: String(project.sweepMinUsdCents),
      allow_origins: [...project.allowOrigins],
      created_at: new Date(project.createdAt),
    })
    .execute();
}

export async function listProjects(executor: Database | Trx): Promise<readonly Project[]> {
  const rows = await executor.selectFrom('projects').selectAll().orderBy('created_at').orderBy('id').execute();
  return rows.map(projectFromRow);
}

export async function findProject(executor: Database | Trx, id: string): Promise<Project | null> {
  const row = await executor.selectFrom('projects').selectAll().where('id', '=', id).executeTakeFirst();
  return row === undefined ? null : projectFromRow(row);
}

/** Changes what is given of a project and tells every process; null when there is no such project. */
export async function updateProject(
  trx: Trx,
  id: string,
  changes: {
    readonly active?: boolean;
    readonly allowIps?: readonly string[];
    readonly spreadBasisPoints?: number;
    readonly sweepMinUsdCents?: bigint;
    readonly allowOrigins?: readonly string[];
  },
): Promise<Project | null> {
  const row = await trx
    .updateTable('projects')
    .set({
      ...(changes.active === undefined ? {} : { active: changes.active }),
      ...(changes.allowIps === undefined ? {} : { allow_ips: [...changes.allowIps] }),
      ...(changes.spreadBasisPoints === undefined ? {} : { spread_basis_points: changes.spreadBasisPoints }),
      ...(changes.sweepMinUsdCents === undefined ? {} : { sweep_min_usd_cents: String(changes.sweepMinUsdCents) }),
      ...(changes.allowOrigins === undefined ? {} : { allow_origins: [...changes.allowOrigins] }),
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  await notify(trx, 'access');
  return row === undefined ? null : projectFromRow(row);
}

/** A project's spread in hundredths of a percent; 0 for one that is not there. */
export async function spreadOf(executor: Database | Trx, id: string): Promise<number> {
  const row = await executor
    .selectFrom('projects')
    .select('spread_basis_points')
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.spread_basis_points ?? 0;
}
