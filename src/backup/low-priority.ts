import { existsSync, readdirSync } from 'node:fs';
import os from 'node:os';

/** Others need the machine more: the shop sells while it is copied. */
const LOW_PRIORITY = 10;

/** Lowers the priority of a process. If it belongs to a user whose processes we cannot change, it stays as it is. */
export function lowerPriority(pid: number): void {
  try {
    os.setPriority(pid, LOW_PRIORITY);
  } catch {
    // Then it only takes a larger share.
  }
}

/** The same for all threads of this process: Linux has a priority per thread, and existing threads keep theirs. */
export function lowerOwnPriority(): void {
  lowerPriority(process.pid);
  const threads = existsSync('/proc/self/task') ? readdirSync('/proc/self/task') : [];
  for (const thread of threads) lowerPriority(Number(thread));
}
