import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { Type, type Static } from 'typebox';
import { Check } from 'typebox/value';
import type { OtherCopies, Recovery } from '../app/chains/recover.ts';
import { isoTime } from '../wire/time.ts';
import { errorCode, fileFault, reasonOf } from '../embedded/error.ts';
import type { Manifest } from './manifest.ts';

/** A file beside the backups with one line of JSON per restore: the backup, and the numbers that its copy begins at. */
const NOTES_FILE = 'cointill-restores.jsonl';
/** The highest address index (BIP 32), which no counter reaches. */
const MAX_NUMBER = 2_147_483_647;
/** A copy restored this long before a backup was made was a trial that has ended: nobody pays to its addresses now. */
const FORGOTTEN_AFTER_MS = 30 * 86_400_000;

const Note = Type.Object({
  id: Type.String(),
  restored_at: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T[\\d:.]+Z$' }),
  file: Type.String(),
  restored_to: Type.String(),
  wallets: Type.Array(
    Type.Object({
      network: Type.String(),
      first_address: Type.String(),
      next_index: Type.Integer({ minimum: 0, maximum: MAX_NUMBER }),
    }),
  ),
  transaction_numbers: Type.Array(
    Type.Object({
      project_id: Type.String(),
      mode: Type.String(),
      year: Type.Integer(),
      last: Type.Integer({ minimum: 0, maximum: MAX_NUMBER }),
    }),
  ),
});
export type RestoreNote = Static<typeof Note>;

/** The line by which a failed restore withdraws its note. */
const Withdrawal = Type.Object({ id: Type.String(), withdrawn: Type.Literal(true) });

/** The notes beside a backup. `problem`: the reason why some cannot be read. */
export interface Notes {
  readonly file: string;
  /** In the order of the file, which is the same for all who write to it. */
  readonly notes: readonly RestoreNote[];
  readonly problem: string | null;
}

/**
 * The file where restores of a backup are noted. All backups of a folder share it, because copies of different backups
 * can collide too.
 */
export async function notesFileOf(backup: string): Promise<string> {
  // A link to a backup is the same backup, so the notes lie beside its target.
  const file = await realpath(backup).catch(() => backup);
  return notesFileIn(path.dirname(file));
}

/** The file where restores of a folder's backups are noted. */
export function notesFileIn(folder: string): string {
  return path.join(folder, NOTES_FILE);
}

export async function readNotes(file: string): Promise<Notes> {
  try {
    // Never through a link that somebody created in a folder like /tmp.
    const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      const [{ uid }, folder] = [await handle.stat(), await stat(path.dirname(file))];
      if (![0, process.getuid?.() ?? 0, folder.uid].includes(uid)) {
        return { file, notes: [], problem: 'it belongs to somebody else' };
      }
      return { file, ...parseNotes(await handle.readFile('utf8')) };
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { file, notes: [], problem: null };
    return { file, notes: [], problem: `it cannot be read (${errorCode(error) ?? reasonOf(error)})` };
  }
}

function parseNotes(text: string): Pick<Notes, 'notes' | 'problem'> {
  const notes: RestoreNote[] = [];
  const withdrawn = new Set<string>();
  let problem: string | null = null;
  for (const line of text.split('\n').filter((one) => one.trim() !== '')) {
    const value = parse(line);
    if (Check(Note, value)) notes.push(value);
    else if (Check(Withdrawal, value)) withdrawn.add(value.id);
    else problem = 'a line of it cannot be read';
  }
  return { notes: notes.filter(({ id }) => !withdrawn.has(id)), problem };
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** The notes that matter for a restore of this backup. */
export function concerning(
  { takenAt }: Pick<Manifest, 'takenAt'>,
  notes: readonly RestoreNote[],
): readonly RestoreNote[] {
  return notes.filter(({ restored_at: at }) => takenAt - Date.parse(at) <= FORGOTTEN_AFTER_MS);
}

/** The numbers at which other copies begin, by the notes; numbers below the backup's own have no effect. */
export function otherCopiesOf(notes: readonly RestoreNote[]): OtherCopies {
  const wallets = notes.flatMap((note) => note.wallets);
  const counters = notes.flatMap((note) => note.transaction_numbers);
  return {
    nextIndex: (network, firstAddress) =>
      Math.max(
        0,
        ...wallets
          .filter((wallet) => wallet.network === network && wallet.first_address === firstAddress)
          .map((wallet) => wallet.next_index),
      ),
    lastNumber: (projectId, mode, year) =>
      Math.max(
        0,
        ...counters
          .filter((counter) => counter.project_id === projectId && counter.mode === mode && counter.year === year)
          .map((counter) => counter.last),
      ),
  };
}

/** Makes the note of a restore whose copy begins where this recovery ends. */
export function noteOf(
  { wallets, numbers }: Recovery,
  { now, file, place }: { readonly now: number; readonly file: string; readonly place: string },
): RestoreNote {
  return {
    id: randomUUID(),
    restored_at: isoTime(now),
    file: path.basename(file),
    restored_to: place,
    wallets: wallets.map(({ network, firstAddress, to }) => ({ network, first_address: firstAddress, next_index: to })),
    transaction_numbers: numbers.map(({ projectId, mode, year, to }) => ({
      project_id: projectId,
      mode,
      year,
      last: to,
    })),
  };
}

/** Appends a line and syncs it to disk. Returns the reason why that is not possible; null: done. */
export async function addLine(file: string, line: RestoreNote | Static<typeof Withdrawal>): Promise<string | null> {
  try {
    const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
    const handle = await open(file, flags, 0o600);
    try {
      const owner = await stat(path.dirname(file));
      // The owner of the folder, who may write backups there, must be able to read a file that root made.
      if (process.getuid?.() === 0) await handle.chown(owner.uid, owner.gid);
      // The line break first, because a crash may have left half a line at the end.
      const { size } = await handle.stat();
      await handle.appendFile(`${size === 0 ? '' : '\n'}${JSON.stringify(line)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    return null;
  } catch (error) {
    return fileFault(error) ?? reasonOf(error);
  }
}
