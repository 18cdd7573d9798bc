import { expect, it, onTestFinished } from 'vitest';
import { testDatabase } from '../database.ts';
import { client, eventually, testService } from '../program.ts';
import { startRedis } from '../redis.ts';

it('a service whose Redis goes away and returns continues, logs both, and counts for itself meanwhile', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const { url } = await testDatabase();
  const service = await testService({
    DATABASE_URL: url,
    REDIS_URL: redis.url,
    RATE_LIMIT_TEST: '100',
    LOG_LEVEL: 'info',
  });
  const { running, first } = await service.start();
  const call = client(service.sandbox, String(first?.key));
  const told = async () => {
    const ready = await fetch(`${service.live}/readyz`);
    const { status, checks } = Object(await ready.json());
    const healthy = /^cointill_check\{name="redis"\} (\d)$/m.exec(
      await (await fetch(`${service.live}/metrics`)).text(),
    )?.[1];
    return [
      ready.status,
      status,
      /^(ok|rate limits are counted only in this process)/.exec(checks.redis)?.[0],
      healthy,
    ];
  };
  const untilTold = (what: readonly unknown[]) =>
    eventually(String(what), async () => (JSON.stringify(await told()) === JSON.stringify(what) ? true : null));
  await eventually('Redis is there', async () => ((await redis.keys()).includes('cointill:health') ? true : null));
  await untilTold([200, 'ready', 'ok', '1']);
  await redis.stop();
  await running.waitFor(/Redis: rate limits are counted only in this process, as Redis is unavailable/);
  await untilTold([200, 'degraded', 'rate limits are counted only in this process', '0']);
  expect((await call('/v1/orders')).status).toBe(200);
  await redis.start();
  await running.waitFor(/Redis: working again after/);
  await untilTold([200, 'ready', 'ok', '1']);
});

it('a worker, which counts nothing, needs no Redis and logs nothing about it', async () => {
  const { url } = await testDatabase();
  const service = await testService({ DATABASE_URL: url, REDIS_URL: 'redis://127.0.0.1:9', ROLE: 'worker' });
  await service.start();
  const ready = await fetch(`${service.monitor}/readyz`);
  expect([ready.status, await ready.json()]).toEqual([
    200,
    { status: 'ready', checks: { database: 'ok', notifications: 'ok', clock: 'ok', key: 'ok' } },
  ]);
  expect(await (await fetch(`${service.monitor}/metrics`)).text()).not.toContain('cointill_check{name="redis"}');
});
