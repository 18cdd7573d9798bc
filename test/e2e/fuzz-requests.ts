import type { Call } from '../http.ts';

type Json = Readonly<Record<string, unknown>>;

/** An operation of the OpenAPI document, as far as a fuzzer wants to know. */
export interface Target {
  readonly method: string;
  readonly path: string;
  readonly query: readonly { readonly name: string; readonly schema: Json }[];
  readonly body: Json | null;
}

/** A seeded source of choices: the same seed gives the same requests. */
export interface Chooser {
  /** From 0 to below 1. */
  next(): number;
  below(limit: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
}

/** Mulberry32: 32 bits of state are plenty to choose among some thousand requests. */
export function chooser(seed: number): Chooser {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[below(items.length)];
    if (item === undefined) throw new Error('There is nothing to choose from.');
    return item;
  };
  return { next, below, chance: (probability) => next() < probability, pick };
}

/** The operations of a document, with references to schemas resolved. */
export function targetsOf(document: unknown): readonly Target[] {
  const schemas = record(record(record(document)['components'])['schemas']);
  const resolved = (schema: unknown): Json => {
    const { $ref } = record(schema);
    return typeof $ref === 'string' ? record(schemas[$ref.split('/').at(-1) ?? '']) : record(schema);
  };
  return Object.entries(record(record(document)['paths'])).flatMap(([path, item]) =>
    Object.entries(record(item)).map(([method, operation]) => {
      const { parameters, requestBody } = record(operation);
      const listed = Array.isArray(parameters) ? parameters.map(record) : [];
      const content = record(record(record(requestBody)['content'])['application/json']);
      return {
        method: method.toUpperCase(),
        path,
        query: listed
          .filter((parameter) => parameter['in'] === 'query')
          .map((parameter) => ({ name: String(parameter['name']), schema: resolved(parameter['schema']) })),
        body: content['schema'] === undefined ? null : resolved(content['schema']),
      };
    }),
  );
}

/** Values that the requests may refer to. `ids` grows with the service's answers. */
export interface Known {
  readonly keys: readonly { readonly side: 'live' | 'test'; readonly key: string | undefined }[];
  readonly projects: readonly string[];
  readonly ids: readonly string[];
}

const NASTY_TEXTS = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  '\udfff\ud800',
  '\u{1F355}\u202e\ufeff',
  'ä'.repeat(300),
  'x'.repeat(5_000),
  "' or 1=1 --",
  "'; drop table payments; --",
  '${7*7}',
  '<script>alert(1)</script>',
  'a\r\nSet-Cookie: x=y',
  '../../etc/passwd',
  '%00%0d%0a',
  'null',
  'NaN',
  '1e309',
  '0x10',
  '__proto__',
  'constructor',
  '2026-02-30',
  '9999-12-31',
  '2026-01-01T00:00:00Z',
  'https://shop.example/?a=b',
  'http://[::1',
  'javascript:alert(1)',
  'anna@example.com',
];
const NASTY_NUMBERS = [
  0,
  -0,
  -1,
  1,
  0.1,
  0.001,
  1.005,
  59,
  60,
  101,
  1e5,
  1e15,
  2 ** 31,
  2 ** 53,
  1e21,
  1e308,
  -1e308,
  5e-324,
];
const NASTY_LITERALS = ['1e999', '-1e999', '25.00000000000000000001', '123456789012345678901234567890', '-0.0', '1E2'];
const NASTY_TYPES = ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=utf-16', '', 'x'];
const GOOD_WORDS: Readonly<Record<string, readonly string[]>> = {
  currency: ['USD', 'EUR', 'JPY'],
  crypto_currency: ['BTC', 'ETH', 'USDT', 'USDC', 'LTC'],
  network: ['bitcoin', 'ethereum', 'polygon', 'bsc'],
  customer_email: ['anna@example.com'],
  address: ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'],
  reason: ['test_failure', 'worn out'],
};
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'];
const PAGES = ['/pay/{id}', '/pay/{id}/token', '/pay/{id}/cancel', '/refund/{id}'];

