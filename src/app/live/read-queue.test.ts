import { expect, it, vi } from 'vitest';
import { createReadQueue } from './read-queue.ts';

it('a job that fails is reported and gives its place back', async () => {
  const onFault = vi.fn<(error: unknown) => void>();
  const queue = createReadQueue(onFault);
  const fault = new Error('The database is away.');
  for (let job = 0; job < 100; job += 1) queue.add(() => Promise.reject(fault));
  const { promise: served, resolve } = Promise.withResolvers<string>();
  queue.add(async () => resolve('served'));
  expect(await served).toBe('served');
  expect(onFault).toHaveBeenCalledTimes(100);
  expect(onFault).toHaveBeenCalledWith(fault);
});
