import { afterAll, describe, expect, it } from 'vitest';
import { httpTest, type Call } from '../http.ts';

const http = await httpTest();
afterAll(() => http.close());

const shop = await http.shop();
const ORDER = { amount: 25, currency: 'USD', crypto_currency: 'BTC' };
const KIB_64 = 65_536;

async function post(call: Partial<Call> & { readonly body?: unknown }, path = '/v1/orders') {
  return shop.call({ method: 'POST', path, ...call });
}

const badRequest = (message: string, param?: string) => [
  400,
  {
    error: {
      type: 'invalid_request_error',
      message: expect.stringContaining(message),
      ...(param === undefined ? {} : { param }),
    },
  },
];

function order(extra: string): string {
  return `{"amount":25,"currency":"USD","crypto_currency":"BTC"${extra}}`;
}

describe('a body', () => {
  it('of 64 KiB is read, one byte more is refused', async () => {
    const text = order('');
    const padded = (bytes: number) => text + ' '.repeat(bytes - text.length);
    expect((await post({ body: padded(KIB_64) })).status).toBe(200);
    const { status, body } = await post({ body: padded(KIB_64 + 1) });
    expect([status, body]).toEqual(badRequest('at most 64 KiB'));
    const own = await post({ body: padded(1_000_000) }, '/api/transactions/create');
    expect([own.status, own.body]).toEqual([400, { success: false, message: expect.stringContaining('64 KiB') }]);
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/json5',
    'application/jsonx',
    'application/vnd.api+json',
    'text/json',
    'garbage',
    '',
    '; charset=utf-8',
    'application/json\u0001',
  ])('with the content type %j is refused', async (type) => {
    const { status, body } = await post({ body: JSON.stringify(ORDER), headers: { 'content-type': type } });
    expect([status, body]).toEqual(badRequest('Content-Type must be application/json'));
  });

  it.each([
    'application/json',
    'APPLICATION/JSON',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
  ])('with the content type %j is read', async (type) => {
    expect((await post({ body: ORDER, headers: { 'content-type': type } })).status).toBe(200);
  });

  it.each<[string, string | Buffer]>([
    ['nothing but a brace', '{'],
    ['cut short', order('').slice(0, -1)],
    ['with a trailing comma', order(',')],
    ['with a comment', order('/* */')],
    ['in single quotes', "{'amount':25}"],
    ['two values', `${order('')}${order('')}`],
    ['with NaN', '{"amount":NaN,"currency":"USD","crypto_currency":"BTC"}'],
    ['with Infinity', '{"amount":Infinity,"currency":"USD","crypto_currency":"BTC"}'],
    ['with a number in hex', '{"amount":0x19,"currency":"USD","crypto_currency":"BTC"}'],
    ['with a leading zero', '{"amount":025,"currency":"USD","crypto_currency":"BTC"}'],
    ['with a raw line break in a text', order(',"order_id":"a\nb"')],
    ['with a NUL between', '{"amount":25,\0"currency":"USD","crypto_currency":"BTC"}'],
    ['that begins with a byte order mark twice', `\ufeff\ufeff${order('')}`],
  ])('%s is no valid JSON', async (_name, text) => {
    const { status, body } = await post({ body: text });
    expect([status, body]).toEqual(badRequest('not valid JSON'));
  });

  it('of very many long numbers is not compared number by number: beyond a hundred none counts as exact', async () => {
    const long = Array.from({ length: 2_000 }, (_, index) => `1234567890123456${index}`).join(',');
    const ignored = await post({ body: `{"x":[${long}],${order('').slice(1)}` });
    expect(ignored.status).toBe(200);
    const written = order('').replace('25', '25.0000000000000000');
    expect((await post({ body: written })).status).toBe(200);
    const { status, body } = await post({ body: `{"x":[${long}],${written.slice(1)}` });
    expect([status, body]).toMatchObject([
      400,
      { error: { param: 'amount', message: expect.stringContaining('more digits than can be read exactly') } },
    ]);
  });

  it.each([
    ['a prototype', order(',"__proto__":{"a":"b"}')],
    ['a prototype, escaped', order(',"\\u005f_proto__":{"a":"b"}')],
    ['a prototype, deep inside', order(',"metadata":{"__proto__":"b"}')],
    ['a prototype, behind a byte order mark', `\ufeff${order(',"metadata":{"__proto__":"b"}')}`],
    ['a constructor’s prototype', order(',"constructor":{"prototype":{"a":"b"}}')],
    ['a constructor’s prototype, deep inside', order(',"foo":{"constructor":{"prototype":1}}')],
  ])('that sets %s is refused for that, and not as broken JSON', async (_name, text) => {
    const { status, body } = await post({ body: text });
    expect([status, body]).toEqual(badRequest('No object in the body may have the key __proto__'));
  });

  it.each(['A-1', '1234567890123456'])(
    'that begins with a byte order mark is read, also with the text %s',
    async (id) => {
      const { status, body } = await post({ body: `\ufeff${order(`,"order_id":"${id}"`)}` });
      expect([status, body]).toMatchObject([200, { amount: 25 }]);
    },
  );

  it.each<[string, Buffer]>([
    ['Latin-1', Buffer.from(order(',"order_id":"caf\u00e9"'), 'latin1')],
    ['UTF-16', Buffer.from(order(''), 'utf16le')],
    [
      'an encoded surrogate',
      Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]),
    ],
    ['an overlong form', Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xc0, 0xaf]), Buffer.from('"}')])],
  ])('in %s is no UTF-8', async (_name, bytes) => {
    const { status, body } = await post({ body: bytes });
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { type: 'invalid_request_error' } });
  });

  it('of 32,000 nested lists is refused or ignored, never a fault', async () => {
    const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
    const objects = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;
    for (const text of [deep, objects]) {
      expect((await post({ body: text })).status).toBe(400);
      expect((await post({ body: order(`,"x":${text}`) })).status).toBe(200);
      // Beside what looks like a long number it may be too deep to be looked through, which is refused.
      const beside = await post({ body: order(`,"order_id":"1234567890123456","x":${text}`) });
      expect([200, 400]).toContain(beside.status);
      expect(beside.text).toMatch(/"status":"pending"|nested too deeply/);
      expect((await post({ body: order(`,"metadata":${text}`) })).status).toBe(400);
    }
  });

  it('that says a field twice means the last, as JSON.parse does', async () => {
    const { status, body } = await post({ body: order(',"amount":26') });
    expect([status, body['amount']]).toEqual([200, 26]);
  });

  it.each([
    '25.000000000000001',
    '25.00000000000000000001',
    '0.1000000000000000055511151231257827',
    '9007199254740993',
  ])('with the amount %s, which no number holds, is refused rather than rounded', async (amount) => {
    const { status, body } = await post({ body: order(`,"amount":${amount}`) });
    expect([status, body]).toEqual(badRequest('', 'amount'));
  });

  it.each(['25.00000000000000000', '2500000000000000000e-17', '0.0000000000000025e16', '25E0'])(
    'with the amount %s is read exactly',
    async (amount) => {
      const { status, body } = await post({ body: order(`,"amount":${amount}`) });
      expect([status, body['amount']]).toEqual([200, 25]);
    },
  );

  it('with long or zero numbers in fields that nobody knows is read', async () => {
    const extra = ',"x":0.0,"y":1234567890123456789,"z":-0.0,"order_id":"1234567890123456789"';
    expect((await post({ body: order(extra) })).status).toBe(200);
  });
});

