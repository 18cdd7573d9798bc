import { once } from 'node:events';
import http from 'node:http';
import os from 'node:os';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { testDatabase } from '../database.ts';
import { eventually, testService } from '../program.ts';

/** An address of this machine that others reach, as a container has one in its network. */
const own = Object.values(os.networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

interface Asked {
  readonly status: number | undefined;
  readonly cookie: string;
  readonly body: string;
}

/** Asks a port of `own`, as a request through a published port comes, with any `Host`, which `fetch` does not allow. */
async function ask(
  port: string,
  path: string,
  headers: Record<string, string>,
  body?: object,
  to = own,
): Promise<Asked> {
  const request = http.request({ host: to, port, path, method: body === undefined ? 'GET' : 'POST', headers });
  if (body === undefined) request.end();
  else request.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  const [response]: readonly http.IncomingMessage[] = await once(request, 'response');
  if (response === undefined) throw new Error('There is no response.');
  const cookie = (response.headers['set-cookie'] ?? []).map((one) => one.split(';')[0]).join('; ');
  return { status: response.statusCode, cookie, body: await text(response) };
}

/** A node that is away: the reason names it. */
const NO_NODE = 'http://127.0.0.1:1';

const portOf = (url: string): string => new URL(url).port;

describe.runIf(own !== undefined)('in a container, whose published ports are reached from its network', () => {
  it('PLAIN_HTTP_FROM lets developers pay in the sandbox and sign in at localhost, and nobody else', async () => {
    // A developer need not use the dashboard's own name, as on the machine itself.
    const dashboard = { DASHBOARD_URL: 'http://till.internal' };
    const service = await testService({ HOST: '0.0.0.0', PLAIN_HTTP_FROM: `${own}/32`, ...dashboard });
    const { first, running, stop } = await service.start();
    const [live, sandbox] = [portOf(service.live), portOf(service.sandbox)];
    const key = { authorization: `Bearer ${first?.key}` };
    const host = `localhost:${sandbox}`;

    const order = { amount: 25, currency: 'USD', crypto_currency: 'BTC' };
    const created = await ask(sandbox, '/v1/orders', { ...key, host }, order);
    expect(created.status).toBe(200);
    const { pathname } = new URL(String(Object(JSON.parse(created.body)).payment_url));
    expect((await ask(sandbox, pathname, { host })).status).toBe(200);

    // A page of another site, by DNS rebinding too; a proxy that nobody announced; another name of the container.
    const others = [{ host: 'evil.example' }, { host: `${own}:${sandbox}` }, { host, 'x-forwarded-for': '127.0.0.1' }];
    for (const headers of others) {
      const { status, body } = await ask(sandbox, '/v1/orders', { ...key, ...headers });
      expect([status, body]).toEqual([403, expect.stringContaining('https_required')]);
    }
    // Why the service is not ready, and its metrics, remain for the machine itself.
    expect((await ask(sandbox, '/metrics', { host })).status).toBe(403);
    expect(Object.keys(JSON.parse((await ask(sandbox, '/healthz', { host })).body))).toEqual(['status']);

    const [, token] = await running.waitFor(/\/dashboard\/setup\/([\w-]+)/);
    const origin = `http://localhost:${live}`;
    const page = { host: `localhost:${live}`, origin, 'sec-fetch-site': 'same-origin' };
    const account = { token, email: 'olga@shop.example', password: 'grumpy otter parade' };
    const signedUp = await ask(live, '/dashboard/api/links/accept', page, account);
    const asked = { ...page, cookie: signedUp.cookie };
    expect([signedUp.status, (await ask(live, '/dashboard/api/session', asked)).body]).toEqual([
      200,
      expect.stringContaining('signed_in'),
    ]);
    expect((await ask(live, '/dashboard', { host: page.host })).status).toBe(200);
    expect((await ask(live, '/dashboard', { host: 'evil.example' })).status).toBe(403);
    await stop();
  });

  it('without PLAIN_HTTP_FROM, says what to set', async () => {
    const service = await testService({ HOST: '0.0.0.0' });
    const { stop } = await service.start();
    const { status, body } = await ask(portOf(service.live), '/dashboard', { host: 'localhost' });
    expect([status, body]).toEqual([403, expect.stringContaining(`set PLAIN_HTTP_FROM to the network of ${own}, `)]);
    await stop();
  });

  it('MONITOR_HOST lets a probe ask a worker whether it is up and ready, and shows more with the token alone', async () => {
    const { url } = await testDatabase();
    const worker = {
      DATABASE_URL: url,
      ROLE: 'worker',
      SECRET_KEY: 'one-key-for-both-starts-of-the-worker',
      MONITOR_HOST: '0.0.0.0',
      BITCOIN_RPC_URL: NO_NODE,
    };
    const METRICS_TOKEN = 'a-token-of-the-operator';
    const bearer = { authorization: `Bearer ${METRICS_TOKEN}` };
    for (const token of [{}, { METRICS_TOKEN }]) {
      const hasToken = 'METRICS_TOKEN' in token;
      const service = await testService({ ...worker, ...token });
      const { stop } = await service.start();
      const port = portOf(service.monitor);
      const healthy = await ask(port, '/healthz', { host: 'worker:4002' });
      expect([healthy.status, JSON.parse(healthy.body)]).toEqual([200, { status: 'ok' }]);
      const bitcoin = await eventually('the node is away', async () => {
        const { status, body } = await ask(port, '/readyz', { host: 'worker:4002' });
        return status === 200 ? (Object(JSON.parse(body)).checks.bitcoin ?? null) : null;
      });
      expect(bitcoin).toBe('degraded');
      // A forwarder on the machine itself looks like the machine.
      for (const to of [own, '127.0.0.1']) {
        const refused = await ask(port, '/metrics', { host: 'localhost' }, undefined, to);
        const message = hasToken ? 'only with METRICS_TOKEN' : 'Set METRICS_TOKEN, and send it as the bearer token';
        expect([refused.status, refused.body]).toEqual([403, expect.stringContaining(message)]);
        expect((await ask(port, '/readyz', { host: 'localhost' }, undefined, to)).body).not.toContain('ECONNREFUSED');
        const metrics = await ask(port, '/metrics', bearer, undefined, to);
        expect(metrics.status).toBe(hasToken ? 200 : 403);
        expect((await ask(port, '/readyz', bearer, undefined, to)).body.includes('ECONNREFUSED')).toBe(hasToken);
      }
      expect((await ask(port, '/metrics', { authorization: 'Bearer another-token-than-ours' })).status).toBe(403);
      expect((await ask(port, '/v1/orders', bearer)).status).toBe(404);
      const { stderr } = await stop();
      expect(stderr.includes('MONITOR_HOST is 0.0.0.0, where')).toBe(!hasToken);
    }
  });

  it('without MONITOR_HOST, the port of a worker is closed to others', async () => {
    const { url } = await testDatabase();
    const service = await testService({ DATABASE_URL: url, ROLE: 'worker' });
    const { stop } = await service.start();
    await expect(ask(portOf(service.monitor), '/healthz', {})).rejects.toThrow('ECONNREFUSED');
    expect((await fetch(`${service.monitor}/metrics`)).status).toBe(200);
    await stop();
  });
});
