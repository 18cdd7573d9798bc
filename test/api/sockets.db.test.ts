import { afterAll, describe, expect, it } from 'vitest';
import { httpTest, rateLimitHeaders } from '../http.ts';
import { portOf, sendRaw, type RawAnswer } from '../socket.ts';

const http = await httpTest();
afterAll(() => http.close());

const server = http.build({});
await server.listen({ host: '127.0.0.1', port: 0 });
const shop = await http.shop();
const key = await shop.key();
const BODY = '{"amount":25,"currency":"USD","crypto_currency":"BTC"}';

async function send(lines: readonly string[], body = ''): Promise<RawAnswer> {
  const [first, ...more] = await sendRaw(server, `${lines.join('\r\n')}\r\n\r\n${body}`);
  if (first === undefined) throw new Error('No answer came.');
  expect([...more, ...rateLimitHeaders(first.headers)]).toEqual([]);
  return first;
}

const typeOf = ({ body }: RawAnswer): string => {
  const parsed: { error?: { type?: string }; success?: boolean } = JSON.parse(body);
  return parsed.error?.type ?? `success ${parsed.success}`;
};

const HEAD = [`Host: localhost`, `Authorization: Bearer ${key}`, 'Connection: close'];
const JSON_HEAD = [...HEAD, 'Content-Type: application/json', `Content-Length: ${BODY.length}`];

it('a plain request over the wire is answered', async () => {
  const answer = await send(['POST /v1/orders HTTP/1.1', ...JSON_HEAD], BODY);
  expect([answer.status, JSON.parse(answer.body)]).toMatchObject([200, { status: 'pending', amount: 25 }]);
});

