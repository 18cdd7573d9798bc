/** How long a signal counts as the first one again: npm passes on a Ctrl-C that the terminal has sent to us already. */
const SAME_SIGNAL_MS = 500;

/** Resolves at the first SIGINT or SIGTERM. A second one ends the process at once. */
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
  });
}
