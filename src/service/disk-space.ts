import { statfs } from 'node:fs/promises';
import path from 'node:path';
import { sharedAnswer } from '../app/shared-answer.ts';
import { within } from '../app/within.ts';
import type { Config } from '../config/config.ts';
import type { WatchedPart } from './readiness.ts';

/** How much room the disk of a folder has; the folder is named by its setting. */
export interface DiskSpace {
  readonly folder: string;
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** The room on the disks that this process writes to. */
export interface DiskWatch extends WatchedPart {
  /** A folder that cannot be asked is left out. */
  read(): Promise<readonly DiskSpace[]>;
}

/** Space does not vanish faster, and who freed some need not wait. */
const KEEP_MS = 1_000;
const WITHIN_MS = 1_000;
/** Below a tenth of the disk, or this where a tenth is more, somebody has to make room. */
const LOW_BYTES = 1e9;

/**
 * Watches the disks of the embedded database and of the scheduled backups, where this process has them. The disk of a
 * database elsewhere cannot be seen from here. Null: there is none to watch.
 */
export function watchDisks({ databaseUrl, dataDir, backups, role }: Config): DiskWatch | null {
  const folders = [
    ...(databaseUrl === null ? [['DATA_DIR', path.join(dataDir, 'postgres')] as const] : []),
    ...(backups !== null && role !== 'api' ? [['BACKUP_DIR', backups.folder] as const] : []),
  ];
  if (folders.length === 0) return null;
  // One question a folder at a time: on a network disk that hangs, each would keep a thread for ever.
  const askers = folders.map(([folder, place]) =>
    sharedAnswer(KEEP_MS, async () => spaceOf(folder, await statfs(place))),
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

function spaceOf(
  folder: string,
  { bavail, blocks, bsize }: { readonly bavail: number; readonly blocks: number; readonly bsize: number },
): DiskSpace {
  return { folder, freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

export function isLow({ freeBytes, totalBytes }: DiskSpace): boolean {
  return freeBytes < Math.min(totalBytes / 10, LOW_BYTES);
}

function lowText({ folder, freeBytes, totalBytes }: DiskSpace): string {
  const percent = Math.floor((freeBytes / totalBytes) * 100);
  return `the disk of ${folder} has ${Math.floor(freeBytes / 1e6)} MB left (${percent} %)`;
}
