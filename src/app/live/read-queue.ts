/** How many reads run at once. The rest wait here instead of in the reader that requests share. */
const MAX_RUNNING = 100;

export interface ReadQueue {
  /** Runs the job when its turn comes; a job already waiting is not added again. A failed job is not repeated. */
  add(job: () => Promise<void>): void;
  remove(job: () => Promise<void>): void;
}

/** One queue for all streams of a process. `onFault` must not throw. */
export function createReadQueue(onFault: (error: unknown) => void): ReadQueue {
  const waiting = new Set<() => Promise<void>>();
  let running = 0;
  const run = async (job: () => Promise<void>): Promise<void> => {
    running += 1;
    try {
      await job();
    } catch (error) {
      onFault(error);
    } finally {
      running -= 1;
      start();
    }
  };
  const start = (): void => {
    for (const job of waiting) {
      if (running >= MAX_RUNNING) return;
      waiting.delete(job);
      void run(job);
    }
  };
  return {
    add: (job) => {
      waiting.add(job);
      start();
    },
    remove: (job) => void waiting.delete(job),
  };
}
