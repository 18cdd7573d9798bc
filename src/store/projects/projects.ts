import { sql, type Selectable } from 'kysely';
import { ALL_COINS, type CoinChoice } from '../../domain/coin-choice.ts';
import type { Fiat } from '../../domain/money.ts';
import type { Database, Trx } from '../database.ts';
import { notify } from '../notifications.ts';
import type { LogoType } from '../schema/projects.ts';
import { columnsOf, type NewRow, type Tables } from '../tables.ts';

export interface Project {
  readonly id: string;
  readonly name: string;
  readonly active: boolean;
  readonly allowIps: readonly string[];
  /** How much its customers pay above the market price, in hundredths of a percent. */
  readonly spreadBasisPoints: number;
  /** What a deposit must hold to be swept, at the price its payment was quoted at. */
  readonly sweepMinUsdCents: bigint;
  readonly allowOrigins: readonly string[];
  /** Which coins its customers are offered in live mode. */
  readonly coins: CoinChoice;
  /** How long its payments are watched after their end, in hours; null: as the service is set. */
  readonly monitoringHours: number | null;
  /** The shop's colour: six hex digits in lower case. The page adjusts it so that text stays legible. */
  readonly accent: string | null;
  /** Where its customers find help: https, http or mailto. */
  readonly supportUrl: string | null;
  /** What a page needs to know about the logo; `findLogo` reads its bytes. */
  readonly logo: LogoSize | null;
  readonly createdAt: number;
  /** What payments get whose creation leaves it out; null: what the service itself takes. */
  readonly defaultExpiryMinutes: number | null;
  /** What the dashboard's form of a new payment begins with. */
  readonly defaultCurrency: Fiat | null;
  readonly defaultSuccessUrl: string | null;
}

/** The SHA-256 of the picture's bytes in lower-case hex, and its own size in CSS pixels. */
interface LogoSize {
  readonly hash: string;
  readonly width: number;
  readonly height: number;
}

export interface Logo extends LogoSize {
  readonly type: LogoType;
  readonly bytes: Buffer;
}

/** What can be changed about a project. Null removes a value; fields not given stay as they are. */
export interface ProjectChanges {
  readonly name?: string;
  readonly active?: boolean;
  readonly allowIps?: readonly string[];
  readonly spreadBasisPoints?: number;
  readonly sweepMinUsdCents?: bigint;
  readonly allowOrigins?: readonly string[];
  readonly coins?: CoinChoice;
  readonly monitoringHours?: number | null;
  readonly accent?: string | null;
  readonly supportUrl?: string | null;
  readonly logo?: Logo | null;
  readonly defaultExpiryMinutes?: number | null;
  readonly defaultCurrency?: Fiat | null;
  readonly defaultSuccessUrl?: string | null;
}

type ProjectRow = Selectable<Tables['projects']> & {
  readonly logo_hash: string | null;
  readonly logo_width: number | null;
  readonly logo_height: number | null;
};

function projectFromRow(row: ProjectRow): Project {
  const { logo_hash: hash, logo_width: width, logo_height: height } = row;
  return {
    id: row.id,
    name: row.name,
    active: row.active,
    allowIps: row.allow_ips,
    spreadBasisPoints: row.spread_basis_points,
    sweepMinUsdCents: row.sweep_min_usd_cents,
    allowOrigins: row.allow_origins,
    coins: { order: row.coin_order, off: row.coins_off },
    monitoringHours: row.monitoring_hours,
    accent: row.accent,
    supportUrl: row.support_url,
    logo: hash === null || width === null || height === null ? null : { hash, width, height },
    createdAt: row.created_at,
    defaultExpiryMinutes: row.default_expiry_minutes,
    defaultCurrency: row.default_currency,
    defaultSuccessUrl: row.default_success_url,
  };
}

/** Saves a new project. It has no logo yet. */
export async function insertProject(trx: Trx, project: Project & { readonly logo: null }): Promise<void> {
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
      coin_order: [...project.coins.order],
      coins_off: [...project.coins.off],
      monitoring_hours: project.monitoringHours,
      accent: project.accent,
      support_url: project.supportUrl,
      created_at: new Date(project.createdAt),
      default_expiry_minutes: project.defaultExpiryMinutes,
      default_currency: project.defaultCurrency,
      default_success_url: project.defaultSuccessUrl,
    } satisfies NewRow<'projects'>)
    .execute();
}

export async function listProjects(executor: Database | Trx): Promise<readonly Project[]> {
  const rows = await selectProjects(executor).orderBy('projects.created_at').orderBy('projects.id').execute();
  return rows.map(projectFromRow);
}

export async function findProject(executor: Database | Trx, id: string): Promise<Project | null> {
  const row = await selectProjects(executor).where('projects.id', '=', id).executeTakeFirst();
  return row === undefined ? null : projectFromRow(row);
}

/**
 * Locks a project until the transaction ends: of two people who change it, the second sees what the first did. Payments
 * are saved meanwhile, because their references to it need its key alone.
 */
export async function lockProject(trx: Trx, id: string): Promise<void> {
  await trx.selectFrom('projects').select('id').where('id', '=', id).forNoKeyUpdate().execute();
}

