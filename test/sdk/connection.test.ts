import { setImmediate } from 'node:timers/promises';
import { inspect } from 'node:util';
import type { FastifyReply } from 'fastify';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  AuthenticationError,
  Cointill,
  CointillError,
  ConflictError,
  ConnectionError,
  GoneError,
  InvalidRequestError,
  NotFoundError,
  type Options,
  PermissionError,
  RateLimitError,
  ServerError,
} from '../../packages/sdk/src/index.ts';
import { refusalTexts } from '../../src/app/refusal-texts.ts';
import { sendReplay } from '../../src/http/idempotency-key.ts';

const SECRET_PART = 'abcdefghijklmnopqrstuvwxyzABCDEF123456';
const KEY = `sk_test_${SECRET_PART}`;
const ORDER = { id: 'ord_1', amount: 25, crypto_amount: null };
const NEW = { amount: '25.00', currency: 'USD', crypto_currency: 'BTC' };

interface Sent {
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
}

/** A client of a service that gives these answers, one after the other, the last again and again. */
function client(answers: readonly (() => Response | Promise<Response>)[], options: Partial<Options> = {}) {
  const sent: Sent[] = [];
  const cointill = new Cointill({
    key: KEY,
    url: 'https://pay.example',
    ...options,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      sent.push({ url: request.url, headers: request.headers, body: await request.text() });
      const answer = answers[Math.min(sent.length, answers.length) - 1];
      if (answer === undefined) throw new Error('no answer');
      return answer();
    },
  });
  return { cointill, sent };
}

const ok = () => Response.json(ORDER);
const refused =
  (status: number, body: object, headers: Record<string, string> = {}) =>
  () =>
    Response.json(body, { status, headers: { 'x-request-id': 'req-7', ...headers } });
const v1 = (type: string, message = 'Why.', more = {}) => ({ error: { type, message, ...more } });
const api = (message: string) => ({ success: false, message });
const broken = () =>
  Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error('lost'), { code: 'ECONNRESET' }) }));

const caught = async (call: () => unknown): Promise<CointillError> => {
  try {
    await call();
  } catch (error) {
    expect(error).toBeInstanceOf(CointillError);
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(SECRET_PART);
    return error as CointillError;
  }
  throw new Error('nothing was thrown');
};

describe('an option that cannot be right is refused at once, by name, with a way out', () => {
  it.each<[string, Partial<Record<keyof Options, unknown>>, RegExp]>([
    ['key', { key: undefined }, /^key is missing.*COINTILL_KEY/],
    ['key', { key: '' }, /^key is missing/],
    ['key', { key: `${KEY}\n` }, /line end.*trim/],
    ['key', { key: KEY.slice(0, 20) }, /46 characters, but this one has 20/],
    ['key', { key: `whsec_${SECRET_PART}` }, /begins with sk_test_/],
    ['url', { url: undefined }, /^url is missing/],
    ['url', { url: 'pay.example' }, /must begin with https/],
    ['url', { url: 'ftp://pay.example' }, /must begin with https/],
    ['url', { url: 'https://' }, /not a valid address/],
    ['url', { url: 'https://pay.example/v1' }, /without a path.*: https:\/\/pay\.example$/],
    ['url', { url: 'https://user:word@pay.example' }, /without a path, a query or a user: https:\/\/pay\.example$/],
    ['url', { url: 'https://pay.example/?a=b' }, /without a path/],
  ])('%s: %j', async (field, wrong, message) => {
    const error = await caught(() => new Cointill({ key: KEY, url: 'https://pay.example', ...wrong } as Options));
    expect(error).toBeInstanceOf(InvalidRequestError);
    expect(error).toMatchObject({ field, message: expect.stringMatching(message) });
  });

  it('id: none of an object, so that no other route is called', async () => {
    const { cointill, sent } = client([ok]);
    for (const id of ['', '..', 'ord_1/cancel', undefined as unknown as string]) {
      expect(await caught(() => cointill.orders.get(id))).toMatchObject({ field: 'id' });
    }
    expect(await caught(() => cointill.orders.create(NEW, { idempotencyKey: 'a b' }))).toMatchObject({
      field: 'idempotencyKey',
    });
    expect(sent).toEqual([]);
  });

  it('the key is in no text of the client', () => {
    const { cointill } = client([ok]);
    expect(inspect(cointill, { depth: 10, showHidden: true })).not.toContain(SECRET_PART);
    expect(JSON.stringify(cointill)).not.toContain(SECRET_PART);
  });
});

