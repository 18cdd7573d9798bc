import { readdir } from 'node:fs/promises';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { program, textAt } from '../../src/cli/program.fixture.ts';
import { receive } from '../../src/webhooks/local-receivers.fixture.ts';
import { testDatabase } from '../database.ts';
import { client, eventOf, eventually, testService } from '../program.ts';

const ORDER = { amount: 20, currency: 'USD', crypto_currency: 'BTC' };
const ORDERS = 60;

describe('several processes on one database', () => {
  it('share the work: ROLE=api answers, ROLE=worker completes and sends, each event once', async () => {
    const { url, db } = await testDatabase();
    const common = {
      DATABASE_URL: url,
      SECRET_KEY: 'one-key-for-all-processes-of-a-shop',
      SANDBOX_COMPLETE_AFTER_SECONDS: '1',
    };
    const api = await testService({ ...common, ROLE: 'api' });
    const { first, stop: stopApi } = await api.start();
    const shop = await receive((response) => void response.end());
    onTestFinished(() => shop.close());
    await api.command(
      `webhook create --project ${first?.projectId} --mode test --events all --url http://127.0.0.1:${shop.port}/`,
    );
    const call = client(api.sandbox, String(first?.key));
    const orders = await Promise.all(
      Array.from({ length: ORDERS }, async () => (await call('/v1/orders', ORDER)).body),
    );
    // Without a worker they stay pending, even when they are due.
    const due = Math.max(...orders.map((order) => Date.parse(textAt(order, 'created_at')))) + 1_000;
    await eventually('the orders are due', () => (Date.now() > due ? true : null));
    expect((await call('/v1/orders?status=pending&limit=100')).body).toMatchObject({ pagination: { total: ORDERS } });
    expect(shop.requests).toEqual([]);

    const workers = await Promise.all([
      testService({ ...common, ROLE: 'worker' }),
      testService({ ...common, ROLE: 'worker' }),
    ]);
    const running = await Promise.all(workers.map((worker) => worker.start()));
    expect(running.map((one) => one.first)).toEqual([null, null]);
    const { rows: sessions } = await sql<{ name: string }>`
      select distinct application_name as name from pg_stat_activity
      where datname = current_database() and application_name like 'cointill %' order by 1`.execute(db);
    expect(sessions.map(({ name }) => name)).toEqual(['cointill api', 'cointill worker']);
    await eventually('all orders are completed', async () => {
      const { body } = await call('/v1/orders?status=completed&limit=1');
      return Reflect.get(Object(body['pagination']), 'total') === ORDERS ? true : null;
    });
    await eventually('all events are sent', () => (shop.requests.length >= 2 * ORDERS ? true : null));
    expect(new Set(shop.requests.map((request) => eventOf(request).id)).size).toBe(2 * ORDERS);
    for (const { live, sandbox } of workers) {
      await expect(fetch(`${live}/healthz`)).rejects.toThrow('fetch failed');
      await expect(fetch(`${sandbox}/healthz`)).rejects.toThrow('fetch failed');
    }
    for (const { monitor } of workers) {
      expect((await fetch(`${monitor}/healthz`)).status).toBe(200);
      expect(await (await fetch(`${monitor}/readyz`)).json()).toEqual({
        status: 'ready',
        checks: { database: 'ok', notifications: 'ok', clock: 'ok', key: 'ok' },
      });
      expect((await fetch(`${monitor}/v1/orders`)).status).toBe(404);
    }
    const told = await Promise.all(workers.map(async ({ monitor }) => (await fetch(`${monitor}/metrics`)).text()));
    const lines = told.flatMap((text) => text.split('\n'));
    const sum = (name: string) =>
      lines.reduce((sum, line) => sum + (line.startsWith(`${name} `) ? Number(line.slice(name.length)) : 0), 0);
    expect(sum('cointill_webhook_attempts_total{outcome="delivered"}')).toBe(2 * ORDERS);
    expect(sum('cointill_payments_total{event="order.completed"}')).toBe(ORDERS);
    const ends = await Promise.all([stopApi(), ...running.map((one) => one.stop())]);
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(shop.requests).toHaveLength(2 * ORDERS);
  });

  it('go on when one of them dies in the middle of its work', async () => {
    const { url, db } = await testDatabase();
    const common = { DATABASE_URL: url, SECRET_KEY: 'one-key-for-all-processes-of-a-shop' };
    const api = await testService({ ...common, ROLE: 'api' });
    const { first } = await api.start();
    let isHolding = true;
    const shop = await receive((response) => void (isHolding ? response.flushHeaders() : response.end()));
    onTestFinished(() => shop.close());
    await api.command(
      `webhook create --project ${first?.projectId} --mode test --events all --url http://127.0.0.1:${shop.port}/`,
    );
    const dying = await testService({ ...common, ROLE: 'worker' });
    const worker = await dying.start();
    const { body } = await client(api.sandbox, String(first?.key))('/v1/orders', ORDER);
    await eventually('the event is under way', () => (shop.requests.length > 0 ? true : null));
    await worker.kill();
    isHolding = false;
    // The dead worker's lease runs out within a minute; the test does not wait for that.
    await db.updateTable('deliveries').set({ next_attempt_at: new Date() }).where('state', '=', 'waiting').execute();
    await (await testService({ ...common, ROLE: 'worker' })).start();
    await eventually('the event is delivered', async () => {
      const waiting = await db.selectFrom('deliveries').select('id').where('state', '<>', 'delivered').execute();
      return waiting.length === 0 ? true : null;
    });
    const events = shop.requests.map(eventOf);
    expect(new Set(events.map(({ id }) => id)).size).toBe(1);
    expect(events.map(({ data }) => data.id)).toEqual([body['id'], body['id']]);
  });
});

