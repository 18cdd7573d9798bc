import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { MAX_STARTED } from '../../src/http/listener.ts';
import { metricsRoute } from '../../src/http/metrics.ts';
import { buildMonitor } from '../../src/http/monitor.ts';
import { selfSigned } from '../../src/webhooks/local-receivers.fixture.ts';
import { BASE_URLS, httpTest } from '../http.ts';
import { portOf } from '../socket.ts';
import { API_ROUTES } from './routes.ts';
import { WAIT } from '../deadline.ts';

const http = await httpTest();
afterAll(() => http.close());

const AT_ONCE = 20;
const certificate = selfSigned('localhost');
const ENCRYPTED = { cert: Buffer.from(certificate.cert), key: Buffer.from(certificate.key) };
const shop = await http.shop();
const key = await shop.key();
const { body: order } = await shop.call({
  path: '/v1/orders',
  body: { amount: 25, currency: 'USD', crypto_currency: 'BTC' },
});
const { text: page } = await http.call({ path: `/pay/${order.id}` });
const assets = [...page.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path);

/** Every route, written out. What matches none is answered below them, by the same listener. */
const REQUESTS: readonly string[] = [
  ...API_ROUTES.map(
    ({ method, path }) => `${method} ${path.replace(':projectId', shop.projectId).replace(':id', order.id)}`,
  ),
  ...[
    '/docs',
    '/docs/',
    '/docs/json',
    '/docs/yaml',
    '/docs/api',
    '/docs/search?q=webhook',
    '/docs/webhooks',
    '/docs/webhooks.md',
    '/docs/README',
    '/docs/nothing',
    '/llms.txt',
    '/openapi.json',
    '/healthz',
    '/readyz',
    '/metrics',
    '/embed.js',
    '/modal/btcpay.js',
    `/i/${order.id}`,
  ].map((path) => `GET ${path}`),
  ...assets.map((path) => `GET ${path}`),
  ...['/assets/accent.ffd400.css', `/assets/logo.${'0'.repeat(64)}`, `/pay/${order.id}`, `/pay/${order.id}/cancel`].map(
    (path) => `GET ${path}`,
  ),
  ...['/token', '/cancel', '/simulate'].map((path) => `POST /pay/${order.id}${path}`),
  'GET /refund/re_00000000000000000000000000',
  'POST /refund/re_00000000000000000000000000',
];

interface Watched {
  readonly server: FastifyInstance;
  /** How many requests were begun and not wholly answered, at most, since this was asked last. */
  readonly most: () => number;
  readonly answered: () => number;
}

async function watch(server: FastifyInstance): Promise<Watched> {
  let [open, most, answered] = [0, 0, 0];
  server.addHook('onRequest', (_request, reply, done) => {
    open += 1;
    most = Math.max(most, open);
    reply.raw.once('finish', () => {
      open -= 1;
      answered += 1;
    });
    done();
  });
  await server.listen({ host: '127.0.0.1', port: 0 });
  const taken = (value: number, reset: () => void): number => (reset(), value);
  return {
    server,
    most: () => taken(most, () => (most = 0)),
    answered: () => taken(answered, () => (answered = 0)),
  };
}

describe.each([
  ['the live address', 'live', null],
  ['the sandbox', 'test', null],
  ['the live address, encrypted', 'live', ENCRYPTED],
  ['the sandbox, encrypted', 'test', ENCRYPTED],
] as const)('at %s', async (_name, side, tls) => {
  const { server, most, answered } = await watch(http.build({ side, tls }));
  const bearer = side === 'test' ? key : await shop.key({ mode: 'live' });

  it.each(REQUESTS)('of many requests in one packet a few are under way at a time: %s', async (request) => {
    const head = ['Host: localhost', `Authorization: Bearer ${bearer}`, 'Content-Length: 0'].join('\r\n');
    const packet = `${request} HTTP/1.1\r\n${head}\r\n\r\n`.repeat(AT_ONCE);
    const port = portOf(server);
    const socket =
      tls === null ? connect(port, '127.0.0.1') : connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
    socket.on('error', () => {});
    socket.resume();
    socket.write(packet);
    await vi.waitFor(() => expect(answeredSoFar()).toBe(AT_ONCE), WAIT);
    socket.destroy();
    const under = most();
    expect(under).toBeGreaterThan(0);
    expect(under).toBeLessThanOrEqual(MAX_STARTED);
  });

  let sum = 0;
  function answeredSoFar(): number {
    sum += answered();
    if (sum < AT_ONCE) return sum;
    const all = sum;
    sum = 0;
    return all;
  }
});

it('of many requests in one packet a few are under way at a time on the monitoring port too', async () => {
  const monitor = await watch(buildMonitor([metricsRoute(http.scrape, null)]));
  onTestFinished(() => monitor.server.close());
  const socket = connect(portOf(monitor.server), '127.0.0.1');
  socket.resume();
  socket.write('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(AT_ONCE));
  let answered = 0;
  await vi.waitFor(() => expect((answered += monitor.answered())).toBe(AT_ONCE), WAIT);
  socket.destroy();
  expect(monitor.most()).toBeLessThanOrEqual(MAX_STARTED);
});

it('all addresses that the documents name are among them', async () => {
  const { body } = await http.call<{ readonly paths: Readonly<Record<string, object>> }>({ path: '/openapi.json' });
  const written = Object.entries(body.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
  );
  expect(written.toSorted()).toEqual(API_ROUTES.map(({ method, path }) => `${method} ${path}`).toSorted());
  expect(Object.keys(BASE_URLS)).toEqual(['live', 'test']);
});
