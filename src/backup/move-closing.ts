import type { Client } from 'pg';
import type { Config } from '../config/config.ts';
import { removeDataDir } from '../embedded/building.ts';
import { abandon, removeMark, writeMark } from '../embedded/moved.ts';
import { closeDatabase, recordMoved, reopenDatabase } from '../store/backups/moves.ts';
import type { DatabaseHandle } from '../store/database.ts';

/** The move as its mark names it. */
interface Move {
  readonly id: string;
  readonly place: string;
  readonly at: number;
  readonly url: string | null;
}

/** Closes the old database of a move. */
export interface Closing {
  /** Marks the database, before the new one counts. `unfinished`: the folder that is about to get its name. */
  close(unfinished: string | null): Promise<void>;
  /** Records that the new database counts. */
  arrived(): Promise<void>;
  /** Opens the database again, after making sure that the unfinished folder never gets its name. Never rejects. */
  undo(unfinished: string): Promise<void>;
}

type Marking = Pick<Closing, 'arrived'> & {
  readonly mark: (unfinished: string | null) => Promise<void>;
  readonly unmark: () => Promise<void>;
};

/**
 * @param client the connection with the transaction of the copy, in which nobody else can write
 * @param beforeMark throws if the move is to be aborted; later, it cannot be
 */
export function closingOf(
  { databaseUrl, dataDir }: Config,
  handle: DatabaseHandle,
  client: Client,
  move: Move,
  beforeMark: () => void,
): Closing {
  const marking = databaseUrl === null ? embeddedMarking(dataDir, move) : postgresMarking(handle, client, move);
  return {
    close: async (unfinished) => {
      beforeMark();
      await marking.mark(unfinished);
    },
    arrived: () => marking.arrived(),
    undo: async (unfinished) => {
      const abandoned = await abandon(unfinished).catch(() => null);
      try {
        await marking.unmark();
      } catch {
        // The next process that wants to use the database finds the abandoned folder, and opens the database.
        return;
      }
      if (abandoned !== null) await removeDataDir(abandoned);
    },
  };
}

function embeddedMarking(dataDir: string, move: Move): Marking {
  let unfinished: string | null = null;
  return {
    mark: async (folder) => {
      unfinished = folder;
      await writeMark(dataDir, { ...move, stage: 'moving', unfinished });
    },
    unmark: () => removeMark(dataDir),
    arrived: () => writeMark(dataDir, { ...move, stage: 'moved', unfinished, url: null }),
  };
}

function postgresMarking(handle: DatabaseHandle, client: Client, { id, place, at }: Move): Marking {
  return {
    mark: async (unfinished) => {
      await closeDatabase(client, { id, stage: 'moving', place, unfinished, at });
      await client.query('commit');
    },
    unmark: async () => {
      await client.query('rollback').catch(() => {});
      // The connection of the copy may have been the one that broke.
      const another = await handle.connect();
      try {
        await another.query('begin');
        await reopenDatabase(another, id);
        await another.query('commit');
      } finally {
        await another.end();
      }
    },
    arrived: () => recordMoved(client, id),
  };
}
