import { sql } from 'kysely';
import type { Network } from '../../domain/networks.ts';
import { timestamp, type Database, type Trx } from '../database.ts';
import { notification } from '../notifications.ts';
import { type SweepPurpose, type SweepSource, type SweepState } from '../schema/sweeps.ts';
import { allColumns, columnsOf, type NewRow } from '../tables.ts';

export type { SweepState } from '../schema/sweeps.ts';

/** A transaction that pays deposits out, or puts their factory on the chain. */
export interface Sweep {
  readonly id: string;
  readonly projectId: string;
  readonly network: Network;
  readonly purpose: SweepPurpose;
  readonly source: SweepSource;
  readonly state: SweepState;
  readonly treasury: string | null;
  readonly personId: string | null;
  readonly sender: string | null;
  readonly callTo: string | null;
  readonly callData: string | null;
  readonly transactionHash: string | null;
  /** Why it failed or ended, as a word: the page has the sentence. */
  readonly problem: SweepProblem | null;
  readonly createdAt: number;
  /** When its wallet sent it or, while it waits to be mined, when a node knew it last. */
  readonly sentAt: number | null;
  readonly height: number | null;
  readonly blockHash: string | null;
  readonly minedAt: number | null;
  readonly gasUsed: bigint | null;
  readonly feeUnits: bigint | null;
  readonly feeUsdCents: bigint | null;
  readonly finalAt: number | null;
  /** When it is followed next; null: never again. */
  readonly checkAt: number | null;
}

/** `declined`: by the person; `silent`: nothing was heard of it; `lost`: no node knows it any more. */
export type SweepProblem = 'declined' | 'silent' | 'lost' | 'reverted' | 'paid_nothing';

/** A time as the database takes it. */
export const date = (at: number | null): Date | null => (at === null ? null : new Date(at));
/** An amount as the database takes it. */
export const digits = (units: bigint | null): string | null => (units === null ? null : String(units));

