import type { Client } from 'pg';
import { MIGRATION_LOCK } from '../migrate.ts';
import { SALT } from '../own-schema.ts';
import { COPIED_TABLES } from './copied-tables.ts';

/** The move that closed a database of one's own, or is about to. */
export interface ClosingMove {
  readonly id: string;
  /** `moving`: the new database may or may not count already. */
  readonly stage: 'moving' | 'moved';
  /** The folder of the new database. */
  readonly place: string;
  /** The folder of the new database before it got its name. */
  readonly unfinished: string | null;
  readonly at: number;
}

async function hasTable(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>("select to_regclass('moves') is not null as found");
  return rows[0]?.found === true;
}

/** The move that closed this database; null: the database is open. `locked`: until the open transaction ends. */
export async function findClosingMove(client: Client, how?: 'locked'): Promise<ClosingMove | null> {
  if (!(await hasTable(client))) return null;
  const { rows } = await client.query<ClosingMove>(
    `select id, stage, place, unfinished, at from moves where stage <> 'arrived' ${how === 'locked' ? 'for update' : ''}`,
  );
  return rows[0] ?? null;
}

/**
 * Refuses each write by whatever process: one that lost its connections for a while, or that an earlier version
 * started, does not know of the move.
 */
const GUARD = `
  create function cointill_moved() returns trigger language plpgsql as $$
  begin
    raise exception 'this database was moved to %', tg_argv[0] using errcode = 'read_only_sql_transaction';
  end $$`;

/** Closes the database in the open transaction. */
export async function closeDatabase(client: Client, move: ClosingMove): Promise<void> {
  await client.query('insert into moves (id, stage, place, unfinished, at) values ($1, $2, $3, $4, $5)', [
    move.id,
    move.stage,
    move.place,
    move.unfinished,
    new Date(move.at),
  ]);
  await client.query(GUARD);
  for (const table of Object.keys(COPIED_TABLES).filter((name) => name !== 'moves')) {
    await client.query(
      `create trigger cointill_moved before insert or update or delete or truncate on ${client.escapeIdentifier(table)}
        for each statement execute function cointill_moved(${client.escapeLiteral(move.place)})`,
    );
  }
}

/** Opens a database again whose move has failed. */
export async function reopenDatabase(client: Client, id: string): Promise<void> {
  await client.query('drop function if exists cointill_moved() cascade');
  await client.query('delete from moves where id = $1', [id]);
}

/** Records that the new database counts. */
export async function recordMoved(client: Client, id: string): Promise<void> {
  await client.query("update moves set stage = 'moved' where id = $1", [id]);
}

/**
 * Makes the copy in the open transaction the new database. Its progress in reading the log of transitions waits for
 * transactions of the old server, whose numbers mean nothing here.
 */
export async function recordArrival(client: Client, id: string, from: string, now: number): Promise<void> {
  await client.query('update figures_progress set ended_before = null');
  await client.query('update mail_progress set ended_before = null');
  await client.query("insert into moves (id, stage, place, at) values ($1, 'arrived', $2, $3)", [
    id,
    from,
    new Date(now),
  ]);
}

/**
 * Whether a move arrived in this database. Waits for its transaction, which holds the lock of migrations: afterwards
 * the answer is final.
 */
export async function hasArrived(client: Client, id: string): Promise<boolean> {
  await client.query(`begin; set local lock_timeout = ${ARRIVAL_PATIENCE_MS}`);
  try {
    await client.query(`select pg_advisory_xact_lock($1::bigint # ${SALT})`, [MIGRATION_LOCK]);
    if (!(await hasTable(client))) return false;
    const { rows } = await client.query("select 1 from moves where id = $1 and stage = 'arrived'", [id]);
    return rows.length > 0;
  } finally {
    await client.query('rollback');
  }
}

const ARRIVAL_PATIENCE_MS = 20_000;

/**
 * Lets the server notice within a second that this process was killed, whatever statement is running; not every
 * operating system can.
 */
export async function noticeLostClient(client: Client): Promise<void> {
  await client.query(`do $$ begin
    perform set_config('client_connection_check_interval', '1s', false);
  exception when others then null;
  end $$`);
}
