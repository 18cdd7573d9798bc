import * as fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { tryServer } from './frame.fixture.ts';

const roomy = { test: 1e9, live: 1e9, page: 1e9 };
const developer = tryServer({}, roomy);
const production = tryServer({ production: true }, roomy);
/** A developer whose requests reach a container through its network. */
const networks = { plainHttpFrom: ['10.0.0.0/8', '2001:db8::/32'] };
const container = tryServer(networks, roomy);
/** Servers with settings that are refused together; the rule does not depend on that refusal. */
const mistaken = [
  tryServer({ ...networks, production: true }, roomy),
  tryServer({ ...networks, trustProxy: ['10.0.0.0/8'] }, roomy),
];
const proxied = tryServer({ production: true, trustProxy: ['10.0.0.0/8'] }, roomy);
afterAll(async () => {
  await Promise.all([developer, production, container, ...mistaken, proxied].map((app) => app.close()));
});

const local = { host: fc.constantFrom('localhost', 'LOCALHOST:4000', '127.0.0.1:4000', '127.8.9.10', '[::1]:4000') };
const peer = fc.constantFrom('127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1');
const stranger = fc.constantFrom('10.0.0.1', '192.168.1.5', '8.8.8.8', '::2', '::ffff:10.0.0.1', '2001:db8::1');
const foreignHost = fc.constantFrom(
  'shop.example',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  '127.0.0.256',
  'x@localhost',
);
const proxyHeader = fc.constantFrom(
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-forwarded-anything',
);

/** A peer on this machine, one elsewhere, a host of this machine, another one, and a proxy's header. */
const anywhere = [peer, stranger, local.host, foreignHost, proxyHeader] as const;

const refused = async (
  app: typeof developer,
  remoteAddress: string,
  headers: Record<string, string>,
): Promise<boolean> => {
  const answer = await app.inject({ url: '/v1/orders', remoteAddress, headers });
  return answer.statusCode === 403 && answer.json<{ error: { type: string } }>().error.type === 'https_required';
};

it('lets plain HTTP through from loopback to a loopback host, to a developer alone', async () => {
  await fc.assert(
    fc.asyncProperty(peer, local.host, async (address, host) => {
      expect(await refused(developer, address, { host })).toBe(false);
      expect(await refused(production, address, { host })).toBe(true);
    }),
  );
});

it('refuses plain HTTP from elsewhere, to another host, or that came through any proxy', async () => {
  await fc.assert(
    fc.asyncProperty(...anywhere, async (address, elsewhere, host, other, header) => {
      expect(await refused(developer, elsewhere, { host })).toBe(true);
      expect(await refused(developer, address, { host: other })).toBe(true);
      expect(await refused(developer, address, { host, [header]: 'https' })).toBe(true);
    }),
  );
});

it('lets plain HTTP through from a network of PLAIN_HTTP_FROM to a loopback host, outside production alone', async () => {
  const near = fc.constantFrom('10.0.0.1', '10.255.0.9', '::ffff:10.0.0.1', '2001:db8::1');
  const far = fc.constantFrom('192.168.1.5', '8.8.8.8', '::2', '::ffff:11.0.0.1', '2001:db9::1');
  await fc.assert(
    fc.asyncProperty(
      near,
      far,
      local.host,
      foreignHost,
      proxyHeader,
      async (address, elsewhere, host, other, header) => {
        expect(await refused(container, address, { host })).toBe(false);
        expect(await refused(container, '127.0.0.1', { host })).toBe(false);
        expect(await refused(container, elsewhere, { host })).toBe(true);
        expect(await refused(container, address, { host: other })).toBe(true);
        for (const value of ['127.0.0.1', 'https', '10.0.0.1']) {
          expect(await refused(container, address, { host, [header]: value })).toBe(true);
          expect(await refused(container, elsewhere, { host, [header]: value })).toBe(true);
        }
        for (const app of mistaken) expect(await refused(app, address, { host })).toBe(true);
      },
    ),
  );
});

it('tells a developer in a container which network to name, and nobody in production or behind a proxy', async () => {
  const hintOf = async (app: typeof developer): Promise<string> => {
    const answer = await app.inject({ url: '/v1/orders', remoteAddress: '172.18.0.1', headers: { host: 'localhost' } });
    return answer.json<{ error: { message: string } }>().error.message.split('proto: https.').at(-1) ?? '';
  };
  const hint = 'set PLAIN_HTTP_FROM to the network of 172.18.0.1, and use the host localhost.';
  for (const app of [developer, container]) expect(await hintOf(app)).toContain(hint);
  for (const app of [production, proxied, ...mistaken]) expect(await hintOf(app)).not.toContain('PLAIN_HTTP_FROM');
});

it('believes X-Forwarded-Proto from a trusted proxy alone, and only when every hop was HTTPS', async () => {
  const word = fc.constantFrom('https', 'HTTPS', 'http', 'wss', '');
  await fc.assert(
    fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 3 }), fc.boolean(), async (words, trusted) => {
      const secure = trusted && words.every((one) => one.toLowerCase() === 'https');
      const headers = { 'x-forwarded-proto': words.join(', ') };
      expect(await refused(proxied, trusted ? '10.1.1.1' : '11.1.1.1', headers)).toBe(!secure);
    }),
  );
});

it('lets health and readiness through whatever came', async () => {
  for (const app of [developer, production, proxied]) {
    expect(
      (await app.inject({ url: '/healthz', remoteAddress: '8.8.8.8', headers: { host: 'x.example' } })).statusCode,
    ).toBe(200);
    expect(
      (await app.inject({ url: '/readyz', remoteAddress: '8.8.8.8', headers: { host: 'x.example' } })).statusCode,
    ).toBe(503);
  }
});

it('lets this machine read its own metrics over plain HTTP, also in production and behind a proxy, and nobody else', async () => {
  for (const app of [production, proxied, container]) {
    const status = async (remoteAddress: string, headers: Record<string, string>): Promise<number> =>
      (await app.inject({ url: '/metrics', remoteAddress, headers })).statusCode;
    await fc.assert(
      fc.asyncProperty(...anywhere, async (address, elsewhere, host, other, header) => {
        expect(await status(address, { host })).toBe(200);
        expect(await status(elsewhere, { host })).toBe(403);
        expect(await status(address, { host: other })).toBe(403);
        expect(await status(address, { host, [header]: 'http' })).toBe(403);
      }),
      { numRuns: 20 },
    );
  }
});
