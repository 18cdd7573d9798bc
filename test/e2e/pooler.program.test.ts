import { expect, it } from 'vitest';
import { databaseProxy } from '../database-proxy.ts';
import { testDatabase } from '../database.ts';
import { PROMPT_MS } from '../deadline.ts';
import { client, eventually, testService } from '../program.ts';

async function pooler() {
  const database = await testDatabase();
  const proxy = await databaseProxy(database);
  proxy.withholdNotifications();
  return { direct: database.url, pooled: proxy.url };
}

it('behind a pooler that swallows notifications a revoked key is refused, and the service is not ready', async () => {
  const { pooled } = await pooler();
  const service = await testService({ DATABASE_URL: pooled });
  const running = service.cointill.start('start');
  const [key = ''] = await running.waitFor(/sk_test_\w+/);
  await running.waitFor(/set DATABASE_DIRECT_URL/);
  const ready = await fetch(`${service.sandbox}/readyz`);
  expect([ready.status, await ready.json()]).toEqual([
    503,
    {
      status: 'not_ready',
      checks: { clock: 'ok', key: 'ok', database: 'ok', notifications: expect.stringContaining('DATABASE_DIRECT_URL') },
    },
  ]);
  const call = client(service.sandbox, key);
  expect((await call('/v1/orders')).status).toBe(200);
  const [project] = Object(await service.command('project list'));
  const [first] = Object(await service.command(`key list --project ${project.id}`));
  await service.command(`key revoke ${first.id}`);
  expect((await call('/v1/orders')).status).toBe(401);
});

it('with the direct way past it the service is ready, and a revoked key is refused at once', async () => {
  const { pooled, direct } = await pooler();
  const service = await testService({ DATABASE_URL: pooled, DATABASE_DIRECT_URL: direct });
  const { first } = await service.start();
  const call = client(service.sandbox, String(first?.key));
  expect((await call('/v1/orders')).status).toBe(200);
  const [made] = Object(await service.command(`key list --project ${first?.projectId}`));
  await service.command(`key revoke ${made.id}`);
  const isRefused = async () => ((await call('/v1/orders')).status === 401 ? true : null);
  await eventually('the key is refused', isRefused, PROMPT_MS);
});
