import { afterEach, describe, expect, it, vi } from 'vitest';
import { startRedis, type TestRedis } from '../../test/redis.ts';
import { clientBucket, clientRange, createRateLimits } from './rate-limit.ts';
import { connectRedis } from './redis.ts';
import { DEADLINE_MS, PROMPT_MS, WAIT } from '../../test/deadline.ts';

const LIMITS = { test: 3, live: 5, page: 2 };
const NOW = Date.UTC(2026, 5, 15, 12, 0, 0, 250);

describe('in memory', () => {
  afterEach(() => void vi.useRealTimers());

  it('a window is one minute from the first request; its end is sent in Unix seconds, rounded up', async () => {
    vi.useFakeTimers({ now: NOW });
    const limits = createRateLimits(LIMITS, null);
    const first = await limits.consume('test', 'a');
    expect(first).toEqual({
      allowed: true,
      limit: 3,
      remaining: 2,
      resetSeconds: Math.ceil((NOW + 60_000) / 1000),
      retryAfterSeconds: 60,
    });
    vi.advanceTimersByTime(59_000);
    await limits.consume('test', 'a');
    expect(await limits.consume('test', 'a')).toMatchObject({ allowed: true, remaining: 0 });
    // Exceeding it neither prolongs the window nor moves its end.
    for (let index = 0; index < 10; index += 1) {
      expect(await limits.consume('test', 'a')).toMatchObject({
        allowed: false,
        remaining: 0,
        resetSeconds: first.resetSeconds,
        retryAfterSeconds: 1,
      });
    }
    vi.advanceTimersByTime(1_000);
    expect(await limits.consume('test', 'a')).toMatchObject({ allowed: true, remaining: 2 });
  });

  it('a clock that is set back makes nobody wait longer than a window', async () => {
    vi.useFakeTimers({ now: NOW });
    const limits = createRateLimits(LIMITS, null);
    for (let index = 0; index < 3; index += 1) await limits.consume('test', 'a');
    const earlier = NOW - 3_600_000;
    vi.setSystemTime(earlier);
    const told = { resetSeconds: Math.ceil((earlier + 60_000) / 1000), retryAfterSeconds: 60 };
    expect(await limits.consume('test', 'a')).toMatchObject({ allowed: false, ...told });
    expect(await limits.peek('test', 'a')).toMatchObject(told);
  });

  it('keys, modes and the page count apart', async () => {
    const limits = createRateLimits(LIMITS, null);
    await limits.consume('test', 'a');
    expect(await limits.consume('test', 'b')).toMatchObject({ remaining: 2 });
    expect(await limits.consume('live', 'a')).toMatchObject({ remaining: 4, limit: 5 });
    expect(await limits.consume('page', 'a')).toMatchObject({ remaining: 1, limit: 2 });
  });

  it('peeking counts nothing, also where nothing was counted yet', async () => {
    const limits = createRateLimits(LIMITS, null);
    for (let index = 0; index < 5; index += 1) {
      expect(await limits.peek('test', 'a')).toMatchObject({ allowed: true, remaining: 3, limit: 3 });
    }
    await limits.consume('test', 'a');
    expect(await limits.peek('test', 'a')).toMatchObject({ remaining: 2 });
  });
});

it('windows in memory are bounded: of many clients the one that began first is forgotten', async () => {
  const limits = createRateLimits(LIMITS, null, 100);
  for (let client = 0; client < 100; client += 1) await limits.consume('page', `c${client}`);
  expect(await limits.peek('page', 'c0')).toMatchObject({ remaining: 1 });
  for (let client = 100; client < 1_000; client += 1) await limits.consume('page', `c${client}`);
  expect(await limits.peek('page', 'c0')).toMatchObject({ remaining: 2 });
  expect(await limits.peek('page', 'c899')).toMatchObject({ remaining: 2 });
  expect(await limits.peek('page', 'c900')).toMatchObject({ remaining: 1 });
  // Other counts are not touched by it.
  await limits.consume('test', 'a');
  for (let client = 0; client < 1_000; client += 1) await limits.consume('page', `d${client}`);
  expect(await limits.peek('test', 'a')).toMatchObject({ remaining: 2 });
});

