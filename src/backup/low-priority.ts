import { existsSync, readdirSync } from 'node:fs';
import os from 'node:os';

/** Others need the machine more: the shop sells while it is copied. */
const LOW_PRIORITY = 10;

/**
 * Lets a process take what others leave. It may be of a user whose processes are not ours to touch; then it stays as it
 * is.
 */
export function lowerPriority(pid: number): void {
  try {
    os.setPriority(pid, LOW_PRIORITY);
  } catch {
    // It only takes a larger share then.
  }
}

/**
 * The same for this process with all its threads: Linux counts each for itself, and those that are there keep theirs.
 */
export function lowerOwnPriority(): void {
  lowerPriority(process.pid);
  const threads = existsSync('/proc/self/task') ? readdirSync('/proc/self/task') : [];
  for (const thread of threads) lowerPriority(Number(thread));
}
