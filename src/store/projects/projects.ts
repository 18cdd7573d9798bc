import { sql, type RawBuilder } from 'kysely';
import type { Fiat } from '../../domain/money.ts';
import { ALL_COINS, type CoinChoice } from '../../domain/coin-choice.ts';
import { type Database, type Trx, timestamp } from '../database.ts';
import { notifyAccess } from '../notifications.ts';
import { below, deleteRows, fields, findRow, insertRows, updateRows, type Stored } from '../rows.ts';
import type { LogoType } from '../schema/projects.ts';
import { PAYMENT_APIS } from '../../domain/payment.ts';
import { MODES, type Mode } from '../../domain/permission.ts';
import { isFinal, PAYMENT_STATUSES } from '../../domain/status.ts';

type Row = Stored<'projects'>;

export interface Project extends Omit<Row, 'coinOrder' | 'coinsOff'> {
  /** The coins that its customers are offered in live mode. */
  readonly coins: CoinChoice;
  /** The hash and size of the logo; `findLogo` reads its bytes. */
  readonly logo: LogoSize | null;
  /** The picture of browsers' tabs, likewise. */
  readonly icon: LogoSize | null;
}

/** A project's pictures. */
export const PICTURES = ['logo', 'icon'] as const;
export type PictureName = (typeof PICTURES)[number];
const PICTURE_TABLES = { logo: 'project_logos', icon: 'project_icons' } as const;

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

/** The fields of a project that can change. Null removes a value; absent fields stay as they are. */
export type ProjectChanges = Partial<Omit<Project, 'id' | 'createdAt' | PictureName>> & {
  readonly [Name in PictureName]?: Logo | null;
};

function projectFromRow({ coinOrder: order, coinsOff: off, ...project }: Row & Pick<Project, PictureName>): Project {
  return { ...project, coins: { order, off } };
}

/** Saves a new project. It has no pictures yet. */
export async function insertProject(
  trx: Trx,
  project: Project & { readonly [Name in PictureName]: null },
): Promise<void> {
  const { order: coinOrder, off: coinsOff } = project.coins;
  await insertRows(trx, 'projects', [{ ...project, coinOrder, coinsOff }]);
}

export async function listProjects(executor: Database | Trx): Promise<readonly Project[]> {
  const rows = await selectProjects(executor).orderBy('projects.created_at').orderBy('projects.id').execute();
  return rows.map(projectFromRow);
}

export async function findProject(executor: Database | Trx, id: string): Promise<Project | null> {
  const row = await selectProjects(executor).where('projects.id', '=', id).executeTakeFirst();
  return row === undefined ? null : projectFromRow(row);
}

/** The currency that a project counts in. */
export async function currencyOf(executor: Database | Trx, id: string): Promise<Fiat> {
  return (await findRow(executor, 'projects', { id }))?.defaultCurrency ?? 'USD';
}

/**
 * Locks a project until the transaction ends: the second of two people who change it sees the first one's change.
 * Payments can still be saved, because their references to the project need only its key.
 */
export async function lockProject(trx: Trx, id: string): Promise<void> {
  await trx.selectFrom('projects').select('id').where('id', '=', id).forNoKeyUpdate().execute();
}

