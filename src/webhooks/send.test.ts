import type { ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { receive, receiveRaw } from './local-receivers.fixture.ts';
import type { LocalReceiver } from './local-receivers.fixture.ts';
import { createWebhookSender } from './send.ts';
import type { WebhookSender } from './send.ts';

const cleanUp: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of cleanUp.splice(0).toReversed()) await close();
});

function sender(options: Partial<Parameters<typeof createWebhookSender>[0]> = {}): WebhookSender {
  const made = createWebhookSender({
    policyOf: (mode) => ({ mode, production: false, allowCidrs: [] }),
    now: () => performance.now(),
    ...options,
  });
  cleanUp.push(() => made.close(0));
  return made;
}

async function receiver(starting: Promise<LocalReceiver>): Promise<LocalReceiver & { readonly url: string }> {
  const started = await starting;
  cleanUp.push(started.close);
  return { ...started, url: `http://127.0.0.1:${started.port}/hooks?shop=1` };
}

const SIGNATURE = 'f00d'.repeat(16);
const to = (url: string, body = '{"id":"evt_1"}') =>
  ({ url, mode: 'test', headers: { 'x-service-signature': SIGNATURE, 'webhook-id': 'evt_1' }, body }) as const;

/** undici takes a connection back for reuse in the turn of the event loop after the answer. */
const connectionsAreIdle = (): Promise<void> => setImmediate();

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

describe('a delivery', () => {
  it('is a POST of the very bytes, as JSON, with the signature headers and our name', async () => {
    const shop = await receiver(receive((response) => response.end()));
    const body = '{"note":"Grüße €","n":1.50}';
    expect((await sender().send(to(shop.url, body))).kind).toBe('response');
    expect(shop.requests).toHaveLength(1);
    expect(shop.requests[0]).toMatchObject({
      url: '/hooks?shop=1',
      body,
      headers: {
        host: `127.0.0.1:${shop.port}`,
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
        'user-agent': 'Cointill-Webhooks/1',
        'x-service-signature': SIGNATURE,
        'webhook-id': 'evt_1',
      },
    });
  });

  it.each([200, 204, 299, 400, 401, 404, 410, 429, 500, 503])('answered with %i is a response', async (status) => {
    const shop = await receiver(receive((response) => response.writeHead(status).end()));
    expect(await sender().send(to(shop.url))).toMatchObject({ kind: 'response', status, truncated: false });
  });

  it.each([301, 302, 303, 307, 308])('answered with the redirect %i is not followed', async (status) => {
    const elsewhere = await receiver(receive((response) => response.end()));
    const shop = await receiver(receive((response) => response.writeHead(status, { location: elsewhere.url }).end()));
    expect(await sender().send(to(shop.url))).toMatchObject({
      kind: 'response',
      status,
      responseHeaders: { location: elsewhere.url },
    });
    expect(elsewhere.connectionCount()).toBe(0);
  });

  it('gives back the answer as it came: status, headers, body, duration', async () => {
    const shop = await receiver(
      receive((response) => response.writeHead(200, { 'X-Shop': 'a', 'set-cookie': ['b=1', 'c=2'] }).end('Grüße €')),
    );
    let nowMs = 1000;
    const result = await sender({ now: () => (nowMs += 21) }).send(to(shop.url));
    expect(result).toMatchObject({
      kind: 'response',
      responseHeaders: { 'x-shop': 'a', 'set-cookie': 'b=1, c=2' },
      responseBody: 'Grüße €',
      durationMs: 21,
    });
  });

  it('takes early hints for what they are and waits for the answer', async () => {
    const shop = await receiver(
      receive((response) => {
        response.writeEarlyHints({ link: '</style.css>; rel=preload' });
        response.writeHead(202).end('later');
      }),
    );
    expect(await sender().send(to(shop.url))).toMatchObject({ kind: 'response', status: 202, responseBody: 'later' });
  });
});

