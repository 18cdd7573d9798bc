import { realpath } from 'node:fs/promises';
import path from 'node:path';
import type { Client } from 'pg';
import { removeDataDir } from '../embedded/building.ts';
import { EmbeddedPostgresError, reasonOf } from '../embedded/error.ts';
import { isUnfinishedOf } from '../embedded/files.ts';
import {
  abandon,
  hasArrivedIn,
  MOVED_NAME,
  movedAway,
  readMark,
  removeMark,
  writeMark,
  type MovedMark,
} from '../embedded/moved.ts';
import { readPostmaster, shutDown } from '../embedded/server.ts';
import { findClosingMove, hasArrived, recordMoved, reopenDatabase, type ClosingMove } from '../store/backups/moves.ts';
import { openDatabase, type DatabaseHandle } from '../store/database.ts';
import { UnfitDatabaseError } from '../store/unfit-database.ts';
import { isoTime } from '../wire/time.ts';

/**
 * A move marks its source before the new database counts. If it is killed in between, the next process that wants to
 * use the source finds out which of the two databases counts, and sees to it that the other one never will.
 */
export interface SettledMove {
  readonly id: string;
  readonly place: string;
  readonly at: number;
  /** Whether this process found out that an interrupted move had arrived. */
  readonly isNews: boolean;
}

type Reached =
  | { readonly kind: 'complete' }
  /** `abandoned`: the folder that will never be the new database; null: there is none. */
  | { readonly kind: 'absent'; readonly abandoned: string | null }
  | { readonly kind: 'unknown'; readonly reason: string };

/**
 * The move that closed the database of a DATA_DIR; null: the database may be used. Ends an interrupted move.
 *
 * @throws EmbeddedPostgresError if nobody can tell which database counts
 */
export async function settleEmbedded(dataDir: string): Promise<SettledMove | null> {
  for (;;) {
    const mark = await readMark(dataDir);
    if (mark === null) return null;
    const { id, place, at } = mark;
    if (mark.stage === 'moved') return { id, place, at, isNews: false };
    const reached = mark.url === null ? await reachedFolder(mark) : await reachedUrl(mark, mark.url);
    if (reached.kind === 'complete') {
      await writeMark(dataDir, { ...mark, stage: 'moved', url: null });
      await endServer(dataDir);
      return { id, place, at, isNews: true };
    }
    const now = await readMark(dataDir);
    // Another process has settled the move meanwhile.
    if (now?.id !== id || now.stage !== mark.stage) continue;
    if (reached.kind === 'unknown') throw notKnown(dataDir, mark, reached.reason);
    await removeMark(dataDir);
    if (reached.abandoned !== null) await removeDataDir(reached.abandoned);
    return null;
  }
}

/**
 * The move that closed the database of this connection; null: the database may be used. Ends an interrupted move.
 *
 * @throws UnfitDatabaseError if nobody can tell which database counts
 */
export async function settlePostgres(client: Client): Promise<SettledMove | null> {
  if ((await findClosingMove(client)) === null) return null;
  await client.query('begin');
  // Another process may settle the move at the same moment.
  const move = await findClosingMove(client, 'locked');
  if (move === null || move.stage === 'moved') {
    await client.query('rollback');
    return move === null ? null : { id: move.id, place: move.place, at: move.at, isNews: false };
  }
  const reached = await reachedFolder(move);
  if (reached.kind === 'unknown') {
    await client.query('rollback');
    throw new UnfitDatabaseError(
      `A move of the database that DATABASE_URL names to ${move.place} was interrupted, and this process cannot tell whether the new database is complete (${reached.reason}). Run the same cointill move again where it ran, as the same user.`,
    );
  }
  if (reached.kind === 'complete') await recordMoved(client, move.id);
  else await reopenDatabase(client, move.id);
  await client.query('commit');
  if (reached.kind === 'complete') return { id: move.id, place: move.place, at: move.at, isNews: true };
  if (reached.abandoned !== null) await removeDataDir(reached.abandoned);
  return null;
}

/** Exactly one process gives the unfinished folder another name: the move its final one, or this one the other. */
async function reachedFolder({
  id,
  place,
  unfinished,
}: Pick<ClosingMove, 'id' | 'place' | 'unfinished'>): Promise<Reached> {
  if (await hasArrivedIn(place, id)) return { kind: 'complete' };
  // An abandoned folder is removed, so a mark that somebody else wrote must not name any other folder.
  if (unfinished !== null && !isUnfinishedOf(unfinished, place)) {
    return { kind: 'unknown', reason: `${unfinished} is no unfinished folder of ${place}` };
  }
  try {
    const abandoned = unfinished === null ? null : await abandon(unfinished);
    if (abandoned !== null) return { kind: 'absent', abandoned };
  } catch (error) {
    return { kind: 'unknown', reason: reasonOf(error) };
  }
  if (await hasArrivedIn(place, id)) return { kind: 'complete' };
  return { kind: 'unknown', reason: `neither ${place} nor an unfinished folder beside it can be seen here` };
}

async function reachedUrl({ id }: Pick<MovedMark, 'id'>, url: string): Promise<Reached> {
  const handle = openDatabase({ connectionString: url }, { maxConnections: 1, onError: () => {} });
  try {
    const client = await handle.connect();
    try {
      return (await hasArrived(client, id)) ? { kind: 'complete' } : { kind: 'absent', abandoned: null };
    } finally {
      await client.end();
    }
  } catch (error) {
    return { kind: 'unknown', reason: reasonOf(error) };
  } finally {
    await handle.close();
  }
}

function notKnown(dataDir: string, { place }: MovedMark, reason: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `A move of the database in ${dataDir} to ${place} was interrupted, and the new database does not tell whether it is complete (${reason}). ` +
      `Make the new database available, and try again. If it is lost for good, remove ${path.join(dataDir, MOVED_NAME)}.`,
  );
}

/** Ends the server of a moved database, whoever uses it. */
export async function endServer(dataDir: string): Promise<void> {
  const cluster = await realpath(path.join(dataDir, 'postgres')).catch(() => null);
  const server = cluster === null ? undefined : await readPostmaster(cluster);
  if (server?.isAlive === true) await shutDown(server.pid, () => {});
}

/**
 * Refuses an embedded database that was moved.
 *
 * @throws EmbeddedPostgresError
 */
export async function refuseMovedEmbedded(dataDir: string): Promise<void> {
  const move = await settleEmbedded(dataDir);
  if (move !== null) throw movedAway(dataDir, move);
}

/**
 * Refuses a database of one's own that was moved.
 *
 * @throws UnfitDatabaseError
 */
export async function refuseMovedPostgres(client: Client): Promise<void> {
  const move = await settlePostgres(client);
  if (move !== null) throw movedFromUrl(move);
}

/** The error for every use of a database of one's own that was moved. */
export function movedFromUrl({ place, at }: Pick<SettledMove, 'place' | 'at'>): UnfitDatabaseError {
  return new UnfitDatabaseError(
    `The database that DATABASE_URL names was moved to ${place} at ${isoTime(at)} and is closed, because its addresses and numbers continue there. Set DATA_DIR=${place}, and unset DATABASE_URL.`,
  );
}

/** The same for the connection of a pool. */
export async function refuseMoved(handle: Pick<DatabaseHandle, 'connect'>): Promise<void> {
  const client = await handle.connect();
  try {
    await refuseMovedPostgres(client);
  } finally {
    await client.end();
  }
}
