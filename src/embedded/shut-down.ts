import { waitForEnd } from './process.ts';
import type { Log } from './server.ts';

/**
 * How long a fast shutdown (SIGINT) may take before an immediate one (SIGQUIT, recovery at the next start), and how
 * long that may take.
 */
const FAST_SHUTDOWN_MS = 8_000;

const IMMEDIATE_SHUTDOWN_MS = 6_000;

/** Stops a server: fast, and if that takes too long, immediately. */
export async function shutDown(pid: number, log: Log): Promise<void> {
  signal(pid, 'SIGINT');
  if (await waitForEnd(pid, FAST_SHUTDOWN_MS)) return;
  log('warn', 'the embedded database does not stop; stopping it hard', { pid });
  if (!(await killServer(pid))) {
    log('error', 'the embedded database is still running', { pid });
  }
}

/** Ends a server at once, whatever it is doing and whoever uses it; false if it goes on running. */
export async function killServer(pid: number): Promise<boolean> {
  signal(pid, 'SIGQUIT');
  return waitForEnd(pid, IMMEDIATE_SHUTDOWN_MS);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It ended by itself in between.
  }
}
