/** How long a signal counts as the first one again: npm passes on a Ctrl-C that the terminal has sent to us already. */
const SAME_SIGNAL_MS = 500;

/**
 * Resolves at the first SIGINT or SIGTERM, of which a second one ends the process at once, or when the terminal is closed
 * (SIGHUP), which the kernel and the shell may both tell.
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
