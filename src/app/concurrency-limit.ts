/** Does the work of each in turn: at most so much at once, the rest in its order. Others never wait for it. */
export type ConcurrencyLimit = <Result>(whose: string, work: () => Promise<Result>) => Promise<Result>;

/** Turns of everybody's own, at most `atOnce` at a time. */
export function createConcurrencyLimit(atOnce: number): ConcurrencyLimit {
  const queues = new Map<string, { running: number; readonly waiting: (() => void)[] }>();
  return async (whose, work) => {
    const queue = queues.get(whose) ?? { running: 0, waiting: [] };
    queues.set(whose, queue);
    // Whoever ends hands its place on, so that nobody who comes just then is before those who wait.
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
