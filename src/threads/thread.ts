import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** How long a thread may work on its requests before it is terminated. */
const GRACE_MS = 2_000;

/** The message that ends the thread once it has answered the requests before. */
export const END = 'end';

export interface ThreadRequest<Request> {
  readonly id: number;
  readonly request: Request;
}

export type ThreadAnswer<Answer> =
  | { readonly id: number; readonly answer: Answer }
  | { readonly id: number; readonly error: unknown };

export interface Thread<Request, Answer> {
  /** Asks the thread, which answers requests in their order. Rejects if the thread ends before. */
  readonly ask: (request: Request) => Promise<Answer>;
  readonly stop: () => Promise<void>;
  /** Ends the thread in the middle of its work. */
  readonly terminate: () => Promise<void>;
}

/**
 * Work on a thread of its own, so that requests of clients go on meanwhile. `program` is a file that calls
 * `answerRequests`, and `task` says what the thread does. The thread starts at the first request, and again at the
 * next one after it ended.
 */
export function createThread<Request, Answer>(
  program: URL,
  workerData: unknown,
  task: string,
): Thread<Request, Answer> {
  let worker: Worker | null = null;
  let lastId = 0;
  const running = new Map<number, PromiseWithResolvers<Answer>>();

  const start = (): Worker => {
    const started = new Worker(program, { workerData });
    const ended = (error: unknown): void => {
      if (worker !== started) return;
      worker = null;
      for (const { reject } of running.values()) reject(error);
      running.clear();
    };
    started.on('message', (message: ThreadAnswer<Answer>) => {
      const request = running.get(message.id);
      running.delete(message.id);
      if ('error' in message) request?.reject(message.error);
      else request?.resolve(message.answer);
    });
    started.on('error', ended);
    started.on('exit', (code) => ended(new Error(`The thread that ${task} ended with code ${code}.`)));
    // The process may end although the thread waits for requests.
    started.unref();
    return started;
  };

  return {
    ask: (request) => {
      worker ??= start();
      const asked = Promise.withResolvers<Answer>();
      lastId += 1;
      running.set(lastId, asked);
      worker.postMessage({ id: lastId, request } satisfies ThreadRequest<Request>);
      return asked.promise;
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
    terminate: async () => {
      await worker?.terminate();
    },
  };
}