/** Inserts a sweep; false if the project has one with this transaction already. */
export async function insertSweep(trx: Trx, sweep: Sweep): Promise<boolean> {
  const row = await trx
    .insertInto('sweeps')
    .values({
      id: sweep.id,
      project_id: sweep.projectId,
      network: sweep.network,
      purpose: sweep.purpose,
      source: sweep.source,
      state: sweep.state,
      treasury: sweep.treasury,
      person_id: sweep.personId,
      sender: sweep.sender,
      call_to: sweep.callTo,
      call_data: sweep.callData,
      transaction_hash: sweep.transactionHash,
      problem: sweep.problem,
      created_at: new Date(sweep.createdAt),
      sent_at: date(sweep.sentAt),
      block_height: sweep.height,
      block_hash: sweep.blockHash,
      mined_at: date(sweep.minedAt),
      gas_used: digits(sweep.gasUsed),
      fee_units: digits(sweep.feeUnits),
      fee_usd_cents: digits(sweep.feeUsdCents),
      final_at: date(sweep.finalAt),
      check_at: date(sweep.checkAt),
    } satisfies NewRow<'sweeps'>)
    .onConflict((conflict) => conflict.columns(['project_id', 'network', 'transaction_hash']).doNothing())
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Forgets a sweep that goes on as another one. */
export async function deleteSweep(trx: Trx, { id }: Pick<Sweep, 'id'>): Promise<void> {
  await trx.deleteFrom('sweeps').where('id', '=', id).execute();
}

/** What may change of a sweep; a field that is left out stays. */
export type SweepChange = Partial<Omit<Sweep, 'id' | 'projectId' | 'network' | 'purpose' | 'source' | 'createdAt'>>;

/** Writes it, and notifies the project's open pages of what they show. */
export async function updateSweep(trx: Trx, { id, projectId }: Pick<Sweep, 'id' | 'projectId'>, change: SweepChange) {
  await trx
    .updateTable('sweeps')
    .set({
      ...(change.state !== undefined && { state: change.state }),
      ...(change.sender !== undefined && { sender: change.sender }),
      ...(change.transactionHash !== undefined && { transaction_hash: change.transactionHash }),
      ...(change.problem !== undefined && { problem: change.problem }),
      ...(change.sentAt !== undefined && { sent_at: date(change.sentAt) }),
      ...(change.height !== undefined && { block_height: change.height }),
      ...(change.blockHash !== undefined && { block_hash: change.blockHash }),
      ...(change.minedAt !== undefined && { mined_at: date(change.minedAt) }),
      ...(change.gasUsed !== undefined && { gas_used: digits(change.gasUsed) }),
      ...(change.feeUnits !== undefined && { fee_units: digits(change.feeUnits) }),
      ...(change.feeUsdCents !== undefined && { fee_usd_cents: digits(change.feeUsdCents) }),
      ...(change.finalAt !== undefined && { final_at: date(change.finalAt) }),
      ...(change.checkAt !== undefined && { check_at: date(change.checkAt) }),
    })
    .where('id', '=', id)
    .execute();
  if (Object.keys(change).some((field) => !UNSEEN.includes(field))) await notifySweeps(trx, projectId);
}

/** Fields that change while a sweep is followed, without anything that pages show. */
const UNSEEN: readonly string[] = ['sentAt', 'checkAt', 'finalAt'] satisfies (keyof SweepChange)[];

/** Notifies every process that a project's sweeps or deposits changed, when the transaction commits. */
export async function notifySweeps(trx: Trx, projectId: string): Promise<void> {
  await sql`select ${notification('sweeps', projectId)}`.execute(trx);
}

type Row = Awaited<ReturnType<ReturnType<typeof selectSweeps>['execute']>>[number];

function selectSweeps(db: Database | Trx) {
  return db.selectFrom('sweeps').select(columnsOf('sweeps'));
}

function sweepOf(row: Row): Sweep {
  return {
    id: row.id,
    projectId: row.project_id,
    network: row.network,
    purpose: row.purpose,
    source: row.source,
    state: row.state,
    treasury: row.treasury,
    personId: row.person_id,
    sender: row.sender,
    callTo: row.call_to,
    callData: row.call_data,
    transactionHash: row.transaction_hash,
    problem: row.problem as SweepProblem | null,
    createdAt: row.created_at,
    sentAt: row.sent_at,
    height: row.block_height,
    blockHash: row.block_hash,
    minedAt: row.mined_at,
    gasUsed: row.gas_used,
    feeUnits: row.fee_units,
    feeUsdCents: row.fee_usd_cents,
    finalAt: row.final_at,
    checkAt: row.check_at,
  };
}

/** Locks a project's sweeps against another plan until the transaction ends. */
export async function lockSweeps(trx: Trx, projectId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`sweeps ${projectId}`}, 0))`.execute(trx);
}

/** One sweep of a project, locked until the transaction ends. */
export async function lockSweep(trx: Trx, projectId: string, id: string): Promise<Sweep | null> {
  const row = await selectSweeps(trx)
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .forUpdate()
    .executeTakeFirst();
  return row === undefined ? null : sweepOf(row);
}

/** Those whose end the chain has not shown yet, oldest first. */
export async function openSweeps(db: Database | Trx, projectId: string): Promise<readonly Sweep[]> {
  const rows = await selectSweeps(db)
    .where('project_id', '=', projectId)
    .where('state', 'in', ['asked', 'sent', 'seen'])
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(sweepOf);
}

/** A project's sweep by its transaction. */
export async function sweepByTransaction(
  trx: Trx,
  { projectId, network, transactionHash }: { projectId: string; network: Network; transactionHash: string },
): Promise<Sweep | null> {
  const row = await selectSweeps(trx)
    .where('project_id', '=', projectId)
    .where('network', '=', network)
    .where('transaction_hash', '=', transactionHash)
    .forUpdate()
    .executeTakeFirst();
  return row === undefined ? null : sweepOf(row);
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
  let query = selectSweeps(db)
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
  return (await query.execute()).map(sweepOf);
}

/** The e-mail addresses of those who sent sweeps, by their id. */
export async function sendersOf(db: Database, sweeps: readonly Sweep[]): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(sweeps.flatMap(({ personId }) => (personId === null ? [] : [personId])))];
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('people').select(['id', 'email']).where('id', 'in', ids).execute();
  return new Map(rows.map(({ id, email }) => [id, email]));
}

/**
 * Claims sweeps that are due, of one project or of all: nobody else gets them until `until`. A process that dies leaves
 * them to the next one.
 */
export async function claimDueSweeps(
  db: Database,
  { now, until, limit, projectId = null }: { now: number; until: number; limit: number; projectId?: string | null },
): Promise<readonly Sweep[]> {
  const { rows } = await sql<Row>`
    update sweeps set check_at = ${timestamp(until)}
    where id in (
      select id from sweeps where check_at <= ${timestamp(now)} and (${projectId}::uuid is null or project_id = ${projectId})
      order by check_at limit ${limit} for update skip locked)
    returning ${allColumns('sweeps')}`.execute(db);
  return rows.map(sweepOf);
}

/**
 * Makes those due of which the block, the transaction or the fee is unknown and that nobody asks about any more: former
 * versions recorded them so for good.
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
  await db
    .updateTable('sweeps')
    .set({ check_at: new Date(now) })
    .where('project_id', '=', projectId)
    .where('state', 'in', ['sent', 'seen'])
    .execute();
}
