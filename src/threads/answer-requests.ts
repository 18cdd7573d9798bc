import { parentPort } from 'node:worker_threads';
import { END, type ThreadAnswer, type ThreadRequest } from './thread.ts';

/** Answers the requests of the thread that started this one, until it ends this one. */
export function answerRequests(answer: (request: never) => Promise<unknown>): void {
  const port = parentPort;
  const post = (message: ThreadAnswer<unknown>): void => port?.postMessage(message);
  port?.on('message', (message: ThreadRequest<never> | typeof END) => {
    if (message === END) {
      port.close();
      return;
    }
    const { id, request } = message;
    answer(request).then(
      (given) => post({ id, answer: given }),
      (error: unknown) => post({ id, error }),
    );
  });
}