describe('what is not HTTP', () => {
  it.each<[string, string]>([
    ['garbage', 'hello\r\n\r\n'],
    ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
    ['another version', 'GET / HTTP/9.9\r\n\r\n'],
    ['an unknown method', 'STEAL /v1/orders HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['a space in a header’s name', 'GET / HTTP/1.1\r\nHost : localhost\r\n\r\n'],
    ['a header without a colon', 'GET / HTTP/1.1\r\nHost localhost\r\n\r\n'],
    ['a bare line feed in a header', 'GET / HTTP/1.1\r\nHost: localhost\r\nX: a\rb\r\n\r\n'],
    ['NUL in a header', 'GET / HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n'],
    ['headers of 20 KiB', `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_480)}\r\n\r\n`],
    ['a path of 20 KiB', `GET /v1/orders/${'x'.repeat(20_480)} HTTP/1.1\r\nHost: localhost\r\n\r\n`],
    ['two lengths', 'POST /v1/orders HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    ['a negative length', 'POST /v1/orders HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n'],
    [
      'a length and chunks, which two readers cut differently',
      'POST /v1/orders HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    [
      'a chunk of a bad size',
      'POST /v1/orders HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n',
    ],
  ])('%s is answered 400 with the headers, and the connection closed', async (_name, bytes) => {
    const [first] = await sendRaw(server, Buffer.from(bytes, 'latin1'));
    expect(first?.status).toBe(400);
    expect(rateLimitHeaders(first?.headers ?? {})).toEqual([]);
    expect(typeOf(first ?? { status: 0, headers: {}, body: '{}' })).toBe('invalid_request_error');
  });

  it('does not hold up the next client', async () => {
    expect((await send(['GET /v1/orders HTTP/1.1', ...HEAD])).status).toBe(200);
  });
});

describe('a header that decides something and comes twice', () => {
  it.each<[string, readonly string[], number, string]>([
    ['Authorization', [`Authorization: Bearer ${key}`], 401, 'authentication_error'],
    ['Authorization, another', ['authorization: Bearer sk_test_other'], 401, 'authentication_error'],
    ['Host', ['Host: evil.example'], 400, 'invalid_request_error'],
    ['Content-Type', ['Content-Type: text/plain'], 400, 'invalid_request_error'],
    ['Idempotency-Key', ['Idempotency-Key: a', 'idempotency-key: b'], 400, 'invalid_request_error'],
    ['Origin', ['Origin: https://a.example', 'Origin: https://b.example'], 400, 'invalid_request_error'],
  ])('is refused: %s', async (_name, lines, status, type) => {
    const answer = await send(['POST /v1/orders HTTP/1.1', ...JSON_HEAD, ...lines], BODY);
    expect([answer.status, typeOf(answer)]).toEqual([status, type]);
    const own = await send(['POST /api/transactions/create HTTP/1.1', ...JSON_HEAD, ...lines], BODY);
    expect([own.status, typeOf(own)]).toEqual([status, status === 401 ? type : 'success false']);
  });

  it('others may come twice', async () => {
    const answer = await send(['GET /v1/orders HTTP/1.1', ...HEAD, 'Accept: a/b', 'Accept: c/d', 'X-Y: 1', 'X-Y: 2']);
    expect(answer.status).toBe(200);
  });
});

describe('odd but well-formed requests', () => {
  it('without a Host are refused with the headers', async () => {
    const answer = await send(['GET /v1/orders HTTP/1.1', `Authorization: Bearer ${key}`, 'Connection: close']);
    // Without a Host it cannot be known to be local.
    expect([answer.status, typeOf(answer)]).toEqual([403, 'https_required']);
    const health = await send(['GET /healthz HTTP/1.1', 'Connection: close']);
    expect(health.status).toBe(400);
    const empty = await send(['GET /v1/orders HTTP/1.1', 'Host:', `Authorization: Bearer ${key}`, 'Connection: close']);
    expect(typeOf(empty)).toBe('https_required');
    const old = await send(['GET /healthz HTTP/1.0']);
    expect(old.status).toBe(200);
  });

  it('with an expectation that nobody knows are answered with the headers', async () => {
    const answer = await send(['GET /v1/orders HTTP/1.1', ...HEAD, 'Expect: miracles']);
    expect(answer.status).toBe(200);
    const asked = await send(['POST /v1/orders HTTP/1.1', ...JSON_HEAD, 'Expect: 100-continue'], BODY);
    expect(asked.status).toBe(200);
  });

  it.each([
    ['an absolute address of another host', 'http://evil.example/v1/orders'],
    ['two slashes', '//v1/orders'],
    ['dots', '/v1/../v1/orders'],
    ['a fragment', '/v1/orders#x'],
    ['a star', '*'],
    ['a broken escape', '/v1/orders/%E0%A4%A'],
    ['a broken escape of nothing', '/%'],
    ['an escaped letter', '/%76%31/orders'],
    ['an escaped slash', '/v1%2forders'],
    ['NUL', '/v1/orders/%00'],
    ['bytes that are not ASCII', '/v1/orders/\u00ff\u00fe'],
  ])('with %s in the path are answered in one of the documented shapes', async (_name, path) => {
    const [answer] = await sendRaw(
      server,
      Buffer.from(`GET ${path} HTTP/1.1\r\n${HEAD.join('\r\n')}\r\n\r\n`, 'latin1'),
    );
    const shape = answer === undefined || answer.status === 200 ? 'success' : typeOf(answer);
    expect(['200 success', '400 invalid_request_error', '404 not_found_error']).toContain(`${answer?.status} ${shape}`);
    expect(rateLimitHeaders(answer?.headers ?? {})).toEqual([]);
  });

  it.each(['TRACE', 'PROPFIND', 'PURGE', 'QUERY', 'PUT', 'PATCH', 'DELETE', 'LINK', 'M-SEARCH'])(
    'with the method %s are told that there is nothing',
    async (method) => {
      const answer = await send([`${method} /v1/orders HTTP/1.1`, ...HEAD]);
      expect([answer.status, typeOf(answer)]).toEqual([404, 'not_found_error']);
      const own = await send([`${method} /api/transactions/create HTTP/1.1`, ...HEAD]);
      expect([own.status, typeOf(own)]).toEqual([404, 'success false']);
      const withBody = await send(
        [`${method} /v1/orders HTTP/1.1`, ...HEAD, 'Content-Type: x/y', 'Content-Length: 1'],
        'a',
      );
      expect([withBody.status, typeOf(withBody)]).toEqual([404, 'not_found_error']);
    },
  );

  it('with CONNECT are hung up on: this is no proxy', async () => {
    expect(await sendRaw(server, 'CONNECT pay.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n')).toEqual([]);
  });

  it('with HEAD are answered as GET is, without its body', async () => {
    const { status, headers, body } = await send(['HEAD /v1/orders HTTP/1.1', ...HEAD]);
    expect([status, body]).toEqual([200, '']);
    expect(Number(headers['content-length'])).toBeGreaterThan(0);
    expect((await send(['HEAD /v1/nothing HTTP/1.1', ...HEAD])).status).toBe(404);
  });

  it('that ask for another protocol are answered as they are', async () => {
    const answer = await send([
      'GET /v1/orders HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${key}`,
      'Connection: close, Upgrade, HTTP2-Settings',
      'Upgrade: h2c, websocket',
      'HTTP2-Settings: AAMAAABkAAQAAP__',
    ]);
    expect(answer.status).toBe(200);
  });

  it('with a body in chunks are read, and refused beyond 64 KiB', async () => {
    const chunked = [...HEAD, 'Content-Type: application/json', 'Transfer-Encoding: chunked'];
    const good = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;
    expect((await send(['POST /v1/orders HTTP/1.1', ...chunked], good)).status).toBe(200);
    const large = `${(70_000).toString(16)}\r\n${' '.repeat(70_000)}\r\n0\r\n\r\n`;
    const answer = await send(['POST /v1/orders HTTP/1.1', ...chunked], large);
    expect([answer.status, typeOf(answer)]).toEqual([400, 'invalid_request_error']);
  });

  it('one after the other on one connection are answered each, in order', async () => {
    const one = (path: string, last: boolean) =>
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n${last ? 'Connection: close\r\n' : ''}\r\n`;
    const answers = await sendRaw(
      server,
      one('/v1/orders', false) + one('/v1/nothing', false) + one('/api/transactions/stats', true),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 200]);
    for (const { headers } of answers) expect(rateLimitHeaders(headers)).toEqual([]);
  });
});

it('a redirect leads to this service, whatever host a whole URL as target names', async () => {
  for (const path of ['/pay/x/cancel', '/pay/x/token?lang=de']) {
    const answer = await send([`GET http://evil.example${path} HTTP/1.1`, ...HEAD]);
    expect([answer.status, answer.headers['location']]).toEqual([303, path.replace(/\/(?:cancel|token)/, '')]);
  }
});

it('headers cannot be smuggled into answers', async () => {
  const typed = encodeURIComponent('x\r\nSet-Cookie: a=b\r\n\r\n<script>');
  for (const path of [`/pay/${typed}`, `/v1/orders/${typed}`, `/${typed}`, `/docs/${typed}`, `/pay/${typed}/cancel`]) {
    for (const method of ['GET', 'POST']) {
      const answer = await send([`${method} ${path} HTTP/1.1`, ...HEAD, 'Content-Length: 0']);
      expect(answer.headers).not.toHaveProperty('set-cookie');
    }
  }
});

it('after all of it the server still answers', async () => {
  const answer = await fetch(`http://localhost:${portOf(server)}/healthz`);
  expect([answer.status, await answer.json()]).toEqual([200, { status: 'ok' }]);
  expect(http.logged).toEqual([]);
});