describe('a worker that was asked to stop', () => {
  it('is not ready while it finishes what is under way', async () => {
    const { url } = await testDatabase();
    const common = { DATABASE_URL: url, SECRET_KEY: 'one-key-for-all-processes-of-a-shop' };
    const api = await testService({ ...common, ROLE: 'api' });
    const { first } = await api.start();
    let answer = (): void => {};
    const shop = await receive((response) => {
      response.flushHeaders();
      answer = () => void response.end();
    });
    onTestFinished(() => shop.close());
    await api.command(
      `webhook create --project ${first?.projectId} --mode test --events all --url http://127.0.0.1:${shop.port}/`,
    );
    const service = await testService({ ...common, ROLE: 'worker' });
    const worker = await service.start();
    const ready = async () => {
      const answered = await fetch(`${service.monitor}/readyz`);
      return [answered.status, await answered.json()];
    };
    await client(api.sandbox, String(first?.key))('/v1/orders', ORDER);
    await eventually('the event is under way', () => (shop.requests.length > 0 ? true : null));
    const ended = worker.stop();
    await eventually('it says so', async () => ((await ready())[0] === 503 ? true : null));
    expect(await ready()).toEqual([503, { status: 'not_ready', checks: { service: 'stopping' } }]);
    answer();
    expect((await ended).code).toBe(0);
  });
});

describe('a start that cannot succeed', () => {
  it('names every bad setting in one message, repeats no secret, and ends with code 1', async () => {
    const bad = {
      PORT: '70000',
      SANDBOX_PORT: 'four',
      BASE_URL: 'pay.shop.example',
      CHECKOUT_URL: 'ftp://pay.shop.example',
      MONITOR_PORT: 'x',
      DATABASE_URL: 'mysql://root:s3cr3t@db/shop',
      DATABASE_DIRECT_URL: 'postgres://root:s3cr3t@a,b/shop',
      REDIS_URL: 'http://cache',
      TRUST_PROXY: '10.0.0.0/33',
      TLS_CERT: '/nowhere/cert.pem',
      LOG_LEVEL: 'loud',
      ROLE: 'king',
      SANDBOX_COMPLETE_AFTER_SECONDS: '0',
      RATE_LIMIT_TEST: '-1',
      RATE_LIMIT_LIVE: '1.5',
      RATE_LIMIT_PAGE: 'many',
      SECRET_KEY: 's3cr3t',
      WEBHOOK_ALLOW_CIDRS: 'intranet',
      ETHEREUM_RPC_URL: 'ws://node',
      FIXED_RATES: 'ETH=cheap',
    };
    const cointill = await program(bad);
    const { code, stdout, stderr } = await cointill.run('start');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    const lines = stderr.trim().split('\n');
    expect(lines.shift()).toMatch(/^Cointill cannot start, because \d+ settings are wrong:$/);
    const named = lines.map((line) => /^ {2}- ([A-Z_]+)/.exec(line)?.[1]);
    expect(new Set(named)).toEqual(new Set(Object.keys(bad)));
    expect(stderr).not.toContain('s3cr3t');
  });

  it('names the passphrase of its backups that cannot be read, before anything is begun', async () => {
    const cointill = await program({ BACKUP_DIR: '/var/backups', BACKUP_PASSPHRASE_FILE: '/nowhere/passphrase' });
    const { code, stderr } = await cointill.run('start');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /\n {2}- BACKUP_PASSPHRASE_FILE: \/nowhere\/passphrase cannot be read\. Give a file/,
      ),
    });
    expect(await readdir(cointill.dataDir)).toEqual([]);
  });

  it('because the port for monitoring is taken says so like for the others', async () => {
    const { url } = await testDatabase();
    const service = await testService({ DATABASE_URL: url, LOG_LEVEL: 'silent', ROLE: 'worker' });
    await service.start();
    const { port } = new URL(service.monitor);
    const { code, stderr } = await service.cointill.run('start');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        new RegExp(
          `^Cointill is already running on this data .* uses port ${port} of .* or set MONITOR_PORT to run a second`,
        ),
      ),
    });
  });

  it('because its port is taken says which, and how to choose another', async () => {
    const { url } = await testDatabase();
    const service = await testService({ DATABASE_URL: url, LOG_LEVEL: 'silent' });
    await service.start();
    const { code, stdout, stderr } = await service.cointill.run('start');
    const { port } = new URL(service.live);
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        new RegExp(
          `^Cointill is already running on this data .* uses port ${port} of .* or set PORT and SANDBOX_PORT to run`,
        ),
      ),
    });
    expect((await fetch(`${service.sandbox}/readyz`)).status).toBe(200);
  });
});