function connecting({ url }: TestRedis) {
  const faults: string[] = [];
  const watcher = { onAway: (problem: string) => void faults.push(problem), onBack: () => {} };
  return { faults, connect: () => connectRedis(url, watcher) };
}

describe('with Redis', () => {
  it('processes share their counts', async () => {
    const redis = await startRedis();
    const { faults, connect } = connecting(redis);
    const shared = [connect(), connect()];
    const processes = shared.map(({ client }) => createRateLimits(LIMITS, client));
    try {
      await vi.waitFor(async () => {
        for (const limits of processes) await limits.consume('page', 'warm');
        expect(await redis.keys()).toContain('cointill:page:warm');
      }, WAIT);
      const remaining: number[] = [];
      for (let index = 0; index < 4; index += 1) {
        const allowance = await processes[index % 2]?.consume('test', 'a');
        remaining.push(allowance?.allowed === true ? allowance.remaining : -1);
      }
      expect(remaining).toEqual([2, 1, 0, -1]);
      // A public key over all its clients: ten times the limit of its mode.
      for (let index = 0; index < 30; index += 1) await processes[index % 2]?.consume('test-shared', 'a');
      expect(await processes[0]?.consume('test-shared', 'a')).toMatchObject({ allowed: false, limit: 30 });
      expect(await processes[1]?.peek('docs', 'a')).toMatchObject({ remaining: 2, limit: 2 });
      // Redis itself forgets them.
      const lifetimes = await redis.lifetimes();
      expect(Math.min(...lifetimes)).toBeGreaterThan(0);
      expect(Math.max(...lifetimes)).toBeLessThanOrEqual(60);
      expect(await processes[0]?.peek('test', 'a')).toMatchObject({ remaining: 0 });
      expect(faults).toEqual([]);
    } finally {
      for (const one of shared) one.close();
      await redis.stop();
    }
  });

  it('that dies or hangs, each process counts for itself at once, until it is back', async () => {
    const redis = await startRedis();
    const { faults, connect } = connecting(redis);
    const shared = connect();
    const limits = createRateLimits(LIMITS, shared.client);
    try {
      await vi.waitFor(async () => {
        await limits.consume('page', 'warm');
        expect(await redis.keys()).toContain('cointill:page:warm');
      }, WAIT);
      redis.freeze();
      const startedAt = performance.now();
      expect(await limits.consume('live', 'a')).toMatchObject({ allowed: true, limit: 5 });
      expect(await limits.peek('live', 'a')).toMatchObject({ allowed: true, limit: 5 });
      expect(performance.now() - startedAt).toBeLessThan(PROMPT_MS);
      redis.thaw();
      await redis.stop();
      expect(await limits.consume('test', 'b')).toMatchObject({ allowed: true });
      const left: number[] = [];
      for (let index = 0; index < 4; index += 1) left.push((await limits.consume('test', 'c')).remaining);
      expect(left).toEqual([2, 1, 0, 0]);
      expect(await limits.consume('test', 'c')).toMatchObject({ allowed: false });
      await vi.waitFor(() => expect(faults.length).toBeGreaterThan(0), WAIT);
      await redis.start();
      await vi.waitFor(
        async () => {
          await limits.consume('test', 'd');
          expect(await redis.keys()).toContain('cointill:test:d');
        },
        { timeout: DEADLINE_MS, interval: 50 },
      );
    } finally {
      shared.close();
      await redis.stop();
    }
  });
});

it.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002::9', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['', ''],
])('clients at %s are counted as %s', (address, bucket) => {
  expect(clientBucket(address)).toBe(bucket);
});

it.each([
  ['203.0.113.7', '203.0.113.0/24'],
  ['::ffff:203.0.113.7', '203.0.113.0/24'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
  ['2001:0db8:0001::9', '2001:db8:1::/48'],
  ['::1', '0:0:0::/48'],
])('clients at %s are in the range %s', (address, range) => {
  expect(clientRange(address)).toBe(range);
});
