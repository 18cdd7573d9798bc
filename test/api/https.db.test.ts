import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import os from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { httpTest, rateLimitHeaders, type Call } from '../http.ts';
import { portOf } from '../socket.ts';

const http = await httpTest();
afterAll(() => http.close());

const development = http.server('test');
const production = http.build({ production: true });
const proxied = http.build({ trustProxy: ['127.0.0.1', '10.0.0.0/8'] });
const PATHS = ['/v1/orders', '/api/transactions/stats', '/pay/x', '/docs', '/openapi.json', '/nothing'];
const refused = { error: { type: 'https_required', message: expect.stringContaining('must use HTTPS') } };

/** 'in' if the request was processed, 'refused' if it was refused for plain HTTP. */
async function outcome(call: Call, server = development): Promise<'in' | 'refused'> {
  const { status, body } = await http.call<{ error?: { type?: string } } | undefined>(call, server);
  return status === 403 && body?.error?.type === 'https_required' ? 'refused' : 'in';
}

it('plain HTTP is refused in production for every request, before the key is read', async () => {
  const key = await (await http.shop()).key();
  for (const url of PATHS) {
    for (const call of [
      { path: url },
      { path: url, key },
      { path: url, method: 'POST' },
      { path: url, method: 'OPTIONS' },
    ]) {
      const { status, body } = await http.call(call, production);
      expect([url, status, body]).toEqual([url, 403, refused]);
    }
  }
});

it('health is always available over plain HTTP, also to strangers and through proxies', async () => {
  for (const server of [development, production, proxied]) {
    for (const url of ['/healthz', '/readyz']) {
      const { status } = await http.call(
        { path: url, address: '203.0.113.1', headers: { host: 'x.example', 'x-forwarded-for': '1.2.3.4' } },
        server,
      );
      expect([url, status]).toEqual([url, 200]);
    }
  }
});

