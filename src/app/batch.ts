/** More work is waiting than can be done in reasonable time; the caller should try again shortly. */
export class OverloadedError extends Error {}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

export interface BatchOptions {
  /** How many batches run at once. Items that arrive meanwhile are collected for the next batch. */
  readonly maxInFlight: number;
  readonly maxBatch: number;
  /** How many items can wait; beyond that `add` fails at once with an OverloadedError. */
  readonly maxWaiting: number;
}

export interface Batcher<Item, Result> {
  add(item: Item): Promise<Result>;
  /** Resolves when nothing is waiting or running. */
  idle(): Promise<void>;
}

/**
 * Group commit: items that arrive together go to the database together. No item waits for others: a batch starts at
 * once while fewer than `maxInFlight` are running.
 */
export function createBatcher<Item, Result>(
  options: BatchOptions,
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
): Batcher<Item, Result> {
  let waiting: Waiting<Item, Result>[] = [];
  let inFlight = 0;
  let scheduled = false;
  let idleListeners: (() => void)[] = [];

  const start = (): void => {
    scheduled = false;
    while (waiting.length > 0 && inFlight < options.maxInFlight) {
      const batch = waiting.slice(0, options.maxBatch);
      waiting = waiting.slice(options.maxBatch);
      inFlight += 1;
      void runBatch(batch);
    }
  };

  const runBatch = async (batch: readonly Waiting<Item, Result>[]): Promise<void> => {
    try {
      const results = await run(batch.map(({ item }) => item));
      for (const [index, { resolve, reject }] of batch.entries()) {
        const result = results[index];
        if (result === undefined) reject(new Error('The batch gave no result for this item.'));
        else resolve(result);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      inFlight -= 1;
      start();
      if (waiting.length === 0 && inFlight === 0) {
        for (const listener of idleListeners) listener();
        idleListeners = [];
      }
    }
  };

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        if (waiting.length >= options.maxWaiting) {
          reject(new OverloadedError('Too many requests are waiting for the database.'));
          return;
        }
        waiting.push({ item, resolve, reject });
        if (scheduled) return;
        scheduled = true;
        // One turn of the event loop, so that requests read from several sockets at once share a batch.
        setImmediate(start);
      }),
    idle: () =>
      waiting.length === 0 && inFlight === 0
        ? Promise.resolve()
        : new Promise((resolve) => idleListeners.push(resolve)),
  };
}
