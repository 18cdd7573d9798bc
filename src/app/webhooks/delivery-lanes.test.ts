import { describe, expect, it } from 'vitest';
import type { DueDelivery } from '../../store/deliveries.ts';
import { createLanes, type Lane, type Lanes } from './delivery-lanes.ts';

function due(endpointId: string, count: number): readonly DueDelivery[] {
  const endpoint = {
    id: endpointId,
    projectId: 'project',
    mode: 'test',
    url: 'https://shop.example/',
    events: [],
    sealedSecret: Buffer.alloc(0),
    previousSealedSecret: null,
    previousSecretUntil: null,
    disabledAt: null,
    disabledReason: null,
    createdAt: 0,
  } as const;
  return Array.from({ length: count }, (_, index) => ({
    id: BigInt(index),
    attempts: 0,
    eventId: 'event',
    body: '{}',
    requestId: null,
    endpoint,
    leaseUntil: 60_000,
  }));
}

/** What a claim with the present quotas takes of an endpoint that has more than enough. */
function lineUp(lanes: Lanes, endpointId: string, available: number, now = 0): Lane {
  const quotas = lanes.quotas();
  const count = Math.min(available, quotas.named[endpointId] ?? quotas.others);
  const [lane] = [...lanes.lineUp(due(endpointId, count), { quotas, isCut: false, now })];
  if (lane === undefined) throw new Error(`${endpointId} got nothing`);
  return lane;
}

function startAll(lanes: Lanes, lane: Lane): number {
  let started = 0;
  while (lanes.start(lane) !== null) started += 1;
  return started;
}

describe('a lane', () => {
  it('is narrow for a new endpoint, widens with its successes up to a limit, and is narrow again after a failure', () => {
    const lanes = createLanes();
    expect(startAll(lanes, lineUp(lanes, 'a', 10_000))).toBe(8);
    const lane = lineUp(lanes, 'b', 10_000);
    startAll(lanes, lane);
    for (let index = 0; index < 8; index += 1) lanes.end(lane, true);
    expect(startAll(lanes, lineUp(lanes, 'b', 10_000))).toBe(128);
    expect(lane.waiting).toHaveLength(512 - 128);
    lanes.end(lane, false);
    expect(lanes.start(lane)).toBeNull();
    expect(lane.width).toBe(8);
  });

  it('wants more only when half of its places are free and the last claim left some behind', () => {
    const lanes = createLanes();
    const lane = lineUp(lanes, 'a', 10_000);
    startAll(lanes, lane);
    expect(lanes.wantsMore(lane)).toBe(false);
    for (let index = 0; index < 4; index += 1) lanes.end(lane, false);
    expect(lanes.wantsMore(lane)).toBe(true);
    lineUp(lanes, 'a', 3);
    startAll(lanes, lane);
    for (let index = 0; index < 7; index += 1) lanes.end(lane, false);
    expect(lanes.wantsMore(lane)).toBe(false);
  });

  it('that had no room when a claim was made may have more', () => {
    const lanes = createLanes();
    const lane = lineUp(lanes, 'a', 7);
    startAll(lanes, lane);
    lanes.lineUp([], { quotas: lanes.quotas(), isCut: false, now: 0 });
    for (let index = 0; index < 4; index += 1) lanes.end(lane, false);
    expect(lanes.wantsMore(lane)).toBe(true);
  });

  it('may have more when the claim as a whole was cut, however little it got', () => {
    const lanes = createLanes();
    const lane = lineUp(lanes, 'a', 1);
    startAll(lanes, lane);
    lanes.end(lane, true);
    lanes.lineUp([], { quotas: lanes.quotas(), isCut: true, now: 0 });
    expect(lanes.wantsMore(lane)).toBe(true);
  });

  it('gives up what waited for more than two seconds, and nothing that is being sent', () => {
    const lanes = createLanes();
    const lane = lineUp(lanes, 'slow', 10_000, 1_000);
    startAll(lanes, lane);
    lanes.end(lane, true);
    lineUp(lanes, 'slow', 100, 1_000);
    startAll(lanes, lane);
    const waiting = lane.waiting.length;
    expect(waiting).toBeGreaterThan(0);
    expect(lanes.takeOutStale(3_000)).toHaveLength(0);
    expect(lanes.takeOutStale(3_001)).toHaveLength(waiting);
    expect(lane.sending).toBe(lane.width);
  });
});

describe('endpoints that never answered', () => {
  it('share a thousand places, however many they are, and leave the others theirs', () => {
    const lanes = createLanes();
    const healthy = lineUp(lanes, 'healthy', 1);
    startAll(lanes, healthy);
    lanes.end(healthy, true);
    let held = 0;
    for (let index = 0; index < 500; index += 1) {
      const quotas = lanes.quotas();
      const taken = quotas.named[`dead ${index}`] ?? quotas.others;
      lanes.lineUp(due(`dead ${index}`, taken), { quotas, isCut: false, now: 0 });
      held += taken;
    }
    expect(held).toBeLessThanOrEqual(1_000 + 8);
    const quotas = lanes.quotas();
    expect(quotas.others).toBe(0);
    expect(quotas.named['dead 0']).toBe(0);
    expect(quotas.named['healthy']).toBeGreaterThan(0);
  });
});
