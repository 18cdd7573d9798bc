import { statfs } from 'node:fs/promises';
import path from 'node:path';
import { sharedAnswer } from '../app/shared-answer.ts';
import { within } from '../app/within.ts';
import type { Config } from '../config/config.ts';
import type { WatchedPart } from './readiness.ts';

/** The free space on the disk of a folder. */
export interface DiskSpace {
  /** The setting that names the folder. */
  readonly folder: string;
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** Watches the disks that this process writes to. */
export interface DiskWatch extends WatchedPart {
  /** Leaves out a disk that does not answer. */
  read(): Promise<readonly DiskSpace[]>;
}

/** Space does not vanish faster than this, and somebody who freed some need not wait long. */
const KEEP_MS = 1_000;
const WITHIN_MS = 1_000;
/** Space is low below a tenth of the disk or below this, whichever is less. */
const LOW_BYTES = 1e9;

/**
 * Watches the disks of the embedded database and of the scheduled backups; null: this process has neither. The disk of
 * an external database cannot be seen from here.
 */
export function watchDisks({ databaseUrl, dataDir, backups, role }: Config): DiskWatch | null {
  const folders = [
    ...(databaseUrl === null ? [['DATA_DIR', path.join(dataDir, 'postgres')] as const] : []),
    ...(backups !== null && role !== 'api' ? [['BACKUP_DIR', backups.folder] as const] : []),
  ];
  if (folders.length === 0) return null;
  // One call a folder at a time: on a network disk that hangs, each call would keep a thread forever.
  const askers = folders.map(([folder, place]) =>
    sharedAnswer(KEEP_MS, async (): Promise<DiskSpace> => {
      const { bavail, blocks, bsize } = await statfs(place);
      return { folder, freeBytes: bavail * bsize, totalBytes: blocks * bsize };
    }),
  );
  const read = async (): Promise<readonly DiskSpace[]> => {
    const asked = await Promise.allSettled(askers.map((ask) => within(WITHIN_MS, ask())));
    return asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  };
  return {
    name: 'disk',
    read,
    problem: async () => {
      const low = (await read()).filter(isLow);
      return low.length === 0 ? null : low.map(lowText).join('; ');
    },
  };
}

function isLow({ freeBytes, totalBytes }: DiskSpace): boolean {
  return freeBytes < Math.min(totalBytes / 10, LOW_BYTES);
}

function lowText({ folder, freeBytes, totalBytes }: DiskSpace): string {
  const percent = Math.floor((freeBytes / totalBytes) * 100);
  return `the disk of ${folder} has ${Math.floor(freeBytes / 1e6)} MB left (${percent} %)`;
}
