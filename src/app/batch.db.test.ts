import { describe, expect, it } from 'vitest';
import { keyedRequest, newPayment, testApp } from '../../test/harness.ts';
import { createBatcher, OverloadedError } from './batch.ts';
import { newProcessMemory } from './context.ts';
import { createPaymentCreator } from './payments/create-payment.ts';

/** Batches that end when the test says so. */
function heldBatches(options: Partial<Parameters<typeof createBatcher>[0]> = {}) {
  const under: { readonly items: readonly number[]; readonly end: (failure?: Error) => void }[] = [];
  const batcher = createBatcher<number, string>(
    { maxInFlight: 2, maxBatch: 3, maxWaiting: 6, ...options },
    (items) =>
      new Promise((resolve, reject) => {
        const end = (failure?: Error): void => {
          under.splice(under.indexOf(batch), 1);
          if (failure === undefined) resolve(items.map((item) => `result ${item}`));
          else reject(failure);
        };
        const batch = { items, end };
        under.push(batch);
      }),
  );
  return { batcher, under };
}

/** One turn of the event loop, in which batches start. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a batcher', () => {
  it('takes what arrives together into one batch, at once', async () => {
    const { batcher, under } = heldBatches();
    const results = [batcher.add(1), batcher.add(2)];
    await turn();
    expect(under.map(({ items }) => items)).toEqual([[1, 2]]);
    under[0]?.end();
    expect(await Promise.all(results)).toEqual(['result 1', 'result 2']);
  });

  it('never has more batches under way than allowed, and collects the rest in order', async () => {
    const { batcher, under } = heldBatches({ maxWaiting: 100 });
    const results = Array.from({ length: 20 }, (_, item) => batcher.add(item));
    let most = 0;
    const seen: number[] = [];
    for (await turn(); under.length > 0; await turn()) {
      most = Math.max(most, under.length);
      // The later batch ends first: results must find their items all the same.
      const batch = under.at(-1);
      seen.push(...(batch?.items ?? []));
      batch?.end();
    }
    expect(most).toBe(2);
    expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, item) => item));
    expect(await Promise.all(results)).toEqual(Array.from({ length: 20 }, (_, item) => `result ${item}`));
  });

  it('refuses what cannot be done in good time, and takes new items once there is room', async () => {
    const { batcher, under } = heldBatches();
    const results = [];
    for (let item = 0; item < 6; item += 1) results.push(batcher.add(item));
    await turn();
    for (let item = 6; item < 12; item += 1) results.push(batcher.add(item));
    await expect(batcher.add(12)).rejects.toThrow(OverloadedError);
    under[0]?.end();
    await turn();
    results.push(batcher.add(13));
    for (; under.length > 0; await turn()) under[0]?.end();
    expect(await Promise.all(results)).toHaveLength(13);
  });

  it('fails the items of a failed batch and no others', async () => {
    const { batcher, under } = heldBatches();
    const failed = Promise.allSettled([batcher.add(1), batcher.add(2), batcher.add(3)]);
    const fine = batcher.add(4);
    await turn();
    under[0]?.end(new Error('the connection broke'));
    under[0]?.end();
    expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(await fine).toBe('result 4');
  });

  it('is idle when nothing waits and nothing is under way', async () => {
    const { batcher, under } = heldBatches();
    await batcher.idle();
    const results = [1, 2, 3, 4, 5, 6, 7].slice(0, 6).map((item) => batcher.add(item));
    let isIdle = false;
    const idle = batcher.idle().then(() => (isIdle = true));
    await turn();
    under[0]?.end();
    await turn();
    expect(isIdle).toBe(false);
    under[0]?.end();
    await idle;
    await Promise.all(results);
  });
});

describe('payments that are created together', () => {
  it('fail alone: an order that the database refuses leaves its neighbours as they are', async () => {
    const app = await testApp();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 30 }, (_, index) =>
        app.creator.create(
          newPayment(app.projectId, { description: index === 11 ? 'a NUL \0' : 'fine' }),
          () => '',
          null,
        ),
      ),
    );
    expect(outcomes.map(({ status }) => status === 'rejected')).toEqual(
      Array.from({ length: 30 }, (_, index) => index === 11),
    );
    expect(await app.db.selectFrom('payments').select('id').execute()).toHaveLength(29);
    expect(await app.db.selectFrom('events').select('id').execute()).toHaveLength(29);
  });

  it('fail alone: a transaction that the database refuses leaves its neighbours and their numbers as they are', async () => {
    const app = await testApp();
    const create = (description: string) => {
      const request = newPayment(app.projectId, { api: 'transaction', token: null, description });
      return app.creator.create(request, (payment) => payment.transactionNumber ?? '', null);
    };
    const outcomes = await Promise.allSettled(
      Array.from({ length: 30 }, (_, index) => create(index === 11 ? 'a NUL \0' : 'fine')),
    );
    expect(outcomes.map(({ status }) => status).filter((status) => status === 'rejected')).toHaveLength(1);
    expect(outcomes[11]?.status).toBe('rejected');
    const numbers = outcomes.flatMap((one) =>
      one.status === 'fulfilled' && one.value.kind === 'done' ? [one.value.body] : [],
    );
    expect(numbers.toSorted()).toEqual(
      Array.from({ length: 29 }, (_, index) => `TXN-2026-${String(index + 1).padStart(6, '0')}`),
    );
    expect(await app.db.selectFrom('events').select('id').execute()).toHaveLength(29);
  });

  it('keep one payment per idempotency key when two processes batch the same key amid others', async () => {
    const app = await testApp();
    // A process remembers the keys that it works on: an app with a memory of its own is another process.
    const processes = [
      app.creator,
      createPaymentCreator({ ...app, memory: newProcessMemory() }, app.database.pipeline),
    ];
    const idempotency = keyedRequest(app.projectId, 'cart-1');
    const all = processes.flatMap((creator) =>
      Array.from({ length: 15 }, (_, index) =>
        creator.create(newPayment(app.projectId), (payment) => payment.id, index === 7 ? idempotency : null),
      ),
    );
    const outcomes = await Promise.all(all);
    const keyed = [outcomes[7], outcomes[22]];
    expect(new Set(keyed.map((outcome) => outcome?.kind))).toEqual(new Set(['done', 'replayed']));
    expect(new Set(keyed.map((outcome) => (outcome !== undefined && 'body' in outcome ? outcome.body : ''))).size).toBe(
      1,
    );
    expect(outcomes.filter(({ kind }) => kind === 'done')).toHaveLength(29);
    expect(await app.db.selectFrom('payments').select('id').execute()).toHaveLength(29);
  });
});
