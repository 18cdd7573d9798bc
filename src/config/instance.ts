import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import type { Config } from './config.ts';

/** Identifies a process and its data. A second start on the same port asks the first process for them. */
export interface Instance {
  readonly pid: number;
  /** Equal for two processes on the same database, without revealing its place. */
  readonly data: string;
}

export function thisInstance({ databaseUrl, dataDir }: Config): Instance {
  return {
    pid: process.pid,
    data: createHash('sha256').update(placeOf(databaseUrl, dataDir)).digest('hex').slice(0, 16),
  };
}

/** The place of the database, without its password, which could be guessed from a hash. */
function placeOf(databaseUrl: string | null, dataDir: string): string {
  if (databaseUrl !== null) {
    const url = URL.parse(databaseUrl);
    // The role and the options decide the schema.
    const parameters = [url?.searchParams.get('host'), url?.searchParams.get('options')];
    return [url?.host, url?.pathname, url?.username, ...parameters].join(' ');
  }
  try {
    return realpathSync(dataDir);
  } catch {
    // The folder does not exist yet, so no other process uses it.
    return dataDir;
  }
}