describe('on a developer’s machine', () => {
  it.each(['localhost', 'localhost:4001', 'LOCALHOST:1', '127.0.0.1', '127.9.8.7:80', '[::1]', '[::1]:4001'])(
    'the loopback host %s is let through',
    async (host) => {
      expect(await outcome({ path: '/v1/orders', headers: { host } })).toBe('in');
      expect(await outcome({ path: '/v1/orders', headers: { host }, address: '::1' })).toBe('in');
      expect(await outcome({ path: '/v1/orders', headers: { host }, address: '::ffff:127.0.0.1' })).toBe('in');
    },
  );

  it.each([
    'pay.example',
    'localhost.evil.example',
    'evil.example:localhost',
    'localhost@evil.example',
    '127.0.0.1.evil.example',
    '127.0.0.1,evil.example',
    '1127.0.0.1',
    '::1',
    '[::1].evil',
    '[::ffff:127.0.0.1]',
    'localhost:',
    'localhost:abc',
    'localhost evil',
    '0.0.0.0',
    '10.0.0.1',
  ])('a Host of %j is refused', async (host) => {
    expect(await outcome({ path: '/v1/orders', headers: { host } })).toBe('refused');
  });

  it.each(['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-anything'])(
    'the mark of a proxy, %s, is refused, whatever it says',
    async (name) => {
      for (const value of ['', 'https', 'for=127.0.0.1;proto=https'])
        expect(await outcome({ path: '/v1/orders', headers: { [name]: value } })).toBe('refused');
    },
  );

  const addresses = fc.constantFrom(
    '127.0.0.1',
    '127.1.2.3',
    '::1',
    '::ffff:127.0.0.1',
    '10.0.0.1',
    '203.0.113.9',
    '::2',
  );
  const hosts = fc.constantFrom('localhost', '127.0.0.1:4001', '[::1]:80', 'pay.example', '10.0.0.1', 'localhost.x');
  const marks = fc.uniqueArray(
    fc.constantFrom('forwarded', 'via', 'x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'x-forwarded-x'),
    { maxLength: 3 },
  );
  const values = fc.constantFrom('https', 'for=127.0.0.1;proto=https', '127.0.0.1', 'localhost', '');

  it('lets plain HTTP through exactly when connection and Host are loopback and no proxy left its mark', async () => {
    await fc.assert(
      fc.asyncProperty(
        addresses,
        hosts,
        marks,
        values,
        fc.constantFrom(...PATHS),
        async (address, host, names, value, url) => {
          const headers = { host, ...Object.fromEntries(names.map((name) => [name, value])) };
          const isLocal =
            /^(?:127\.|::1$|::ffff:127\.)/.test(address) && /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/.test(host);
          const expected = isLocal && names.length === 0 ? 'in' : 'refused';
          expect(await outcome({ path: url, address, headers })).toBe(expected);
          expect(await outcome({ path: url, address, headers }, production)).toBe('refused');
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe('behind a proxy', () => {
  it('a trusted proxy must say that the client came by HTTPS; nobody else is believed', async () => {
    const proto = fc.constantFrom('https', 'http', 'HTTPS', 'https, http', 'http, https', 'wss', '', undefined);
    const address = fc.constantFrom('127.0.0.1', '10.1.2.3', '203.0.113.9', '::1');
    const host = fc.constantFrom('localhost', 'pay.example');
    await fc.assert(
      fc.asyncProperty(proto, address, host, async (said, from, named) => {
        const isTrusted = from === '127.0.0.1' || from === '10.1.2.3';
        // Proxies in a row each add a word: no hop may have been plain.
        const isHttps = said?.toLowerCase() === 'https';
        const headers = { host: named, ...(said === undefined ? {} : { 'x-forwarded-proto': said }) };
        const expected = isTrusted && isHttps ? 'in' : 'refused';
        expect(await outcome({ path: '/v1/orders', address: from, headers }, proxied)).toBe(expected);
      }),
      { numRuns: 100 },
    );
  });

  it('a forged Forwarded header changes nothing', async () => {
    const headers = { forwarded: 'for=127.0.0.1;proto=https;host=localhost' };
    expect(await outcome({ path: '/v1/orders', headers }, proxied)).toBe('refused');
  });
});

it('every answer over HTTPS has Strict-Transport-Security, and none over plain HTTP', async () => {
  const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.9' };
  for (const url of [...PATHS, '/healthz']) {
    const { headers: received } = await http.call({ path: url, headers }, proxied);
    expect([url, received['strict-transport-security']]).toEqual([url, 'max-age=31536000']);
    const plain = await http.call({ path: url, headers: { ...headers, 'x-forwarded-proto': 'http' } }, proxied);
    expect([url, plain.headers['strict-transport-security']]).toEqual([url, undefined]);
    expect((await http.call({ path: url })).headers).not.toHaveProperty('strict-transport-security');
    expect((await http.call({ path: url, headers })).headers).not.toHaveProperty('strict-transport-security');
  }
});

describe('TLS in the process', () => {
  it('takes requests of any Host, in production too, and carries the headers', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'cointill-tls-'));
    const [certFile, keyFile] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')];
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'].concat(
        ['-subj', '/CN=pay.example', '-addext', 'subjectAltName=DNS:pay.example'],
        ['-keyout', keyFile, '-out', certFile],
      ),
      { stdio: 'ignore' },
    );
    const [cert, key] = [readFileSync(certFile), readFileSync(keyFile)];
    rmSync(folder, { recursive: true });
    const server = http.build({ production: true, tls: { cert, key } });
    await server.listen({ host: '127.0.0.1', port: 0 });
    const bearer = await (await http.shop()).key();
    const answer = await new Promise<{ status: number; headers: Record<string, string | undefined> }>(
      (resolve, reject) => {
        const request = httpsRequest(
          {
            host: '127.0.0.1',
            port: portOf(server),
            ca: cert,
            servername: 'pay.example',
            path: '/v1/orders',
            headers: { host: 'pay.example', authorization: `Bearer ${bearer}` },
          },
          (response) => {
            response.resume();
            const headers = Object.entries(response.headers).map(([name, value]) => [name, String(value)] as const);
            response.on('end', () =>
              resolve({ status: response.statusCode ?? 0, headers: Object.fromEntries(headers) }),
            );
          },
        );
        request.on('error', reject);
        request.end();
      },
    );
    expect(answer.status).toBe(200);
    expect(rateLimitHeaders(answer.headers)).toEqual([]);
    expect(answer.headers['strict-transport-security']).toBe('max-age=31536000');
  });
});
