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

/** The terms on which a restored copy begins. */
export interface Beginning {
  readonly now: number;
  /** The numbers to skip beyond those of other copies; null: as many as the busiest day and the lost time suggest. */
  readonly skip: number | null;
  /** A random number from 0 up to, and not including, 1. */
  readonly random: () => number;
  /** The name of the target in the note. */
  readonly place: string;
}

/** The numbers that a restored copy begins at, and the other copies that are known. */
export interface Apart {
  readonly recovery: Recovery;
  /** Earlier restores noted beside the backup, oldest first. */
  readonly earlier: readonly RestoreNote[];
  readonly notesFile: string;
  /** The reason why the notes cannot be read or written; null: this restore is noted. */
  readonly problem: string | null;
  /** Whether there may be earlier restores whose notes could not be read: this copy may begin where one of them did. */
  readonly mayMeetEarlier: boolean;
}

/**
 * Restores a backup as a copy that hands out no address or number of another copy. The copy begins beyond the numbers
 * that the notes of the backup's folder give to other copies, and is noted there itself before it can sell.
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

/** Simultaneous restores notice each other by the order of their notes, rarely more than a few times in a row. */
const MAX_TRIES = 20;

async function beginApart(
  client: Client,
  manifest: Manifest,
  beginning: Beginning & { readonly backup: string; readonly file: string; readonly own: string[] },
): Promise<Apart> {
  const { now, skip, random, place, backup, file, own } = beginning;
  const spread = skip === null ? Math.floor(random() * MAX_SPREAD) : 0;
  let notes = await readNotes(file);
  await client.query('savepoint pass_over');
  for (let tries = 1; ; tries += 1) {
    const others = notes.notes.filter(({ id }) => !own.includes(id));
    const earlier = concerning(manifest, others);
    const recovery = await skipIssued(onConnection(client), {
      lostSince: manifest.takenAt,
      now,
      skip,
      spread,
      otherCopies: otherCopiesOf(earlier),
      reason: 'restored',
    });
    const begun = { recovery, earlier, notesFile: file };
    const note = noteOf(recovery, { now, file: backup, place });
    const fault = await addLine(file, note);
    if (fault !== null) {
      const problem = notes.problem ?? `it cannot be written (${fault})`;
      return { ...begun, problem, mayMeetEarlier: notes.problem !== null };
    }
    own.push(note.id);
    const after = await readNotes(file);
    const position = after.notes.findIndex(({ id }) => id === note.id);
    const counted = new Set([...own, ...others.map(({ id }) => id)]);
    const isFirst = after.notes.slice(0, Math.max(0, position)).every(({ id }) => counted.has(id));
    if (isFirst || tries === MAX_TRIES) {
      return { ...begun, problem: after.problem, mayMeetEarlier: after.problem !== null };
    }
    // Another restore was noted before this one, and may begin at the same numbers.
    await client.query('rollback to savepoint pass_over');
    await addLine(file, { id: note.id, withdrawn: true });
    notes = after;
  }
}
