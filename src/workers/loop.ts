import type { Problems } from '../domain/problems.ts';

export interface LoopOptions {
  readonly name: string;
  /** One round of work. Returns true if there may be more: then the next round starts at once. */
  readonly work: () => Promise<boolean>;
  /** How long to rest between rounds unless woken. */
  readonly restMs: number;
  /** The result of each round is reported here, under the loop's name. */
  readonly problems: Problems;
}

/** A worker that runs rounds until it is stopped. */
export interface Loop {
  /** Starts the next round now, or right after the running one. */
  wake(): void;
  /** Starts no new round and resolves when the running one is done. */
  stop(): Promise<void>;
}

const MAX_BACKOFF_MS = 5_000;
/** How long stopping waits for a running round that asks a node. */
const STOP_WAIT_MS = 5_000;

/**
 * The loop that all workers use: one round at a time, rest, wake on demand. A failed round is reported and tried again
 * after growing rests, up to five seconds, so that a database that is down is not flooded.
 */
export function startLoop(options: LoopOptions): Loop {
  let stopped = false;
  let woken = false;
  let failures = 0;
  let endRest: (() => void) | null = null;

  const rest = (restMs: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, restMs);
      endRest = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const run = async (): Promise<void> => {
    while (!stopped) {
      woken = false;
      let more = false;
      try {
        more = await options.work();
        failures = 0;
        options.problems.works(options.name);
      } catch (error) {
        failures += 1;
        options.problems.failed(options.name, error);
      }
      if (stopped || (failures === 0 && (more || woken))) continue;
      await rest(failures === 0 ? options.restMs : Math.min(MAX_BACKOFF_MS, options.restMs * 2 ** failures));
      endRest = null;
    }
  };
  const done = run();

  return {
    wake: () => {
      woken = true;
      if (failures === 0) endRest?.();
    },
    stop: () => {
      stopped = true;
      endRest?.();
      return done;
    },
  };
}

/** Waits for workers that stop, but not for a node: a round that hangs on one changes nothing, and comes again. */
export async function stoppedOrHanging(stopping: Promise<unknown>): Promise<void> {
  const waited = new Promise<void>((resolve) => setTimeout(resolve, STOP_WAIT_MS).unref());
  await Promise.race([stopping, waited]);
}
