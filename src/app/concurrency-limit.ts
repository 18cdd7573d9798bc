/** Runs the work of each client in order, a limited number at a time. Clients never wait for each other. */
export type ConcurrencyLimit = <Result>(whose: string, work: () => Promise<Result>) => Promise<Result>;

/** A limit per client: at most `atOnce` at a time. */
export function createConcurrencyLimit(atOnce: number): ConcurrencyLimit {
  const queues = new Map<string, { running: number; readonly waiting: (() => void)[] }>();
  return async (whose, work) => {
    const queue = queues.get(whose) ?? { running: 0, waiting: [] };
    queues.set(whose, queue);
    // Finished work passes its slot on, so that nobody who arrives just then overtakes those who wait.
    if (queue.running < atOnce) queue.running += 1;
    else await new Promise<void>((resolve) => queue.waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = queue.waiting.shift();
      if (next !== undefined) next();
      else if ((queue.running -= 1) === 0) queues.delete(whose);
    }
  };
}
