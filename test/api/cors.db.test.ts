import { afterAll, expect, it } from 'vitest';
import { httpTest, type Answer } from '../http.ts';

const http = await httpTest();
afterAll(() => http.close());

const ORDER = { amount: 25, currency: 'USD', crypto_currency: 'BTC' };
const SHOP = 'https://shop.example';
const UNKNOWN = '/v1/orders/ord_00000000000000000000000000';

const corsOf = ({ headers }: Answer): readonly string[] =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'));

it('a public key answers the origins of its project, errors included, and names what pages may read', async () => {
  const shop = await http.shop();
  await http.changeProject(shop.projectId, { allowOrigins: [SHOP] });
  const as = { kind: 'public' as const };
  const headers = { origin: SHOP };
  const answers = [
    await shop.call({ as, path: '/v1/orders', body: ORDER, headers }),
    await shop.call({ as, path: '/v1/orders', body: { ...ORDER, amount: 0 }, headers }),
    await shop.call({ as, path: UNKNOWN, headers }),
    await shop.call({ as, path: '/v1/orders', headers }),
    await shop.call({ as, path: '/api/transactions/create', body: { amount: 1 }, headers }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 400, 404, 403, 200]);
  for (const answer of answers) {
    expect(answer.headers).toMatchObject({ 'access-control-allow-origin': SHOP, vary: 'Origin' });
    expect(answer.headers['access-control-expose-headers']).toContain('X-RateLimit-Remaining');
    expect(answer.headers).not.toHaveProperty('access-control-allow-credentials');
  }
});

it.each([
  'https://evil.example',
  'http://shop.example',
  'https://shop.example:8443',
  'https://shop.example.evil',
  'null',
])('the origin %s, which the project does not allow, may not read the answer', async (origin) => {
  const shop = await http.shop();
  await http.changeProject(shop.projectId, { allowOrigins: [SHOP] });
  const answer = await shop.call({ as: { kind: 'public' }, path: UNKNOWN, headers: { origin } });
  expect([corsOf(answer), answer.headers['vary']]).toEqual([[], 'Origin']);
});

it('an origin that another project allows may not read the answer either', async () => {
  const [shop, other] = [await http.shop(), await http.shop()];
  await http.changeProject(other.projectId, { allowOrigins: ['https://other.example'] });
  const answer = await shop.call({
    as: { kind: 'public' },
    path: UNKNOWN,
    headers: { origin: 'https://other.example' },
  });
  expect(corsOf(answer)).toEqual([]);
});

it('secret keys never answer a page', async () => {
  const shop = await http.shop();
  await http.changeProject(shop.projectId, { allowOrigins: [SHOP] });
  const answer = await shop.call({ path: '/v1/orders', headers: { origin: SHOP } });
  expect([answer.status, corsOf(answer)]).toEqual([200, []]);
});

it('a preflight is answered for origins that some active project allows, and needs no key', async () => {
  const shop = await http.shop();
  const origin = 'https://preflight.example';
  const preflight = () =>
    http.call({
      method: 'OPTIONS',
      path: '/v1/orders',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
    });
  const before = await preflight();
  expect([before.status, corsOf(before), before.text]).toEqual([204, [], '']);
  await http.changeProject(shop.projectId, { allowOrigins: [origin] });
  const after = await preflight();
  expect([after.status, after.headers]).toMatchObject([
    204,
    {
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key, X-Request-Id',
      vary: 'Origin',
    },
  ]);
  await http.changeProject(shop.projectId, { active: false });
  expect(corsOf(await preflight())).toEqual([]);
});

it('a preflight without or with a forged origin is answered without permission', async () => {
  for (const origin of [undefined, '*', 'null', "' or true --", 'https://shop.example\u0001']) {
    const answer = await http.call({
      method: 'OPTIONS',
      path: '/api/transactions/create',
      headers: { 'access-control-request-method': 'POST', ...(origin === undefined ? {} : { origin }) },
    });
    expect([answer.status, corsOf(answer)]).toEqual([204, []]);
  }
});

it('any other OPTIONS request is a wrong method', async () => {
  const { status, body } = await http.call({ method: 'OPTIONS', path: '/api/transactions/create' });
  expect([status, body]).toEqual([404, { success: false, message: expect.any(String) }]);
});
