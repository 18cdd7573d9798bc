import type { Progress } from '../backup/make-backup.ts';
import { writeErrorLines } from './output.ts';

/** A person wants to see progress; a log should stay short. */
const EVERY_MS = { terminal: 1_000, log: 10_000 } as const;
const MEGABYTE = 1_000_000;

/**
 * Reports the progress of a backup or a restore on standard error, starting with its first bytes. If anything was
 * reported and the total is known, the end is reported too.
 */
export function progressReporter(
  verb: string,
  clock: () => number = () => performance.now(),
  report: (line: string) => void = (line) => writeErrorLines([line]),
): (progress: Progress) => void {
  const everyMs = process.stderr.isTTY ? EVERY_MS.terminal : EVERY_MS.log;
  let reportedAt: number | null = null;
  let isBegun = false;
  return ({ table, bytes, ofBytes }) => {
    const now = clock();
    reportedAt ??= now;
    const isEnd = isBegun && bytes === ofBytes;
    if (!isEnd && now - reportedAt < everyMs) return;
    reportedAt = now;
    isBegun = bytes !== ofBytes;
    const share =
      ofBytes === null || ofBytes === 0 ? '' : ` of ${megabytes(ofBytes)} (${Math.floor((100 * bytes) / ofBytes)} %)`;
    report(`${verb} ${megabytes(bytes)}${share}, now ${bytes === ofBytes ? 'its indexes' : table}`);
  };
}

/** Formats bytes as `2.4 MB`; as `25 kB` if that would be less than a tenth. */
export function megabytes(bytes: number): string {
  if (bytes < MEGABYTE / 10) return `${Math.ceil(bytes / 1_000)} kB`;
  return `${(bytes / MEGABYTE).toFixed(bytes < 10 * MEGABYTE ? 1 : 0)} MB`;
}