/** A request that is right in most respects and wrong in some. */
export function fuzzRequest(choose: Chooser, targets: readonly Target[], known: Known): Call {
  const page = choose.chance(0.06) ? choose.pick(PAGES) : null;
  const target =
    page === null ? choose.pick(targets) : { method: choose.pick(['GET', 'POST']), path: page, query: [], body: null };
  const method = choose.chance(0.04) ? choose.pick(METHODS) : target.method;
  const { side, key } = choose.chance(0.85) && known.keys[0] !== undefined ? known.keys[0] : choose.pick(known.keys);
  const path = fillPath(choose, target.path, known) + fillQuery(choose, target.query, known);
  const body = method === 'GET' || method === 'HEAD' ? undefined : fillBody(choose, target.body, known, page !== null);
  return {
    side: choose.chance(0.97) ? side : choose.pick(['live', 'test']),
    method,
    path,
    key,
    ...(body === undefined ? {} : { body }),
    headers: fillHeaders(choose, body !== undefined, page !== null),
  };
}

/** A known id, mostly of the kind that the place asks for. */
function knownId(choose: Chooser, known: Known, prefix: 'ord_' | 're_' | ''): string | null {
  const own = known.ids.filter((id) => (prefix === '' ? !id.includes('_') : id.startsWith(prefix)));
  const ids = choose.chance(0.9) ? own : known.ids;
  return ids.length === 0 ? null : choose.pick(ids);
}

function fillPath(choose: Chooser, path: string, known: Known): string {
  const id = (): string => {
    const prefix =
      path.startsWith('/v1/refunds') || path.startsWith('/refund') ? 're_' : path.startsWith('/api') ? '' : 'ord_';
    const own = choose.chance(0.8) ? knownId(choose, known, prefix) : null;
    if (own !== null) return own;
    return choose.chance(0.5) ? `ord_${'0'.repeat(26)}` : choose.pick(NASTY_TEXTS);
  };
  const filled = path
    .replace('{projectId}', () => escape(choose.chance(0.8) ? choose.pick(known.projects) : choose.pick(NASTY_TEXTS)))
    .replace('{id}', () => escape(id()));
  if (!choose.chance(0.03)) return filled;
  return `${filled}/${escape(choose.pick(NASTY_TEXTS))}`;
}

function fillQuery(choose: Chooser, query: Target['query'], known: Known): string {
  const pairs: string[] = [];
  for (const { name, schema } of query) {
    if (!choose.chance(0.3)) continue;
    // Nothing happens beside these requests that would end a longer wait.
    const good = name === 'wait' ? 0 : goodValue(choose, name, schema, known);
    const value = choose.chance(0.6) ? good : nastyValue(choose);
    pairs.push(`${name}=${escape(String(value))}`);
    if (choose.chance(0.05)) pairs.push(`${name}=${name === 'wait' ? 0 : 1}`);
  }
  if (choose.chance(0.1)) pairs.push(`${escape(choose.pick(NASTY_TEXTS))}=${escape(choose.pick(NASTY_TEXTS))}`);
  if (choose.chance(0.03)) pairs.push('%E0%A4%A&&=&%');
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function fillHeaders(choose: Chooser, hasBody: boolean, isForm: boolean): Record<string, string> {
  const headers: Record<string, string> =
    isForm && hasBody ? { 'content-type': 'application/x-www-form-urlencoded' } : {};
  if (choose.chance(0.04)) headers['content-type'] = choose.pick(NASTY_TYPES);
  if (choose.chance(0.1)) headers['idempotency-key'] = `k${choose.below(20)}`;
  if (choose.chance(0.02)) headers['idempotency-key'] = choose.pick(['', 'x'.repeat(256), 'a b', 'ä']);
  if (choose.chance(0.03)) headers['origin'] = choose.pick(['https://shop.example', 'null', '*']);
  if (choose.chance(0.02)) headers['host'] = choose.pick(['evil.example', 'localhost:9', '[::1]']);
  if (choose.chance(0.02)) headers[choose.pick(['forwarded', 'x-forwarded-for', 'x-forwarded-proto', 'via'])] = 'https';
  if (choose.chance(0.02)) headers['authorization'] = choose.pick(['', 'Bearer', 'Basic eA==', 'Bearer sk_test_x']);
  if (choose.chance(0.02)) headers['accept'] = 'text/html;q=0, */*';
  return headers;
}

function fillBody(choose: Chooser, schema: Json | null, known: Known, isForm: boolean): string | undefined {
  if (isForm) {
    if (choose.chance(0.1)) return undefined;
    const word = (name: string) =>
      choose.chance(0.6) ? choose.pick(GOOD_WORDS[name] ?? ['x']) : choose.pick(NASTY_TEXTS);
    return `asset=${escape(word('crypto_currency'))}&network=${escape(word('network'))}&address=${escape(word('address'))}`;
  }
  if (schema === null) return choose.chance(0.8) ? undefined : choose.pick(['', '{}', '[]', '{', '"x"', '{"a":1}']);
  if (choose.chance(0.02)) return undefined;
  if (choose.chance(0.03))
    return choose.pick(['', 'null', '[]', '7', '"x"', '{', '[[[[', '{"a":}', '\u0000', '{"__proto__":{}}']);
  const text = JSON.stringify(fillObject(choose, schema, known));
  if (choose.chance(0.02)) return text.slice(0, choose.below(text.length));
  if (choose.chance(0.03)) return text.replace(/"amount":[^,}]+/, () => `"amount":${choose.pick(NASTY_LITERALS)}`);
  if (choose.chance(0.01)) return `{"deep":${'['.repeat(5_000)}${']'.repeat(5_000)}}`;
  if (choose.chance(0.01)) return text.replace(/\}$/, `,"padding":"${'x'.repeat(70_000)}"}`);
  return choose.chance(0.02) ? text.replace(/^\{/, '{"amount":1,') : text;
}