/** The ids of those that ever had a live payment. */
export async function projectsWithLivePayments(executor: Database | Trx): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    select id from projects p
    where exists (select 1 from payment_day_counts c where c.project_id = p.id and c.mode = 'live')`.execute(executor);
  return new Set(rows.map(({ id }) => id));
}

function selectProjects(executor: Database | Trx) {
  return executor
    .selectFrom('projects')
    .leftJoin('project_logos', 'project_logos.project_id', 'projects.id')
    .select(columnsOf('projects').map((column) => `projects.${column}` as const))
    .select([
      'project_logos.hash as logo_hash',
      'project_logos.width as logo_width',
      'project_logos.height as logo_height',
    ]);
}

/** Changes the given fields of a project and notifies every process; null if there is no such project. */
export async function updateProject(trx: Trx, id: string, changes: ProjectChanges): Promise<Project | null> {
  const { logo, allowIps, allowOrigins, sweepMinUsdCents } = changes;
  const values = {
    name: changes.name,
    active: changes.active,
    allow_ips: allowIps && [...allowIps],
    spread_basis_points: changes.spreadBasisPoints,
    sweep_min_usd_cents: sweepMinUsdCents === undefined ? undefined : String(sweepMinUsdCents),
    allow_origins: allowOrigins && [...allowOrigins],
    coin_order: changes.coins && [...changes.coins.order],
    coins_off: changes.coins && [...changes.coins.off],
    monitoring_hours: changes.monitoringHours,
    accent: changes.accent,
    support_url: changes.supportUrl,
    default_expiry_minutes: changes.defaultExpiryMinutes,
    default_currency: changes.defaultCurrency,
    default_success_url: changes.defaultSuccessUrl,
  };
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
  const updated = await trx
    .updateTable('projects')
    // A logo alone changes no column here, and an update must set one.
    .set((row) => ({ name: row.ref('name'), ...given }))
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  if (updated === undefined) return null;
  if (logo === null) await trx.deleteFrom('project_logos').where('project_id', '=', id).execute();
  else if (logo !== undefined) await saveLogo(trx, id, logo);
  await notify(trx, 'access');
  return findProject(trx, id);
}

async function saveLogo(trx: Trx, projectId: string, logo: Logo): Promise<void> {
  const { hash, type, width, height, bytes } = logo;
  const values = { hash, type, width, height, bytes };
  await trx
    .insertInto('project_logos')
    .values({ project_id: projectId, ...values } satisfies NewRow<'project_logos'>)
    .onConflict((conflict) => conflict.column('project_id').doUpdateSet(values))
    .execute();
}

/** The bytes of the logo with this hash, of any project; null if no project has it. */
export async function findLogo(
  executor: Database | Trx,
  hash: string,
): Promise<{ readonly type: LogoType; readonly bytes: Buffer } | null> {
  const row = await executor
    .selectFrom('project_logos')
    .select(['type', 'bytes'])
    .where('hash', '=', hash)
    .limit(1)
    .executeTakeFirst();
  return row ?? null;
}

/**
 * What anonymous clients may ask about all projects: origins that an active one allows, and the hashes of all logos.
 */
export interface Published {
  readonly origins: ReadonlySet<string>;
  readonly logos: ReadonlySet<string>;
}

export async function findPublished(executor: Database | Trx): Promise<Published> {
  const [projects, logos] = await Promise.all([
    executor.selectFrom('projects').select('allow_origins').where('active', '=', true).execute(),
    executor.selectFrom('project_logos').select('hash').execute(),
  ]);
  return {
    origins: new Set(projects.flatMap(({ allow_origins: origins }) => origins)),
    logos: new Set(logos.map(({ hash }) => hash)),
  };
}

/** A project's spread in hundredths of a percent; 0 if there is no such project. */
export async function spreadOf(executor: Database | Trx, id: string): Promise<number> {
  const row = await executor
    .selectFrom('projects')
    .select('spread_basis_points')
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.spread_basis_points ?? 0;
}

/** Which coins a project's customers are offered; all of them if there is no such project. */
export async function coinChoiceOf(executor: Database | Trx, id: string): Promise<CoinChoice> {
  const row = await executor
    .selectFrom('projects')
    .select(['coin_order', 'coins_off'])
    .where('id', '=', id)
    .executeTakeFirst();
  return row === undefined ? ALL_COINS : { order: row.coin_order, off: row.coins_off };
}

/** The monitoring windows of those of these projects that have one of their own, in hours. */
export async function monitoringWindows(
  executor: Database | Trx,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await executor
    .selectFrom('projects')
    .select(['id', 'monitoring_hours'])
    .where('id', 'in', [...ids])
    .where('monitoring_hours', 'is not', null)
    .execute();
  return new Map(rows.flatMap(({ id, monitoring_hours: hours }) => (hours === null ? [] : [[id, hours] as const])));
}

/** The same as {@link findProject}, locked until the transaction ends. */
export async function findLockedProject(trx: Trx, id: string): Promise<Project | null> {
  await lockProject(trx, id);
  return findProject(trx, id);
}