describe("an answer's body", () => {
  const LIMIT = 65_536;

  it('of exactly 64 KiB is kept whole', async () => {
    const shop = await receiver(receive((response) => response.end('x'.repeat(LIMIT))));
    const result = await sender().send(to(shop.url));
    expect(result).toMatchObject({ kind: 'response', truncated: false, responseBody: 'x'.repeat(LIMIT) });
  });

  it('of one byte more is cut there, and the connection is closed', async () => {
    const shop = await receiver(receive((response) => response.end('x'.repeat(LIMIT + 1))));
    const result = await sender().send(to(shop.url));
    expect(result).toMatchObject({ kind: 'response', status: 200, truncated: true, responseBody: 'x'.repeat(LIMIT) });
    await shop.allClosed();
  });

  it('that never ends is cut, counts as a response, and the receiver sees the connection close', async () => {
    const shop = await receiver(
      receive((response) => {
        const more = (): void => {
          while (response.write('y'.repeat(10_000)));
          response.once('drain', more);
        };
        more();
      }),
    );
    const result = await sender().send(to(shop.url));
    expect(result).toMatchObject({ kind: 'response', status: 200, truncated: true });
    expect(result.kind === 'response' && result.responseBody.length).toBe(LIMIT);
    await shop.allClosed();
  });

  it('is cut between characters, never inside one', async () => {
    const shop = await receiver(receive((response) => response.end(`x${'€'.repeat(LIMIT)}`)));
    const result = await sender().send(to(shop.url));
    // 1 + 3 n bytes fit for n = 21,845, exactly 65,536; the limit one lower cuts the last character in two.
    expect(result).toMatchObject({ truncated: true, responseBody: `x${'€'.repeat(21_845)}` });
    const shorter = await sender({ responseLimitBytes: LIMIT - 1 }).send(to(shop.url));
    expect(shorter).toMatchObject({ truncated: true, responseBody: `x${'€'.repeat(21_844)}` });
  });

  it('shows what is not UTF-8, and NUL, as U+FFFD and keeps all else', async () => {
    const shop = await receiver(
      receive((response) => response.end(Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0x00, 0xff, 0x62]))),
    );
    expect(await sender().send(to(shop.url))).toMatchObject({ responseBody: '\uFEFFa\uFFFD\uFFFDb' });
  });
});

/** Writes a little again and again, until nobody reads any more. */
function drip(stream: Writable, text: string): void {
  const dripping = setInterval(() => stream.write(text), 5);
  stream.on('close', () => clearInterval(dripping));
}

/** The result of a sender with such a timeout, once the shop's connections are closed. */
async function timeoutOf(shop: LocalReceiver & { readonly url: string }, timeoutMs: number) {
  const outcome = await sender({ timeoutMs }).send(to(shop.url));
  await shop.allClosed();
  return outcome;
}

describe('time', () => {
  it('runs out when no answer comes, and the connection is closed', async () => {
    const shop = await receiver(receive(() => {}));
    expect(await timeoutOf(shop, 500)).toMatchObject({
      kind: 'error',
      stage: 'timeout',
      message: `No complete response from 127.0.0.1:${shop.port} within 500 ms (while waiting for the response).`,
    });
  });

  it('runs out for an answer that drips on and on, however lively it is', async () => {
    const shop = await receiver(
      receive((response) => {
        response.writeHead(200);
        drip(response, '.');
      }),
    );
    expect(await timeoutOf(shop, 500)).toMatchObject({
      kind: 'error',
      stage: 'timeout',
      message: expect.stringContaining('while reading the response'),
    });
  });

  it('runs out for headers that drip on and on', async () => {
    const shop = await receiver(
      receiveRaw((socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        drip(socket, 'x-drip: 1\r\n');
      }),
    );
    expect(await timeoutOf(shop, 100)).toMatchObject({ kind: 'error', stage: 'timeout' });
  });

  it('runs out while a name is being resolved', async () => {
    const result = await sender({ timeoutMs: 50, lookup: () => {} }).send(to('http://shop.example/'));
    expect(result).toMatchObject({ stage: 'timeout', message: expect.stringContaining('while connecting') });
  });

  it('lost on one receiver is not lost on another', async () => {
    const slow = await receiver(receive(() => {}));
    const quick = await receiver(receive((response) => response.end()));
    const sending = sender();
    const stuck = Array.from({ length: 200 }, () => sending.send(to(slow.url)));
    expect(await sending.send(to(quick.url))).toMatchObject({ kind: 'response', status: 200 });
    await sending.close(0);
    expect(new Set((await Promise.all(stuck)).map((result) => result.kind))).toEqual(new Set(['error']));
  });
});

