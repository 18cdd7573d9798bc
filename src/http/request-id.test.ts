import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { overSocket, tryServer } from './frame.fixture.ts';
import { requestIds } from './request-id.ts';

const idOf = requestIds();
const given = (id: string | string[]): string => idOf({ headers: { 'x-request-id': id } });

it('is the client’s where that is 1 to 128 visible ASCII characters without spaces', () => {
  const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCodePoint(code));
  fc.assert(
    fc.property(fc.string({ unit: visible, minLength: 1, maxLength: 128 }), (id) => {
      expect(given(id)).toBe(id);
    }),
  );
});

it('is made for whoever sends another, so that every answer has a usable one', () => {
  for (const id of ['', ' ', 'a b', 'a\tb', 'x'.repeat(129), 'é', 'a\u007F', 'a\r\nb', 'one, two'])
    expect(given(id)).not.toBe(id);
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (id) => {
      expect(given(id)).toMatch(/^[\u0021-\u007E]{1,128}$/);
    }),
  );
  expect(given(['a', 'b'])).toMatch(/^[0-9a-f]{8}-/);
});

it('that is made is another each time', () => {
  const made = Array.from({ length: 1_000 }, () => idOf());
  expect(new Set(made).size).toBe(1_000);
});

const HOST = 'Host: localhost\r\nConnection: close\r\n';

it.each([
  ['health', `GET /healthz HTTP/1.1\r\n${HOST}X-Request-Id: shop-7\r\n\r\n`, 'shop-7'],
  ['a refusal', `GET /v1/orders HTTP/1.1\r\n${HOST}X-Request-Id: shop-8\r\n\r\n`, 'shop-8'],
  ['an unknown path', `GET /nothing HTTP/1.1\r\n${HOST}X-Request-Id: shop-9\r\n\r\n`, 'shop-9'],
  ['a path that is no URL', `GET /%ff HTTP/1.1\r\n${HOST}X-Request-Id: shop-10\r\n\r\n`, 'shop-10'],
  ['an id with a space', `GET /healthz HTTP/1.1\r\n${HOST}X-Request-Id: shop 7\r\n\r\n`, null],
  ['two ids', `GET /healthz HTTP/1.1\r\n${HOST}X-Request-Id: a\r\nX-Request-Id: b\r\n\r\n`, null],
  ['no id', `GET /healthz HTTP/1.1\r\n${HOST}\r\n`, null],
  ['what is not HTTP', 'hello\r\n\r\n', null],
])('is answered always: %s', async (_case, bytes, expected) => {
  const server = tryServer();
  try {
    const { headers } = await (await overSocket(server))(bytes);
    expect(headers['x-request-id']).toMatch(
      expected === null ? /^[0-9a-f]{8}-[0-9a-z]+$/ : new RegExp(`^${expected}$`),
    );
  } finally {
    await server.close();
  }
});