/** The ids of the projects that ever had a live payment. */
export async function projectsWithLivePayments(executor: Database | Trx): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    select id from projects p
    where exists (select 1 from payment_day_counts c where c.project_id = p.id and c.mode = 'live')`.execute(executor);
  return new Set(rows.map(({ id }) => id));
}

function selectProjects(executor: Database | Trx) {
  return executor
    .selectFrom('projects')
    .select(fields('projects'))
    .select(PICTURES.map((name) => pictureSize(name).as(name)));
}

/** The hash and size of a project's picture; null if it has none. */
function pictureSize(name: PictureName): RawBuilder<LogoSize | null> {
  return sql`(select json_build_object('hash', hash, 'width', width, 'height', height)
    from ${sql.table(PICTURE_TABLES[name])} where project_id = projects.id)`;
}

/** Changes the given fields of a project and notifies every process; null if there is no such project. */
export async function updateProject(trx: Trx, id: string, changes: ProjectChanges): Promise<Project | null> {
  const { logo, icon, coins, ...others } = changes;
  const ofCoins = coins === undefined ? {} : { coinOrder: coins.order, coinsOff: coins.off };
  // A change of a picture alone changes no column here, but an update must set one.
  const updated = await updateRows(trx, 'projects', { id }, { id, ...others, ...ofCoins });
  if (updated === 0) return null;
  await savePicture(trx, 'logo', id, logo);
  await savePicture(trx, 'icon', id, icon);
  await notifyAccess(trx);
  return findProject(trx, id);
}

async function savePicture(
  trx: Trx,
  name: PictureName,
  projectId: string,
  picture: Logo | null | undefined,
): Promise<void> {
  if (picture === undefined) return;
  const table = PICTURE_TABLES[name];
  if (picture === null) await deleteRows(trx, table, { projectId });
  else {
    const row = { ...picture, projectId };
    await insertRows(trx, table, [row], { conflict: { by: ['projectId'], set: row } });
  }
}

/** The bytes of the logo or icon with this hash, of any project; null if no project has it. */
export async function findLogo(
  executor: Database | Trx,
  hash: string,
): Promise<{ readonly type: LogoType; readonly bytes: Buffer } | null> {
  const without = ['project_id', 'hash', 'width', 'height'] as const;
  const inTable = (table: 'project_logos' | 'project_icons') =>
    findRow(executor, table, { hash }, { without, limit: 1 });
  return (await inTable('project_logos')) ?? inTable('project_icons');
}

/**
 * The facts of all projects that anonymous clients may ask for: the origins that active projects allow, and the hashes
 * of all logos and icons.
 */
export interface Published {
  readonly origins: ReadonlySet<string>;
  readonly logos: ReadonlySet<string>;
}

export async function findPublished(executor: Database | Trx): Promise<Published> {
  const [projects, logos, icons] = await Promise.all([
    executor.selectFrom('projects').select('allow_origins').where('active', '=', true).execute(),
    executor.selectFrom('project_logos').select('hash').execute(),
    executor.selectFrom('project_icons').select('hash').execute(),
  ]);
  return {
    origins: new Set(projects.flatMap(({ allow_origins: origins }) => origins)),
    logos: new Set([...logos, ...icons].map(({ hash }) => hash)),
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

/** The coins that a project's customers are offered; all of them if there is no such project. */
export async function coinChoiceOf(executor: Database | Trx, id: string): Promise<CoinChoice> {
  const row = await executor
    .selectFrom('projects')
    .select(['coin_order', 'coins_off'])
    .where('id', '=', id)
    .executeTakeFirst();
  return row === undefined ? ALL_COINS : { order: row.coin_order, off: row.coins_off };
}

/** The monitoring windows, in hours, of those of these projects that have one. */
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

/** A project, locked until the transaction ends. */
export async function findLockedProject(trx: Trx, id: string): Promise<Project | null> {
  await lockProject(trx, id);
  return findProject(trx, id);
}

/** How long a preview may be viewed. */
const LIFETIME_MS = 60 * 60_000;

/** Keeps an unsaved logo or icon for an hour, for every process; deletes older ones of all projects. */
export async function keepLogoDraft(db: Database, projectId: string, logo: Logo, now: number): Promise<void> {
  await deleteRows(db, 'logo_drafts', { createdAt: below(now - LIFETIME_MS) });
  const conflict = { by: ['projectId', 'hash'], set: { createdAt: now } } as const;
  await insertRows(db, 'logo_drafts', [{ ...logo, projectId, createdAt: now }], { conflict });
}

/** A project's unsaved logo or icon; null if there is none with this hash. */
export async function findLogoDraft(
  db: Database,
  projectId: string,
  hash: string,
): Promise<{ readonly type: LogoType; readonly bytes: Buffer } | null> {
  return findRow(db, 'logo_drafts', { projectId, hash }, { without: ['project_id', 'hash', 'created_at'] });
}

/** The parts of a project that stop when it is switched off, by mode. */
export type Stops = Readonly<
  Record<
    Mode,
    {
      /** Payments that have not ended. */
      readonly openPayments: number;
      /** Endpoints that receive events. */
      readonly endpoints: number;
      /** Keys that work. */
      readonly keys: number;
    }
  >
>;

const NOT_ENDED = PAYMENT_STATUSES.filter((status) => !isFinal(status));

export async function whatStops(db: Database, projectId: string, now: number): Promise<Stops> {
  const { rows } = await sql<Stops[Mode] & { readonly mode: Mode }>`
    select mode,
      (select count(*)::integer from payments p where p.project_id = ${projectId} and p.mode = m.mode
        and p.surface = any (${PAYMENT_APIS}::text[])
        and p.status = any (${NOT_ENDED}::text[])) as "openPayments",
      (select count(*)::integer from webhook_endpoints e where e.project_id = ${projectId} and e.mode = m.mode
        and e.deleted_at is null and e.disabled_at is null and e.paused_at is null) as endpoints,
      (select count(*)::integer from api_keys k where k.project_id = ${projectId} and k.mode = m.mode
        and k.revoked_at is null and (k.ends_at is null or k.ends_at > ${timestamp(now)})) as keys
    from unnest(${[...MODES]}::text[]) as m (mode)`.execute(db);
  const byMode = new Map(rows.map(({ mode, ...stops }) => [mode, stops]));
  const of = (mode: Mode): Stops[Mode] => byMode.get(mode) ?? { openPayments: 0, endpoints: 0, keys: 0 };
  return { test: of('test'), live: of('live') };
}