/** The result of a second delivery to a shop that answers the first, and ends every later connection with this. */
async function secondDelivery(end: string) {
  let requests = 0;
  const shop = await receiver(
    receiveRaw((socket) =>
      socket.on('data', () => {
        requests += 1;
        if (requests === 1) socket.write(OK);
        else socket.end(end);
      }),
    ),
  );
  const sending = sender();
  await sending.send(to(shop.url));
  await connectionsAreIdle();
  const outcome = await sending.send(to(shop.url));
  return { outcome, requests, connections: shop.connectionCount() };
}

describe('a connection', () => {
  it('that nobody takes is an error of stage connect', async () => {
    const closed = await receiver(receive(() => {}));
    await closed.close();
    expect(await sender().send(to(closed.url))).toMatchObject({
      kind: 'error',
      stage: 'connect',
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('is used again for the next delivery', async () => {
    const shop = await receiver(receive((response) => response.end('ok')));
    const sending = sender();
    for (let count = 0; count < 5; count += 1) {
      await sending.send(to(shop.url));
      await connectionsAreIdle();
    }
    expect(shop.requests).toHaveLength(5);
    expect(shop.connectionCount()).toBe(1);
  });

  it.each(['reset', 'closed'] as const)('that was idle and is %s under a delivery is replaced once', async (how) => {
    let requests = 0;
    const shop = await receiver(
      receiveRaw((socket) =>
        socket.on('data', () => {
          requests += 1;
          if (requests !== 2) socket.write(OK);
          else if (how === 'reset') socket.resetAndDestroy();
          else socket.end();
        }),
      ),
    );
    const sending = sender();
    expect(await sending.send(to(shop.url))).toMatchObject({ kind: 'response' });
    await connectionsAreIdle();
    expect(await sending.send(to(shop.url))).toMatchObject({ kind: 'response', status: 200, responseBody: 'ok' });
    expect({ requests, connections: shop.connectionCount() }).toEqual({ requests: 3, connections: 2 });
  });

  it('that was lost is not replaced by another idle one, which is likely lost too', async () => {
    let requests = 0;
    const shop = await receiver(
      receiveRaw((socket) => {
        let requestsHere = 0;
        socket.on('data', () => {
          requests += 1;
          requestsHere += 1;
          if (requestsHere === 1) socket.write(OK);
          else socket.resetAndDestroy();
        });
      }),
    );
    const sending = sender();
    await Promise.all([sending.send(to(shop.url)), sending.send(to(shop.url))]);
    await connectionsAreIdle();
    expect(await sending.send(to(shop.url))).toMatchObject({ kind: 'response', status: 200 });
    expect({ requests, connections: shop.connectionCount() }).toEqual({ requests: 4, connections: 3 });
  });

  it('that is lost again on the fresh one is an error', async () => {
    const { outcome, requests, connections } = await secondDelivery('');
    expect(outcome).toMatchObject({ kind: 'error', stage: 'response' });
    expect({ requests, connections }).toEqual({ requests: 3, connections: 2 });
  });

  it('that is lost after the head of the answer is not replaced', async () => {
    const { outcome, requests } = await secondDelivery('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf');
    expect(outcome).toMatchObject({ kind: 'error', stage: 'response' });
    expect(requests).toBe(2);
  });

  it('that is lost on its first delivery is an error at once', async () => {
    const shop = await receiver(receiveRaw((socket) => socket.on('data', () => socket.resetAndDestroy())));
    expect(await sender().send(to(shop.url))).toEqual({
      kind: 'error',
      stage: 'response',
      message: `127.0.0.1:${shop.port} closed the connection before its response was complete.`,
      durationMs: expect.any(Number),
    });
    expect(shop.connectionCount()).toBe(1);
  });
});

describe('an answer that is not HTTP', () => {
  it.each([
    ['garbage', 'hello, this is dog\r\n\r\n'],
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['a bad status', 'HTTP/1.1 2x0 OK\r\n\r\n'],
    ['a header without a name', 'HTTP/1.1 200 OK\r\n: x\r\n\r\n'],
    ['NUL in a header', 'HTTP/1.1 200 OK\r\nx: a\0b\r\ncontent-length: 0\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx'],
    [
      'length and chunks',
      'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n',
    ],
    ['a bad chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'],
    ['an early end', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nshort'],
    ['an end in the headers', 'HTTP/1.1 200 OK\r\nx-cut: '],
    ['nothing at all', ''],
    ['an upgrade', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
    ['endless headers', `HTTP/1.1 200 OK\r\n${'x-long: '.padEnd(1000, 'x')}\r\n`.repeat(40)],
  ])('(%s) is an error of stage response that shows neither headers nor the signature', async (_what, answer) => {
    const shop = await receiver(receiveRaw((socket) => socket.once('data', () => socket.end(answer, 'latin1'))));
    const result = await sender().send(to(shop.url));
    expect(result).toMatchObject({ kind: 'error', stage: 'response' });
    expect(JSON.stringify(result)).not.toContain(SIGNATURE);
  });
});

describe('header injection', () => {
  it.each(['a\r\nx-evil: 1', 'a\nx-evil: 1', 'a\0', 'a\u{1F600}'])(
    'by a header value (%j) sends nothing',
    async (value) => {
      const shop = await receiver(receive((response) => response.end()));
      const result = await sender().send({ ...to(shop.url), headers: { 'webhook-id': value } });
      expect(result).toMatchObject({ kind: 'error', stage: 'guard' });
      expect(shop.connectionCount()).toBe(0);
    },
  );

  it('by a header name sends nothing', async () => {
    const shop = await receiver(receive((response) => response.end()));
    const result = await sender().send({ ...to(shop.url), headers: { 'x-a: 1\r\nx-evil': '1' } });
    expect(result).toMatchObject({ kind: 'error', stage: 'guard' });
    expect(shop.connectionCount()).toBe(0);
  });

  it('by the URL arrives as a path or not at all', async () => {
    const shop = await receiver(receive((response) => response.end()));
    const sending = sender();
    expect(await sending.send(to(`${shop.url}\r\nx-evil: 1`))).toMatchObject({ kind: 'error', stage: 'guard' });
    await sending.send(to(`${shop.url}%0d%0ax-evil:1`));
    expect(shop.requests.map((request) => request.url)).toEqual(['/hooks?shop=1%0d%0ax-evil:1']);
    expect(shop.requests[0]?.headers).not.toHaveProperty('x-evil');
  });
});

describe('closing', () => {
  it('waits for what is under way, takes nothing more, and drops the connections', async () => {
    const arrival = Promise.withResolvers<ServerResponse>();
    const shop = await receiver(receive(arrival.resolve));
    const sending = sender();
    const underWay = sending.send(to(shop.url));
    const response = await arrival.promise;
    const closing = sending.close();
    await expect(sending.send(to(shop.url))).rejects.toThrow('closed');
    response.end('done');
    expect(await underWay).toMatchObject({ kind: 'response', responseBody: 'done' });
    await closing;
    await shop.allClosed();
  });

  it('cuts short what is still under way after its grace, and says so', async () => {
    const shop = await receiver(receive(() => {}));
    const sending = sender();
    const underWay = sending.send(to(shop.url));
    await sending.close(0);
    expect(await underWay).toMatchObject({
      kind: 'error',
      stage: 'response',
      message: expect.stringContaining('stopping'),
    });
  });

  it('can be asked for twice', async () => {
    const sending = sender();
    await Promise.all([sending.close(), sending.close()]);
    await expect(sending.send(to('http://127.0.0.1:1/'))).rejects.toThrow('closed');
  });
});