describe('a refusal is an error of its kind, with field and request id', () => {
  it.each<[number, object, new (...given: never[]) => CointillError, object]>([
    [400, v1('invalid_request_error', 'Why.', { param: 'amount' }), InvalidRequestError, { field: 'amount' }],
    [400, api('amount must be above 0.'), InvalidRequestError, { field: 'amount', message: 'amount must be above 0.' }],
    [400, api('The body must be JSON.'), InvalidRequestError, { field: undefined }],
    [401, v1('authentication_error'), AuthenticationError, { type: 'authentication_error' }],
    [403, v1('permission_error'), PermissionError, {}],
    [403, api('The project is not active.'), PermissionError, { message: 'The project is not active.' }],
    [404, v1('not_found_error'), NotFoundError, {}],
    [409, v1('conflict_error', 'The order is paid.'), ConflictError, {}],
    [410, v1('gone_error', 'Why.', { oldest: 42 }), GoneError, { oldest: 42 }],
    [413, v1('invalid_request_error'), InvalidRequestError, {}],
  ])('%i %j', async (status, body, Kind, facts) => {
    const { cointill, sent } = client([refused(status, body)]);
    const error = await caught(() => cointill.orders.create(NEW));
    expect(error).toBeInstanceOf(Kind);
    expect(error).toMatchObject({ status, requestId: 'req-7', name: Kind.name, ...facts });
    expect(sent).toHaveLength(1);
  });
});

/** Settles a call while the test's clock runs. Returns how many milliseconds its pauses lasted. */
async function quickly(call: Promise<unknown>): Promise<number> {
  let isSettled = false;
  const settle = (): void => void (isSettled = true);
  void call.then(settle, settle);
  let ms = 0;
  for (; !isSettled; ms += 20) {
    await setImmediate();
    vi.advanceTimersByTime(20);
  }
  return ms;
}

describe('a call is tried again', () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => vi.useRealTimers());

  it.each<[string, () => Response | Promise<Response>]>([
    ['a broken connection', broken],
    ['408', refused(408, v1('invalid_request_error'))],
    [
      '409 while the first attempt runs',
      refused(
        409,
        v1('conflict_error', 'The first request with this Idempotency-Key is still running. Try again shortly.'),
      ),
    ],
    [
      'the same of the Transaction API',
      refused(409, api('The first request with this Idempotency-Key is still running. Try again shortly.')),
    ],
    ['500', refused(500, v1('api_error'))],
    [
      '503 by a proxy',
      () => new Response('<h1>Bad gateway</h1>', { status: 503, headers: { 'content-type': 'text/html' } }),
    ],
    [
      'an answer that is cut off',
      () => new Response('{"id":"ord_1","am', { headers: { 'content-type': 'application/json' } }),
    ],
  ])('after %s, with the same Idempotency-Key and body', async (_what, failure) => {
    const { cointill, sent } = client([failure, failure, ok]);
    const call = cointill.orders.create(NEW);
    expect(await quickly(call)).toBeGreaterThan(750);
    expect(await call).toEqual({ ...ORDER, amount_text: '25', crypto_amount_text: null });
    expect(new Set(sent.map(({ headers }) => headers.get('idempotency-key')))).toEqual(
      new Set([expect.stringMatching(/^[0-9a-f]{32}$/)]),
    );
    expect(sent.map(({ body }) => body)).toEqual(
      Array(3).fill('{"amount":25.00,"currency":"USD","crypto_currency":"BTC"}'),
    );
  });

  it('after the one conflict alone that the service calls so', () => {
    const sent = (): unknown => sendReplay({} as FastifyReply, { kind: 'still_running' });
    expect(sent).toThrow(/Idempotency-Key/);
    const others = Object.values(refusalTexts('en').sentences).filter((text) => text.includes('Idempotency-Key'));
    expect(others).toEqual([]);
  });

  it('after the seconds of Retry-After', async () => {
    const { cointill, sent } = client([refused(429, v1('rate_limit_error'), { 'retry-after': '7' }), ok]);
    expect(await quickly(cointill.orders.get('ord_1'))).toBeGreaterThan(7_000);
    expect(sent).toHaveLength(2);
  });

  it('twice at most, and the error has the key with which the caller may go on', async () => {
    const { cointill, sent } = client([broken]);
    const call = cointill.orders.create(NEW, { idempotencyKey: 'A-1' });
    await quickly(call);
    const error = await caught(() => call);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({
      idempotencyKey: 'A-1',
      message: expect.stringMatching(/ECONNRESET.*idempotencyKey/),
    });
    expect(sent).toHaveLength(3);
  });

  it.each<[string, () => Response, new (...given: never[]) => CointillError]>([
    [
      'a limit that lasts longer than its window',
      refused(429, v1('rate_limit_error'), { 'retry-after': '3600' }),
      RateLimitError,
    ],
    [
      'a page in place of an answer',
      () => new Response('<h1>Welcome</h1>', { headers: { 'content-type': 'text/html' } }),
      ConnectionError,
    ],
    [
      'a redirect',
      () => new Response(null, { status: 301, headers: { location: 'https://other.example/' } }),
      ConnectionError,
    ],
  ])('but not after %s', async (_what, answer, Kind) => {
    const { cointill, sent } = client([answer]);
    const error = await caught(() => cointill.orders.create(NEW));
    expect(error).toBeInstanceOf(Kind);
    expect(error.message).toMatch(/Why|url/);
    expect(sent).toHaveLength(1);
  });

  it('no more times than the caller wants', async () => {
    const { cointill, sent } = client([refused(500, v1('api_error'))], { retries: 0 });
    expect(await caught(() => cointill.orders.get('ord_1'))).toBeInstanceOf(ServerError);
    expect(sent).toHaveLength(1);
  });
});

