import type { Progress } from '../backup/make-backup.ts';
import { writeErrorLines } from './output.ts';

/** A person wants to see that it moves; a log wants to stay short. */
const EVERY_MS = { terminal: 1_000, log: 10_000 } as const;
const MEGABYTE = 1_000_000;

/** Tells on standard error how far a backup or a restore is. */
export function progressTeller(verb: string): (progress: Progress) => void {
  const everyMs = process.stderr.isTTY ? EVERY_MS.terminal : EVERY_MS.log;
  let toldAt = performance.now();
  return ({ table, bytes, ofBytes }) => {
    const now = performance.now();
    if (now - toldAt < everyMs) return;
    toldAt = now;
    const share =
      ofBytes === null || ofBytes === 0 ? '' : ` of ${megabytes(ofBytes)} (${Math.floor((100 * bytes) / ofBytes)} %)`;
    writeErrorLines([`${verb} ${megabytes(bytes)}${share}, now ${table}`]);
  };
}

export function megabytes(bytes: number): string {
  return `${(bytes / MEGABYTE).toFixed(bytes < 10 * MEGABYTE ? 1 : 0)} MB`;
}
