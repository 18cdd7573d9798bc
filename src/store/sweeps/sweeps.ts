import { sql } from 'kysely';
import type { Network } from '../../domain/networks.ts';
import { timestamp, type Database, type Trx } from '../database.ts';
import { salt } from '../own-schema.ts';
import { wake } from '../wake.ts';
import {
  deleteRows,
  fieldList,
  fields,
  findRow,
  findRows,
  insertRows,
  oneOf,
  updateRows,
  type Stored,
} from '../rows.ts';

/** A transaction that pays deposits out, or deploys their factory. */
export type Sweep = Stored<'sweeps'>;

/** Inserts a sweep; false if the project has one with this transaction already. */
export async function insertSweep(trx: Trx, sweep: Sweep): Promise<boolean> {
  const conflict = { by: ['projectId', 'network', 'transactionHash'] } as const;
  return (await insertRows(trx, 'sweeps', [sweep], { conflict })) > 0;
}

/** Deletes a sweep that another one replaces. */
export async function deleteSweep(trx: Trx, { id }: Pick<Sweep, 'id'>): Promise<void> {
  await deleteRows(trx, 'sweeps', { id });
}

/** The fields of a sweep that may change; absent fields stay as they are. */
export type SweepChange = Partial<Omit<Sweep, 'id' | 'projectId' | 'network' | 'purpose' | 'source' | 'createdAt'>>;

/** Saves a change, and wakes the project's open pages if they show it. */
export async function updateSweep(trx: Trx, { id, projectId }: Pick<Sweep, 'id' | 'projectId'>, change: SweepChange) {
  await updateRows(trx, 'sweeps', { id }, change);
  if (Object.keys(change).some((field) => !UNSEEN.includes(field))) await wake(trx, ['sweeps', projectId]);
}

/** Fields that change while a sweep is followed, and that no page shows. */
const UNSEEN: readonly string[] = ['sentAt', 'checkAt', 'finalAt'] satisfies (keyof SweepChange)[];

/** Locks a project's sweeps against another plan until the transaction ends. */
export async function lockSweeps(trx: Trx, projectId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`sweeps ${projectId}`}, 0) # ${salt})`.execute(trx);
}

/** One sweep of a project, locked until the transaction ends. */
export async function lockSweep(trx: Trx, projectId: string, id: string): Promise<Sweep | null> {
  return findRow(trx, 'sweeps', { id, projectId }, { isLocked: true });
}

/** The sweeps whose end the chain has not shown yet, oldest first. */
export async function openSweeps(db: Database | Trx, projectId: string): Promise<readonly Sweep[]> {
  const open = { projectId, state: oneOf<Sweep['state']>(['asked', 'sent', 'seen']) };
  return findRows(db, 'sweeps', open, { order: ['createdAt', 'id'] });
}

/** A project's sweep by its transaction. */
export async function sweepByTransaction(
  trx: Trx,
  { projectId, network, transactionHash }: { projectId: string; network: Network; transactionHash: string },
): Promise<Sweep | null> {
  return findRow(trx, 'sweeps', { projectId, network, transactionHash }, { isLocked: true });
}

/**
 * The page of a project's ended sweeps, newest first, that begins after the one with the id `after`; without those that
 * were never sent.
 */
export async function endedSweeps(
  db: Database,
  projectId: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<readonly Sweep[]> {
  let query = db
    .selectFrom('sweeps')
    .select(fields('sweeps'))
    .where('project_id', '=', projectId)
    .where('state', 'in', ['mined', 'failed', 'ended'])
    .where((where) => where.or([where('state', '<>', 'ended'), where('transaction_hash', 'is not', null)]))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit);
  if (after !== null) {
    const last = sql`(select created_at, id from sweeps where id = ${after} and project_id = ${projectId})`;
    query = query.where(sql<boolean>`(created_at, id) < ${last}`);
  }
  return query.execute();
}

/** The e-mail addresses of the people who sent sweeps, by their id. */
export async function sendersOf(db: Database, sweeps: readonly Sweep[]): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(sweeps.flatMap(({ personId }) => (personId === null ? [] : [personId])))];
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('people').select(['id', 'email']).where('id', 'in', ids).execute();
  return new Map(rows.map(({ id, email }) => [id, email]));
}

/**
 * Claims sweeps that are due, of one project or of all: no other process gets them until `until`. If this process dies,
 * another continues then.
 */
export async function claimDueSweeps(
  db: Database,
  { now, until, limit, projectId = null }: { now: number; until: number; limit: number; projectId?: string | null },
): Promise<readonly Sweep[]> {
  const { rows } = await sql<Sweep>`
    update sweeps set check_at = ${timestamp(until)}
    where id in (
      select id from sweeps where check_at <= ${timestamp(now)} and (${projectId}::uuid is null or project_id = ${projectId})
      order by check_at limit ${limit} for update skip locked)
    returning ${fieldList('sweeps')}`.execute(db);
  return rows;
}

/**
 * Makes sweeps due whose block, transaction or fee is unknown and that are not due at any time: former versions
 * recorded them as final.
 */
export async function askUnknownAgain(db: Database, now: number): Promise<void> {
  await sql`
    update sweeps set check_at = ${timestamp(now)}
    where state = 'mined' and check_at is null
      and (transaction_hash is null and source = 'chain' or transaction_hash is not null and fee_units is null)`.execute(
    db,
  );
}

/** Makes a project's open sweeps due. */
export async function hurrySweeps(db: Database, projectId: string, now: number): Promise<void> {
  const open = { projectId, state: oneOf<Sweep['state']>(['sent', 'seen']) };
  await updateRows(db, 'sweeps', open, { checkAt: now });
}
