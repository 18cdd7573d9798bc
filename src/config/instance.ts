import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import type { Config } from './config.ts';

/** Which process this is, and on which data: what a second start on the same port asks the first one. */
export interface Instance {
  readonly pid: number;
  /** Equal for two processes on the same database; says nothing about where that is. */
  readonly data: string;
}

/** This process, with these settings. */
export function thisInstance({ databaseUrl, dataDir }: Config): Instance {
  return {
    pid: process.pid,
    data: createHash('sha256').update(placeOf(databaseUrl, dataDir)).digest('hex').slice(0, 16),
  };
}

/** Without a password, which could be guessed from a hash. */
function placeOf(databaseUrl: string | null, dataDir: string): string {
  if (databaseUrl !== null) {
    const url = URL.parse(databaseUrl);
    return `${url?.host} ${url?.pathname} ${url?.searchParams.get('host')}`;
  }
  try {
    return realpathSync(dataDir);
  } catch {
    // It is not made yet, so nobody else is on it.
    return dataDir;
  }
}
