import { afterAll, describe, expect, it } from 'vitest';
import { httpTest } from '../http.ts';

const http = await httpTest();
afterAll(() => http.close());

const SHOP = 'https://shop.example';
const CREATIONS = [
  {
    path: '/v1/orders',
    body: { amount: 25, currency: 'USD', crypto_currency: 'BTC' },
    fields: ['return_url', 'success_url', 'cancel_url'],
  },
  { path: '/api/transactions/create', body: { amount: 25 }, fields: ['success_url', 'cancel_url'] },
] as const;

const messageOf = (body: unknown): string =>
  (body as { readonly message?: string }).message ??
  (body as { readonly error: { readonly message: string } }).error.message;

describe.each(CREATIONS)('the URLs back to the shop at $path', ({ path, body, fields }) => {
  it.each(fields)('with a public key must be on an allowed origin: %s', async (field) => {
    const shop = await http.shop();
    await http.changeProject(shop.projectId, { allowOrigins: [SHOP, 'https://www.shop.example'] });
    const as = { kind: 'public' as const };
    for (const url of [`${SHOP}/thanks?a=1`, 'https://www.shop.example', 'HTTPS://SHOP.EXAMPLE:443/']) {
      expect([url, (await shop.call({ as, path, body: { ...body, [field]: url } })).status]).toEqual([url, 200]);
    }
    for (const url of ['https://evil.example/', 'http://shop.example/', `${SHOP}:8443/`, `${SHOP}.evil.example/`]) {
      const answer = await shop.call({ as, path, body: { ...body, [field]: url } });
      expect([url, answer.status]).toEqual([url, 400]);
      const message = messageOf(answer.body);
      expect(message).toMatch(new RegExp(`^${field} must be on an allowed origin of the project \\(https://shop`));
      expect(message).toContain('--allow-origins');
    }
    // The shop's own server is trusted to know.
    expect((await shop.call({ path, body: { ...body, [field]: 'https://elsewhere.example/' } })).status).toBe(200);
  });

  it('with a public key of a project without allowed origins may lead anywhere', async () => {
    const shop = await http.shop();
    const url = 'https://elsewhere.example/';
    for (const field of fields) {
      expect((await shop.call({ as: { kind: 'public' }, path, body: { ...body, [field]: url } })).status).toBe(200);
    }
  });

  it('lead to one place for every reader, whatever the key', async () => {
    const shop = await http.shop();
    await http.changeProject(shop.projectId, { allowOrigins: [SHOP, 'https://xn--bcher-kva.example'] });
    const [field] = fields;
    const refused = [
      `${SHOP}\\@evil.example/`,
      `${SHOP}/\\evil.example`,
      `${SHOP}/?a=\\`,
      'https://shop%2eexample/',
      'https://@shop.example/',
      'https://ｓhop.example/',
      'https://sho\u00ADp.example/',
      'https://shop。example/',
      'https://-shop.example/',
      'https://shop-.example/',
      'https://2130706433/',
    ];
    for (const kind of ['secret', 'public'] as const) {
      for (const url of refused) {
        const answer = await shop.call({ as: { kind }, path, body: { ...body, [field]: url } });
        expect([url, answer.status, messageOf(answer.body)]).toEqual([
          url,
          400,
          `${field} must be an absolute http or https URL such as https://shop.example/thanks, without a user name, password or backslash, and with a host in plain letters.`,
        ]);
      }
      for (const url of [
        'https://bücher.example/',
        'https://BÜCHER.example:443?a=%5C',
        'https://xn--bcher-kva.example',
      ]) {
        const answer = await shop.call({ as: { kind }, path, body: { ...body, [field]: url } });
        expect([url, answer.status]).toEqual([url, 200]);
      }
    }
    for (const url of ['http://[0:0::1]:8080/', 'http://127.0.0.1/', 'http://localhost:3000/a']) {
      expect([url, (await shop.call({ path, body: { ...body, [field]: url } })).status]).toEqual([url, 200]);
    }
  });

  it.each(['https://shop.example@evil.example/', 'https://a:b@shop.example/', 'https://:b@shop.example/'])(
    'never name a user, whatever the key: %s',
    async (url) => {
      const shop = await http.shop();
      for (const kind of ['secret', 'public'] as const) {
        for (const field of fields) {
          const answer = await shop.call({ as: { kind }, path, body: { ...body, [field]: url } });
          expect([field, answer.status]).toEqual([field, 400]);
          expect(messageOf(answer.body)).toMatch(
            new RegExp(`^${field} must be .* without a user name, password or backslash`),
          );
        }
      }
    },
  );
});
