import { once } from 'node:events';
import http from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createHttpClient, type HttpClient } from './http.ts';
import { serveHttps, type LocalHttps } from './local-https.fixture.ts';

let server: LocalHttps;
let client: HttpClient;
const answers = new Map<string, http.RequestListener>();

beforeAll(async () => {
  server = await serveHttps((request, response) => answers.get(request.url ?? '')?.(request, response));
  client = createHttpClient({ connect: server.connect });
});

afterAll(async () => {
  await client.close();
  await server.close();
});

function fetchText(path: string, signal = new AbortController().signal): Promise<string> {
  return client.fetchText(`https://prices.example${path}`, signal);
}

it('reads a body as UTF-8, asks as cointill, and sends nothing that identifies the merchant', async () => {
  let asked: http.IncomingMessage | undefined;
  answers.set('/ok?pair=A,B', (request, response) => {
    asked = request;
    response.end('{"price":"1 €"}');
  });
  await expect(fetchText('/ok?pair=A,B')).resolves.toBe('{"price":"1 €"}');
  expect(Object.keys(asked?.headers ?? {}).toSorted()).toEqual(['accept', 'connection', 'host', 'user-agent']);
  expect(asked?.headers['user-agent']).toBe('cointill');
});

it('passes on the time that a server states, and by how much later it may be for a cache between', async () => {
  const dates: (readonly [host: string, at: number, uncertainMs: number])[] = [];
  const dated = createHttpClient({ connect: server.connect, onDate: (...date) => void dates.push(date) });
  const at = Date.UTC(2026, 5, 15, 12);
  const date = new Date(at).toUTCString();
  answers.set('/dated', (_request, response) => response.writeHead(200, { date }).end('{}'));
  answers.set('/kept', (_request, response) => response.writeHead(200, { date, age: '40' }).end('{}'));
  answers.set('/odd', (_request, response) => response.writeHead(200, { date: 'soon', age: 'old' }).end('{}'));
  const { signal } = new AbortController();
  for (const path of ['/dated', '/kept', '/odd']) await dated.fetchText(`https://prices.example${path}`, signal);
  await dated.close();
  expect(dates.map(([host, stated]) => [host, stated])).toEqual([
    ['prices.example', at],
    ['prices.example', at],
  ]);
  const [fresh = 0, kept = 0] = dates.map(([, , uncertainMs]) => uncertainMs);
  expect(fresh).toBeGreaterThanOrEqual(1_000);
  expect(kept).toBeGreaterThanOrEqual(41_000);
});

it('follows no redirect', async () => {
  let isFollowed = false;
  answers.set('/moved', (_request, response) => response.writeHead(302, { location: '/elsewhere' }).end());
  answers.set('/elsewhere', (_request, response) => {
    isFollowed = true;
    response.end('{}');
  });
  await expect(fetchText('/moved')).rejects.toThrow('HTTP status 302');
  expect(isFollowed).toBe(false);
});

it('refuses an answer that is not a success', async () => {
  answers.set('/busy', (_request, response) => response.writeHead(429).end('{"price":"1"}'));
  await expect(fetchText('/busy')).rejects.toThrow('HTTP status 429');
});

it('stops reading after 1 MB and hangs up', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  answers.set('/endless', (_request, response) => {
    response.once('close', resolve);
    const more = (): void => {
      while (response.write('x'.repeat(65_536)));
    };
    response.on('drain', more);
    more();
  });
  await expect(fetchText('/endless')).rejects.toThrow('larger than 1000000 bytes');
  await closed;
});

it.each(['/silent', '/stalling'])('gives up %s at the signal, and hangs up', async (path) => {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const { promise: reached, resolve: onReached } = Promise.withResolvers<void>();
  answers.set(path, (_request, response) => {
    response.once('close', resolve);
    if (path === '/stalling') response.write('{"price":');
    onReached();
  });
  const controller = new AbortController();
  const answer = fetchText(path, controller.signal);
  void reached.then(() => controller.abort());
  await expect(answer).rejects.toThrow('no complete answer in time');
  await closed;
});

it('fetches over https only', async () => {
  const { signal } = new AbortController();
  for (const url of ['http://prices.example/ok', 'file:///etc/hosts', 'prices.example']) {
    await expect(client.fetchText(url, signal)).rejects.toThrow('https only');
  }
});

it('verifies certificates: a server that speaks no TLS is refused', async () => {
  const plain = http.createServer((_request, response) => response.end('{}')).listen(0, '127.0.0.1');
  await once(plain, 'listening');
  const address = plain.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const own = createHttpClient();
  try {
    const { signal } = new AbortController();
    await expect(own.fetchText(`https://127.0.0.1:${port}/`, signal)).rejects.toThrow(/SSL|TLS|packet/i);
  } finally {
    await own.close();
    plain.close();
  }
});
