import { describe, expect, it } from 'vitest';
import type { DueDelivery } from '../../store/webhooks/deliveries.ts';
import {
  createDeliveryQueues,
  endAttempt,
  startNext,
  type DeliveryQueue,
  type DeliveryQueues,
} from './delivery-queues.ts';

function due(endpointId: string, count: number): readonly DueDelivery[] {
  const endpoint = {
    id: endpointId,
    projectId: 'project',
    mode: 'test',
    url: 'https://shop.example/',
    events: [],
    createdAt: 0,
    secretVersion: 1,
    sealedSecret: Buffer.alloc(0),
    previousSealedSecret: null,
    previousSecretUntil: null,
    disabledAt: null,
    disabledReason: null,
    pausedAt: null,
    format: null,
  } as const;
  return Array.from({ length: count }, (_, index) => ({
    id: BigInt(index),
    attempts: 0,
    eventId: 'event',
    body: '{}',
    requestId: null,
    endpoint,
    leaseUntil: 60_000,
    isRetried: false,
  }));
}

/** The number that a claim with the present quotas takes from an endpoint with more than enough. */
function enqueue(queues: DeliveryQueues, endpointId: string, available: number, now = 0): DeliveryQueue {
  const quotas = queues.quotas(0);
  const count = Math.min(available, quotas.quotas[endpointId] ?? quotas.defaultQuota);
  const [queue] = [...queues.enqueue(due(endpointId, count), { ...quotas, isCut: false, now })];
  if (queue === undefined) throw new Error(`${endpointId} got nothing`);
  return queue;
}

function startAll(queue: DeliveryQueue): number {
  let started = 0;
  while (startNext(queue) !== null) started += 1;
  return started;
}

describe('a queue', () => {
  it('is narrow for a new endpoint, widens with its successes up to a limit, and is narrow again after a failure', () => {
    const queues = createDeliveryQueues();
    expect(startAll(enqueue(queues, 'a', 10_000))).toBe(8);
    const queue = enqueue(queues, 'b', 10_000);
    startAll(queue);
    for (let index = 0; index < 8; index += 1) endAttempt(queue, true);
    expect(startAll(enqueue(queues, 'b', 10_000))).toBe(128);
    expect(queue.waiting).toHaveLength(512 - 128);
    endAttempt(queue, false);
    expect(startNext(queue)).toBeNull();
    expect(queue.concurrency).toBe(8);
  });

  it('wants more only when half of its places are free and the last claim left some behind', () => {
    const queues = createDeliveryQueues();
    const queue = enqueue(queues, 'a', 10_000);
    startAll(queue);
    expect(queues.wantsMore(queue)).toBe(false);
    for (let index = 0; index < 4; index += 1) endAttempt(queue, false);
    expect(queues.wantsMore(queue)).toBe(true);
    enqueue(queues, 'a', 3);
    startAll(queue);
    for (let index = 0; index < 7; index += 1) endAttempt(queue, false);
    expect(queues.wantsMore(queue)).toBe(false);
  });

  it('that had no room when a claim was made may have more', () => {
    const queues = createDeliveryQueues();
    const queue = enqueue(queues, 'a', 7);
    startAll(queue);
    queues.enqueue([], { ...queues.quotas(0), isCut: false, now: 0 });
    for (let index = 0; index < 4; index += 1) endAttempt(queue, false);
    expect(queues.wantsMore(queue)).toBe(true);
  });

  it('may have more when the claim as a whole was cut, however little it got', () => {
    const queues = createDeliveryQueues();
    const queue = enqueue(queues, 'a', 1);
    startAll(queue);
    endAttempt(queue, true);
    queues.enqueue([], { ...queues.quotas(0), isCut: true, now: 0 });
    expect(queues.wantsMore(queue)).toBe(true);
  });

  it('gives up what waited for more than two seconds, and nothing that is being sent', () => {
    const queues = createDeliveryQueues();
    const queue = enqueue(queues, 'slow', 10_000, 1_000);
    startAll(queue);
    endAttempt(queue, true);
    enqueue(queues, 'slow', 100, 1_000);
    startAll(queue);
    const waiting = queue.waiting.length;
    expect(waiting).toBeGreaterThan(0);
    expect(queues.drainStale(3_000)).toHaveLength(0);
    expect(queues.drainStale(3_001)).toHaveLength(waiting);
    expect(queue.sending).toBe(queue.concurrency);
  });
});

describe('endpoints that never answered', () => {
  it('share a thousand places, however many they are, and leave the others theirs', () => {
    const queues = createDeliveryQueues();
    const healthy = enqueue(queues, 'healthy', 1);
    startAll(healthy);
    endAttempt(healthy, true);
    let held = 0;
    for (let index = 0; index < 500; index += 1) {
      const quotas = queues.quotas(0);
      const taken = quotas.quotas[`dead ${index}`] ?? quotas.defaultQuota;
      queues.enqueue(due(`dead ${index}`, taken), { ...quotas, isCut: false, now: 0 });
      held += taken;
    }
    expect(held).toBeLessThanOrEqual(1_000 + 8);
    const quotas = queues.quotas(0);
    expect(quotas.defaultQuota).toBe(0);
    expect(quotas.quotas['dead 0']).toBe(0);
    expect(quotas.quotas['healthy']).toBeGreaterThan(0);
  });
});
