import * as fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { Type } from 'typebox';
import { text } from './fields.ts';
import { tryServer } from './frame.fixture.ts';
import { compileValidator } from './validation.ts';

const app = tryServer({}, { test: 1e9, live: 1e9, page: 1e9 });
afterAll(() => app.close());

interface Answer {
  readonly taken?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string; readonly param?: string };
}
const headers = { authorization: 'Bearer sk_test' };

async function create(payload: string | Buffer, contentType = 'application/json') {
  const answer = await app.inject({
    method: 'POST',
    url: '/v1/orders',
    headers: { ...headers, 'content-type': contentType },
    payload,
  });
  return { status: answer.statusCode, ...answer.json<Answer>() };
}

async function list(query: string) {
  const answer = await app.inject({ url: `/v1/orders?${query}`, headers });
  return { status: answer.statusCode, ...answer.json<Answer>() };
}

describe('bodies', () => {
  it.each([
    ['a text for a number', '{"amount":"10"}', 'amount'],
    ['a number beyond doubles', '{"amount":1e400}', 'amount'],
    ['a whole number beyond doubles', '{"amount":1,"expires_in":1e400}', 'expires_in'],
    ['more digits than read back', '{"amount":0.1000000000000000055}', 'amount'],
    ['null', '{"amount":null}', 'amount'],
    ['nothing', '{}', 'amount'],
    ['decimals of a whole number', '{"amount":1,"expires_in":60.5}', 'expires_in'],
    ['out of range', '{"amount":1,"expires_in":59}', 'expires_in'],
    ['NUL', '{"amount":1,"note":"a\\u0000"}', 'note'],
    ['a lone surrogate', '{"amount":1,"note":"\\ud800"}', 'note'],
    ['too long', '{"amount":1,"note":"12345678901"}', 'note'],
    ['no e-mail address', '{"amount":1,"email":"a"}', 'email'],
    ['a URL of another scheme', '{"amount":1,"return_url":"javascript:alert(1)"}', 'return_url'],
    ['a URL without a host', '{"amount":1,"return_url":"http:shop.example"}', 'return_url'],
    ['a URL of backslashes', '{"amount":1,"return_url":"https:\\\\\\\\evil.example"}', 'return_url'],
    ['a URL with a line break', '{"amount":1,"return_url":"https://a.example/\\nSet-Cookie: x"}', 'return_url'],
    ['metadata of numbers', '{"amount":1,"metadata":{"a":1}}', 'metadata'],
    ['nested metadata', '{"amount":1,"metadata":{"a\\nb":{}}}', 'metadata'],
    ['a metadata key with NUL', '{"amount":1,"metadata":{"a\\u0000":"x"}}', 'metadata'],
  ])('refuse %s and name the field', async (_name, body, param) => {
    const answer = await create(body);
    expect([answer.status, answer.error?.param]).toEqual([400, param]);
    expect(
      answer.error?.message.startsWith(`${param} `) || answer.error?.message.startsWith(`A value of ${param} `),
    ).toBe(true);
  });

  it.each([
    ['an array', '[]', 'application/json'],
    ['malformed JSON', '{"amount":', 'application/json'],
    ['nothing at all', '', 'application/json'],
    ['a prototype', '{"amount":1,"__proto__":{}}', 'application/json'],
    ['a form', 'amount=1', 'application/x-www-form-urlencoded'],
    ['plain text', '{"amount":1}', 'text/plain'],
    ['a content type that is none', '{"amount":1}', '???'],
    [
      'depth without end',
      `{"amount":1,"x":${'['.repeat(30_000)}1234567890123456789${']'.repeat(30_000)}}`,
      'application/json',
    ],
    ['more than 64 KiB', JSON.stringify({ amount: 1, x: 'a'.repeat(65_536) }), 'application/json'],
  ])('refuse %s', async (_name, body, type) => {
    expect((await create(body, type)).status).toBe(400);
  });

  it('refuse bytes that are not UTF-8', async () => {
    expect((await create(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).status).toBe(400);
  });

  it('ignore unknown fields, whatever they hold', async () => {
    expect((await create('{"amount":1,"x":12345678901234567891,"y":{"z":[null]}}')).status).toBe(200);
  });

  it('take over every number of up to 15 digits as it was written', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 999_999_999_999_999 }), fc.nat(8), async (digits, places) => {
        const amount = `${digits}e-${places}`;
        expect((await create(`{"amount":${amount}}`)).taken).toEqual({ amount: Number(amount) });
      }),
    );
  });

  it('never repeat the value', async () => {
    expect((await create('{"amount":1,"email":"s3cret"}')).error?.message).not.toContain('s3cret');
  });

  it('need no body where none is read', async () => {
    const cancel = { method: 'POST', url: '/v1/orders/x/cancel' } as const;
    expect((await app.inject({ ...cancel, headers })).statusCode).toBe(200);
    expect(
      (await app.inject({ ...cancel, headers: { ...headers, 'content-type': 'application/json' } })).statusCode,
    ).toBe(200);
  });
});

describe('the length of a text', () => {
  const refused = (rules: { readonly min?: number; readonly max: number }, value: string): string => {
    const outcome = compileValidator({ schema: Type.Object({ name: text(rules) }), httpPart: 'body' })({ name: value });
    if (!('error' in outcome)) throw new Error('It was taken.');
    return outcome.error.message;
  };

  it('is said in words that agree with its number', () => {
    expect(refused({ max: 9, min: 1 }, '')).toBe('name must not be empty.');
    expect(refused({ max: 9, min: 2 }, 'a')).toBe('name must have at least 2 characters.');
    expect(refused({ max: 1 }, 'ab')).toBe('name must have at most 1 character.');
    expect(refused({ max: 2 }, 'abc')).toBe('name must have at most 2 characters.');
  });
});

it.each([
  [['a', 'b', 'c'], 'names must have at most 2 entries, not 3.'],
  [[], 'names must have at least 1 entry, not 0.'],
])('a list of the wrong length is refused by its rule: %j', (names, message) => {
  const schema = Type.Object({ names: Type.Array(Type.String(), { minItems: 1, maxItems: 2 }) });
  expect(compileValidator({ schema, httpPart: 'body' })({ names })).toMatchObject({ error: { message } });
});

describe('queries', () => {
  it.each([
    'limit=10abc',
    'limit=',
    'limit',
    'limit=1e1',
    'limit=%2B1',
    'limit=+1',
    'limit=01',
    'limit=0',
    'limit=101',
    'limit=1.5',
    'limit=1&limit=2',
    'offset=-1',
    'offset=-0',
    'offset=99999999999999999999',
    'status=other',
    'status=',
    'status=%00',
    'status=pending&status=pending',
    'testing_mode=1',
    'testing_mode=TRUE',
    'testing_mode=',
  ])('refuse %s and name the parameter', async (query) => {
    const answer = await list(query);
    expect([answer.status, answer.error?.param]).toEqual([400, query.split('=')[0]]);
  });

  it('take whole numbers and booleans, fill in defaults and ignore the rest', async () => {
    expect((await list('limit=100&testing_mode=true&other=1&other=2&__proto__=x')).taken).toEqual({
      limit: 100,
      offset: 0,
      testing_mode: true,
    });
  });
});
