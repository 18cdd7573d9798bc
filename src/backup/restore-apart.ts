import type { Client } from 'pg';
import { skipIssued, type Recovery } from '../app/chains/recover.ts';
import { onConnection } from '../store/one-connection.ts';
import { MAX_SPREAD } from '../domain/recovery.ts';
import { restoreBackup, type Restored, type RestoreOptions, type RestoreTarget } from './restore-backup.ts';
import {
  addLine,
  concerning,
  otherCopiesOf,
  noteOf,
  notesFileOf,
  readNotes,
  type RestoreNote,
} from './restore-notes.ts';
import type { Manifest } from './manifest.ts';

/** How a restored copy should begin. */
export interface Beginning {
  readonly now: number;
  /** How many numbers to skip beyond those of other copies; null: derived from the busiest day and the lost time. */
  readonly skip: number | null;
  /** At least 0 and below 1. */
  readonly random: () => number;
  /** The name of the target in the note. */
  readonly place: string;
}

/** Where a restored copy begins, and what is known of other copies. */
export interface Apart {
  readonly recovery: Recovery;
  /** Earlier restores noted beside the backup, oldest first. */
  readonly earlier: readonly RestoreNote[];
  readonly notesFile: string;
  /** Why other restores are not known, or this one will not be; null: it is noted. */
  readonly problem: string | null;
  /** Whether there may be earlier restores whose notes could not be read: this copy may begin where one of them did. */
  readonly mayMeetEarlier: boolean;
}

/**
 * Restores a backup as a copy that hands out no address or number which another copy of it, or of another backup in the
 * same folder, may hand out: it begins beyond those noted there, and is noted itself before it can sell.
 *
 * @throws as restoreBackup
 */
export async function restoreApart(
  options: RestoreOptions,
  target: RestoreTarget,
  beginning: Beginning,
): Promise<Restored<Apart>> {
  const file = await notesFileOf(options.file);
  const own: string[] = [];
  try {
    return await restoreBackup(options, target, (client, manifest) =>
      beginApart(client, manifest, { ...beginning, backup: options.file, file, own }),
    );
  } catch (error) {
    for (const id of own) await addLine(file, { id, withdrawn: true });
    throw error;
  }
}

/**
 * Simultaneous restores notice each other by the order of their notes, which never happens more than a few times in a
 * row.
 */
const MAX_TRIES = 20;

async function beginApart(
  client: Client,
  manifest: Manifest,
  beginning: Beginning & { readonly backup: string; readonly file: string; readonly own: string[] },
): Promise<Apart> {
  const { now, skip, random, place, backup, file, own } = beginning;
  const spread = skip === null ? Math.floor(random() * MAX_SPREAD) : 0;
  let known = await readNotes(file);
  await client.query('savepoint pass_over');
  for (let tries = 1; ; tries += 1) {
    const others = known.notes.filter(({ id }) => !own.includes(id));
    const earlier = concerning(manifest, others);
    const otherCopies = otherCopiesOf(earlier);
    const recovery = await skipIssued(onConnection(client), {
      lostSince: manifest.takenAt,
      now,
      skip,
      spread,
      otherCopies,
    });
    const note = noteOf(recovery, { now, file: backup, place });
    const fault = await addLine(file, note);
    if (fault !== null) {
      return {
        recovery,
        earlier,
        notesFile: file,
        problem: known.problem ?? `it cannot be written (${fault})`,
        mayMeetEarlier: known.problem !== null,
      };
    }
    own.push(note.id);
    const after = await readNotes(file);
    const before = after.notes.slice(
      0,
      Math.max(
        0,
        after.notes.findIndex(({ id }) => id === note.id),
      ),
    );
    const isFirst = before.every(({ id }) => own.includes(id) || others.some((one) => one.id === id));
    if (isFirst || tries === MAX_TRIES) {
      const { problem } = after;
      return { recovery, earlier, notesFile: file, problem, mayMeetEarlier: problem !== null };
    }
    // Another restore was noted meanwhile, and does not know of this one.
    await client.query('rollback to savepoint pass_over');
    await addLine(file, { id: note.id, withdrawn: true });
    known = after;
  }
}
