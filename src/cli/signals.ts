import { CommandFailure } from './failure.ts';

/**
 * Within this time a repeated signal counts as the first one: npm passes on a Ctrl-C that the terminal already sent to
 * us.
 */
const SAME_SIGNAL_MS = 500;

/**
 * Resolves at the first SIGINT or SIGTERM, after which a second one ends the process at once, or when the terminal is
 * closed (SIGHUP, which both the kernel and the shell may send).
 */
export function untilStopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let firstAt: number | null = null;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (firstAt === null) {
        firstAt = performance.now();
        resolve(signal);
      } else if (performance.now() - firstAt > SAME_SIGNAL_MS) {
        process.exit(1);
      }
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
    process.on('SIGHUP', () => resolve('SIGHUP'));
  });
}

/** The exit code by which a shell reports a signal: 128 plus the signal's number. */
const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
type StopSignal = keyof typeof EXIT_CODES;
const STOP_SIGNALS: readonly StopSignal[] = ['SIGHUP', 'SIGINT', 'SIGTERM'];

/** A signal ended a command's work, which has removed its unfinished results. */
export class StoppedFailure extends CommandFailure {
  readonly exitCode: number;

  constructor(signal: StopSignal) {
    super(`Stopped by ${signal} before the command was done. Any incomplete output was deleted.`);
    this.exitCode = EXIT_CODES[signal];
  }
}

/**
 * Runs work that a signal can abort: `stopping` is aborted at the first signal, and the work then removes its
 * unfinished results and fails. A second signal ends the process at once. If the work finishes before it notices, it
 * counts as done: a signal while its result is printed changes nothing.
 *
 * @throws StoppedFailure instead of the work's own error if it was stopped
 */
export async function untilStopped<Result>(work: (stopping: AbortSignal) => Promise<Result>): Promise<Result> {
  const stopping = new AbortController();
  let first: { readonly failure: StoppedFailure; readonly at: number } | null = null;
  const onSignal = (signal: NodeJS.Signals): void => {
    const name = STOP_SIGNALS.find((one) => one === signal);
    if (name === undefined) return;
    if (first === null) {
      first = { failure: new StoppedFailure(name), at: performance.now() };
      stopping.abort(first.failure);
    } else if (performance.now() - first.at > SAME_SIGNAL_MS) {
      process.exit(first.failure.exitCode);
    }
  };
  for (const signal of STOP_SIGNALS) process.on(signal, onSignal);
  try {
    // The listeners stay: without them a signal would end the process as if nothing had been done.
    return await work(stopping.signal);
  } catch (error) {
    for (const signal of STOP_SIGNALS) process.removeListener(signal, onSignal);
    stopping.signal.throwIfAborted();
    throw error;
  }
}