describe('no body', () => {
  it('is fine where none is needed, with or without a content type', async () => {
    const withType = { 'content-type': 'application/json' };
    for (const [headers, body] of [
      [{}, undefined],
      [withType, undefined],
      [withType, ''],
      [withType, '{}'],
      [withType, '{"reason":"changed my mind"}'],
      [{ 'content-length': '0' }, undefined],
      // The request of `curl -X POST -d ''`.
      [{ 'content-type': 'application/x-www-form-urlencoded', 'content-length': '0' }, undefined],
    ] as const) {
      const made = await shop.call({ path: '/v1/orders', body: ORDER });
      const { status } = await post({ headers, body }, `/v1/orders/${made.body.id}/cancel`);
      expect([headers, body, status]).toEqual([headers, body, 200]);
      const own = await shop.call({ path: '/api/transactions/create', body: { amount: 1 } });
      const accepted = await post({ headers, body }, `/api/transactions/${own.body.transaction.id}/accept`);
      expect([accepted.status, accepted.body]).toMatchObject([400, { success: false }]);
      expect(accepted.text).toContain('cannot be accepted');
    }
  });

  it('is refused where one is needed, and said to be empty', async () => {
    const message = 'The body must be a JSON object, but it is empty.';
    for (const headers of [
      {},
      { 'content-type': 'application/json' },
      { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '0' },
    ]) {
      const { status, body } = await post({ headers });
      expect([status, body]).toEqual(badRequest(message));
      const own = await post({ headers }, '/api/transactions/create');
      expect([own.status, own.body]).toEqual([400, { success: false, message }]);
    }
    expect((await post({ body: '' })).body).toMatchObject({ error: { message } });
    const { body } = await post({ body: 'null' });
    expect(body).toMatchObject({ error: { message: 'The body must be a JSON object, not null.' } });
  });

  it('broken JSON is refused also where the body is not read', async () => {
    const made = await shop.call({ path: '/v1/orders', body: ORDER });
    const { status } = await post({ body: '{' }, `/v1/orders/${made.body.id}/cancel`);
    expect(status).toBe(400);
    expect((await shop.call({ path: `/v1/orders/${made.body.id}` })).body.status).toBe('pending');
  });
});

describe('what a customer or merchant types', () => {
  it.each([
    "Robert'); drop table payments;--",
    '${7*7}{{7*7}}<script>alert(1)</script>',
    '\u202eevil\u2066\ufeff\u{1F355}\u{10FFFF}',
    'a\r\nSet-Cookie: x=y',
    '\\u0000 \\x00 %00 \u0001\u001f\u007f\u0085\u2028',
    '{"$ne":null}',
  ])('is kept and given back as it was: %j', async (typed) => {
    const made = await shop.call({
      path: '/v1/orders',
      body: { ...ORDER, order_id: typed, description: typed, metadata: { [typed]: typed } },
    });
    expect(made.status).toBe(200);
    const { body } = await shop.call({ path: `/v1/orders/${made.body.id}` });
    expect(body).toMatchObject({ order_id: typed, description: typed, metadata: { [typed]: typed } });
  });
});

it('nothing of all this was logged as a fault of ours', () => {
  expect(http.logged).toEqual([]);
});
