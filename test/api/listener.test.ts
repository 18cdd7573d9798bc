import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { selfSigned } from '../../src/webhooks/local-receivers.fixture.ts';
import { createListener, MAX_STARTED, MAX_WAITING } from '../../src/http/listener.ts';
import { WAIT } from '../deadline.ts';

const TIMES = { connectionTimeoutMs: 60_000, requestTimeoutMs: 30_000, keepAliveMs: 60_000 };
const open: { close: () => unknown }[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

const certificate = selfSigned('localhost');

interface Started {
  readonly path: string;
  readonly response: ServerResponse;
}

/** A listener whose answers the test gives, with a client that reads nothing until the test lets it. */
async function connected(tls: { readonly cert: Buffer; readonly key: Buffer } | null) {
  const started: Started[] = [];
  const arrived: string[] = [];
  const handle: RequestListener = (request, response) => {
    started.push({ path: request.url ?? '', response });
    request.resume();
  };
  const server = createListener(handle, { tls, ...TIMES });
  server.on('request', ({ url = '' }) => void arrived.push(url));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({ close: () => (server.closeAllConnections(), server.close()) });
  const address = server.address();
  const port = address === null || typeof address === 'string' ? 0 : address.port;
  const dialWith = (options: ConnectionOptions): TLSSocket =>
    connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
  const dial = (): Socket => (tls === null ? connect(port, '127.0.0.1') : dialWith({}));
  const client = dial();
  await once(client, tls === null ? 'connect' : 'secureConnect');
  client.pause();
  client.on('error', () => {});
  return { server, client, started, arrived, dial, dialWith };
}

const paths = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `/${index}`);
const requests = (count: number): string =>
  paths(count)
    .map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
    .join('');

it('a request that trickles in ends soon after its time', async () => {
  const server = createListener(() => {}, { tls: null, ...TIMES, requestTimeoutMs: 100 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({ close: () => (server.closeAllConnections(), server.close()) });
  const address = server.address();
  const client = connect(address === null || typeof address === 'string' ? 0 : address.port, '127.0.0.1');
  client.resume().on('error', () => {});
  const closed = once(client, 'close');
  client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n');
  const trickle = setInterval(() => client.write('a'), 500);
  // Node's default checks connections only every half minute, which is too long for this test.
  await closed;
  clearInterval(trickle);
  expect(client.destroyed).toBe(true);
});

const ENCRYPTED = { cert: Buffer.from(certificate.cert), key: Buffer.from(certificate.key) };

it.each([
  ['TLSv1.3', 'TLS_AES_128_GCM_SHA256', true],
  ['TLSv1.2', 'ECDHE-ECDSA-AES128-GCM-SHA256', true],
  ['TLSv1.2', 'ECDHE-ECDSA-CHACHA20-POLY1305', true],
  ['TLSv1.2', 'ECDHE-ECDSA-AES128-SHA', false],
  ['TLSv1.2', 'ECDHE-ECDSA-AES256-SHA384', false],
] as const)('%s with %s is taken: %s', async (version, ciphers, isTaken) => {
  const { dialWith } = await connected(ENCRYPTED);
  const client = dialWith({ ciphers, minVersion: version, maxVersion: version });
  open.push({ close: () => client.destroy() });
  const secured = once(client, 'secureConnect').then(
    () => true,
    () => false,
  );
  expect(await secured).toBe(isTaken);
});

describe.each([
  ['plain', null],
  ['encrypted', ENCRYPTED],
] as const)('of the requests that come at once on a %s connection', (_name, tls) => {
  it('a few are started, and each further one when an answer was taken, in order', async () => {
    const { client, started, arrived } = await connected(tls);
    client.write(requests(20));
    await vi.waitFor(() => expect(arrived).toHaveLength(20), WAIT);
    expect(started).toHaveLength(MAX_STARTED);
    started[1]?.response.end('not the first');
    expect(started).toHaveLength(MAX_STARTED);
    started[0]?.response.end('the first');
    await vi.waitFor(() => expect(started).toHaveLength(MAX_STARTED + 2), WAIT);
    for (let next = 2; next < 20; next += 1) {
      await vi.waitFor(() => expect(started.length).toBeGreaterThan(next), WAIT);
      started[next]?.response.end(String(next));
    }
    expect(started.map(({ path }) => path)).toEqual(paths(20));
    const chunks: Buffer[] = [];
    client.on('data', (chunk: Buffer) => void chunks.push(chunk)).resume();
    await vi.waitFor(
      () =>
        expect(
          Buffer.concat(chunks)
            .toString()
            .match(/200 OK/g),
        ).toHaveLength(20),
      WAIT,
    );
  });

  it('none is started while the answers before it are not taken', async () => {
    const { client, started, arrived } = await connected(tls);
    client.write(requests(40));
    await vi.waitFor(() => expect(arrived).toHaveLength(40), WAIT);
    // More than the system keeps for a client that reads nothing.
    const large = Buffer.alloc(16_000_000);
    for (const { response } of started.slice(0, MAX_STARTED)) response.end(large);
    await new Promise((resolve) => setImmediate(resolve));
    expect(started).toHaveLength(MAX_STARTED);
  });

  it('no more are read while some wait', async () => {
    const { client, started, arrived, dial } = await connected(tls);
    client.write(requests(MAX_STARTED + 1));
    await vi.waitFor(() => expect(arrived).toHaveLength(MAX_STARTED + 1), WAIT);
    await new Promise<void>((resolve) => client.write(requests(10), () => resolve()));
    // Later data of another connection is read, so this one had its chance.
    const other = dial();
    other.on('error', () => {});
    other.write('GET /other HTTP/1.1\r\nHost: a\r\n\r\n');
    await vi.waitFor(() => expect(arrived).toContain('/other'), WAIT);
    expect(arrived).toHaveLength(MAX_STARTED + 2);
    const answered = new Set<Started>();
    await vi.waitFor(() => {
      for (const one of started.filter((each) => !answered.has(each))) {
        answered.add(one);
        one.response.end();
      }
      expect(answered.size).toBe(MAX_STARTED + 12);
    }, WAIT);
  });

  it('a body that comes after its turn is waited for', async () => {
    const { client, started, arrived } = await connected(tls);
    client.write(`${requests(MAX_STARTED)}POST /last HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n`);
    await vi.waitFor(() => expect(arrived).toHaveLength(MAX_STARTED + 1), WAIT);
    for (const { response } of started.slice(0, MAX_STARTED)) response.end();
    await vi.waitFor(() => expect(started).toHaveLength(MAX_STARTED + 1), WAIT);
    const last = started.at(-1)?.response;
    client.write('{}');
    await vi.waitFor(() => expect(last?.req.complete).toBe(true), WAIT);
  });

  it('those of a connection that sends more than may wait are given up with it', async () => {
    const { client, started } = await connected(tls);
    const closed = once(client, 'close');
    client.resume();
    client.write(requests(MAX_STARTED + MAX_WAITING + 1));
    await closed;
    expect(started).toHaveLength(MAX_STARTED);
    for (const { response } of started) response.end();
    expect(started).toHaveLength(MAX_STARTED);
  });
});