function fillObject(choose: Chooser, schema: Json, known: Known): Json {
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const filled: Record<string, unknown> = {};
  const wrongness = choose.pick([0, 0, 0.08, 0.3]);
  for (const [name, property] of Object.entries(record(schema['properties']))) {
    if (!choose.chance(required.includes(name) ? 1 - wrongness / 4 : 0.3)) continue;
    filled[name] = choose.chance(wrongness) ? nastyValue(choose) : goodValue(choose, name, record(property), known);
  }
  if (choose.chance(wrongness)) filled[choose.pick(NASTY_TEXTS)] = nastyValue(choose);
  // A refund names its payment once.
  if ('transaction_id' in Object(schema['properties']) && choose.chance(0.9)) {
    const api = choose.pick(['order_id', 'transaction_id'] as const);
    delete filled[api === 'order_id' ? 'transaction_id' : 'order_id'];
    filled[api] ??= knownId(choose, known, api === 'order_id' ? 'ord_' : '') ?? '0';
  }
  return filled;
}

function goodValue(choose: Chooser, name: string, schema: Json, known: Known): unknown {
  if (name === 'order_id') return knownId(choose, known, 'ord_') ?? 'ord_0';
  if (name === 'transaction_id') return knownId(choose, known, '') ?? '0';
  const words = Array.isArray(schema['enum']) ? schema['enum'].map(String) : GOOD_WORDS[name];
  if (words !== undefined) return choose.pick(words);
  if (schema['format'] === 'uri') return 'https://shop.example/thanks';
  if (name.startsWith('created_') || name.endsWith('_date')) return choose.pick(['2026-06-15', '2026-06-15T12:00:00Z']);
  const least = Number(schema['minimum'] ?? 1);
  switch (schema['type']) {
    case 'integer':
      return least + choose.below(Math.min(Number(schema['maximum'] ?? 1_000), 200) - least + 1);
    case 'number':
      return name === 'crypto_amount' ? choose.below(1_000) / 1e8 : (1 + choose.below(99_999)) / 100;
    case 'boolean':
      return choose.chance(0.5);
    case 'object':
      return { cart: String(choose.below(100)) };
    default:
      return `text ${choose.below(1_000)}`;
  }
}

function nastyValue(choose: Chooser): unknown {
  return choose.pick<() => unknown>([
    () => choose.pick(NASTY_TEXTS),
    () => choose.pick(NASTY_TEXTS),
    () => choose.pick(NASTY_NUMBERS),
    () => choose.pick(NASTY_NUMBERS),
    () => null,
    () => choose.chance(0.5),
    () => [choose.pick(NASTY_NUMBERS)],
    () => ({ [choose.pick(NASTY_TEXTS)]: choose.pick(NASTY_TEXTS) }),
    () => Object.fromEntries(Array.from({ length: 51 }, (_, index) => [String(index), 'x'])),
    () => [[[[[[]]]]]],
  ])();
}

/** Percent-encoded; lone surrogates, which have no UTF-8, become the bytes that a careless encoder would write. */
function escape(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : '%ED%A0%80';
}

function record(value: unknown): Json {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Json) : {};
}
