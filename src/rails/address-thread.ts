import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { DeriveAddresses } from './derive-addresses.ts';
import type { UtxoChains } from './family.ts';

/** How long a thread may work on its requests before it is terminated. */
const GRACE_MS = 2_000;

/** The message that ends the thread once it has answered the requests before. */
export const END = 'end';

export interface AddressRequest {
  readonly id: number;
  readonly wanted: Parameters<DeriveAddresses>;
}

type AddressAnswer =
  | { readonly id: number; readonly addresses: readonly string[] | null }
  | { readonly id: number; readonly error: unknown };

export interface AddressThread {
  /** Requests are answered in their order. */
  readonly derive: DeriveAddresses;
  readonly stop: () => Promise<void>;
}

/**
 * Derives addresses on a thread of its own, so that requests go on meanwhile (docs/design/group-commit.md). The thread
 * starts at the first request, and again at the next one after it ended.
 */
export function createAddressThread(chains: UtxoChains): AddressThread {
  let worker: Worker | null = null;
  let lastId = 0;
  const running = new Map<number, PromiseWithResolvers<readonly string[] | null>>();

  const start = (): Worker => {
    const started = new Worker(new URL('./address-worker.ts', import.meta.url), { workerData: chains });
    const ended = (error: unknown): void => {
      if (worker !== started) return;
      worker = null;
      for (const { reject } of running.values()) reject(error);
      running.clear();
    };
    started.on('message', (answer: AddressAnswer) => {
      const request = running.get(answer.id);
      running.delete(answer.id);
      if ('error' in answer) request?.reject(answer.error);
      else request?.resolve(answer.addresses);
    });
    started.on('error', ended);
    started.on('exit', (code) => ended(new Error(`The thread that derives addresses ended with code ${code}.`)));
    // The process may end although the thread waits for requests.
    started.unref();
    return started;
  };

  return {
    derive: (...wanted) => {
      worker ??= start();
      const request = Promise.withResolvers<readonly string[] | null>();
      lastId += 1;
      running.set(lastId, request);
      worker.postMessage({ id: lastId, wanted } satisfies AddressRequest);
      return request.promise;
    },
    stop: async () => {
      const ending = worker;
      if (ending === null) return;
      const exited = once(ending, 'exit');
      ending.ref();
      ending.postMessage(END);
      // A thread that is terminated in the middle of its work occasionally takes the process down (SIGTRAP).
      const late = setTimeout(() => void ending.terminate(), GRACE_MS);
      await exited;
      clearTimeout(late);
    },
  };
}