describe('a call ends', () => {
  /** A service that never answers. */
  const silent = (init: RequestInit | undefined) =>
    new Promise<Response>((_resolve, reject) => {
      init?.signal?.addEventListener('abort', () => reject(new Error('aborted')));
    });

  it('after the time of each attempt', async () => {
    const cointill = new Cointill({
      key: KEY,
      url: 'https://pay.example',
      timeoutMs: 20,
      retries: 0,
      fetch: (_input, init) => silent(init),
    });
    const error = await caught(() => cointill.orders.get('ord_1'));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error.message).toMatch(/no answer within 0\.02 seconds/);
  });

  it('with the signal of the caller, during an attempt and between two', async () => {
    const during = new AbortController();
    const cointill = new Cointill({
      key: KEY,
      url: 'https://pay.example',
      fetch: (_input, init) => {
        const answer = silent(init);
        during.abort(new Error('enough'));
        return answer;
      },
    });
    await expect(cointill.orders.get('ord_1', { signal: during.signal })).rejects.toThrow('enough');

    const between = new AbortController();
    const { cointill: other, sent } = client([
      () => {
        setTimeout(() => between.abort(new Error('enough')), 10);
        return refused(500, v1('api_error'))();
      },
    ]);
    await expect(other.orders.get('ord_1', { signal: between.signal })).rejects.toThrow('enough');
    expect(sent).toHaveLength(1);
  });
});

/** A service with a list that changes while it is read: `at` is called before each page. */
function listed(items: string[], at: (reads: number) => void = () => {}) {
  let reads = 0;
  return new Cointill({
    key: KEY,
    url: 'https://pay.example',
    fetch: (input) => {
      at((reads += 1));
      const query = new URL(new Request(input).url).searchParams;
      const [limit, offset] = [Number(query.get('limit')), Number(query.get('offset'))];
      const data = items.slice(offset, offset + limit).map((id) => ({ id }));
      const pagination = { has_more: offset + limit < items.length, offset, limit, total: items.length };
      return Promise.resolve(Response.json({ data, pagination }));
    },
  });
}

it.each([1, 2, 5, 100])('a list gives each item once, %i a page, while others come before it', async (limit) => {
  const items = Array.from({ length: 23 }, (_, index) => `ord_${index}`);
  const all = [...items];
  const cointill = listed(items, (reads) => void (reads > 1 && items.unshift(`ord_new${reads}`)));
  const found: string[] = [];
  for await (const { id } of cointill.orders.list({ limit })) found.push(id);
  expect(found.filter((id) => !id.includes('new'))).toEqual(all);
  expect(new Set(found).size).toBe(found.length);
});

it.each([1, 2, 5, 100])('a list gives each item, %i a page, while those that were given leave it', async (limit) => {
  const items = Array.from({ length: 23 }, (_, index) => `ord_${index}`);
  const all = [...items];
  const found: string[] = [];
  for await (const { id } of listed(items).orders.list({ limit, status: 'pending' })) {
    found.push(id);
    items.splice(items.indexOf(id), 1);
  }
  expect(found).toEqual(all);
});
