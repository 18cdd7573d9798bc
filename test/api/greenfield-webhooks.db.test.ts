import { afterAll, describe, expect, it } from 'vitest';
import { greenfield } from '../greenfield/store.ts';
import { httpTest, type KeySpec, type Shop } from '../http.ts';

const http = await httpTest();
afterAll(() => http.close());
const call = greenfield(http);

interface Webhook {
  readonly id: string;
  readonly secret: string;
  readonly [name: string]: unknown;
}

const HOOK = 'http://127.0.0.1:9/hook';
const create = (shop: Shop, body: object, as: Partial<KeySpec> = {}) =>
  call<Webhook>(shop, { path: '/webhooks', body, as });
const EVERYTHING = { everything: true, specificEvents: [] };

describe('a webhook', () => {
  it('of its address alone gets all messages, and its secret is shown once', async () => {
    const shop = await http.shop();
    const { body: made } = await create(shop, { url: HOOK });
    const { secret, ...shown } = made;
    expect(secret).toMatch(/^[0-9a-zA-Z]{32,}$/);
    expect(shown).toEqual({
      id: expect.stringMatching(/^we_/),
      enabled: true,
      automaticRedelivery: true,
      url: HOOK,
      authorizedEvents: EVERYTHING,
    });
    expect((await call(shop, { path: '/webhooks' })).body).toEqual([shown]);
    expect((await call(shop, { path: `/webhooks/${made.id}` })).body).toEqual(shown);
  });

  it('keeps a secret and types that the plugin chose', async () => {
    const shop = await http.shop();
    const secret = 'a1'.repeat(24);
    const specificEvents = ['InvoiceSettled', 'InvoiceExpired'];
    const { body } = await create(shop, { url: HOOK, secret, authorizedEvents: { everything: false, specificEvents } });
    expect(body).toMatchObject({ secret, authorizedEvents: { everything: false, specificEvents } });
    const newer = { everything: false, specificEvents: [...specificEvents, 'InvoicePaidAfterExpiration'] };
    const { body: other } = await create(shop, { url: `${HOOK}/2`, authorizedEvents: newer });
    expect(other).toMatchObject({ authorizedEvents: { specificEvents } });
  });

  it('is changed, switched off and on, and deleted', async () => {
    const shop = await http.shop();
    const { body: made } = await create(shop, { url: HOOK });
    const path = `/webhooks/${made.id}`;
    const put = (body: object) => call<Webhook>(shop, { method: 'PUT', path, body: { url: HOOK, ...body } });
    const authorizedEvents = { everything: false, specificEvents: ['InvoiceSettled'] };
    const changed = { url: `${HOOK}/new`, enabled: false, authorizedEvents };
    expect((await put({ ...changed, secret: null })).body).toMatchObject(changed);
    expect((await put({ enabled: true })).body).toMatchObject({
      url: HOOK,
      enabled: true,
      authorizedEvents: EVERYTHING,
    });
    const refused = await put({ url: `${HOOK}/other`, enabled: false, secret: 'short' });
    expect(refused.body).toEqual([{ path: 'secret', message: expect.stringContaining('8') }]);
    expect((await call(shop, { path })).body).toMatchObject({ url: HOOK, enabled: true });
    const deleted = await call(shop, { method: 'DELETE', path });
    expect([deleted.status, (await call(shop, { path: '/webhooks' })).body]).toEqual([200, []]);
    expect((await call(shop, { path })).body).toMatchObject({ code: 'webhook-not-found' });
  });

  it('of another store, or of our own events, is not there', async () => {
    const [shop, other] = [await http.shop(), await http.shop()];
    const { body: theirs } = await create(other, { url: HOOK });
    for (const method of ['GET', 'DELETE']) {
      const answer = await call(shop, { method, path: `/webhooks/${theirs.id}` });
      expect([answer.status, answer.body]).toEqual([404, { code: 'webhook-not-found', message: expect.any(String) }]);
    }
    const { body: live } = await call<Webhook[]>(other, { as: { mode: 'live' }, path: '/webhooks' });
    expect(live).toEqual([]);
  });

  it('needs the permission', async () => {
    const shop = await http.shop();
    const scopes = ['payments:read'] as const;
    expect((await create(shop, { url: HOOK }, { permission: null, scopes })).status).toBe(403);
    expect((await create(shop, { url: HOOK }, { permission: 'read' })).status).toBe(403);
    expect((await create(shop, { url: HOOK }, { permission: null, scopes: ['webhooks'] })).status).toBe(200);
  });
});

describe('bad input', () => {
  it.each<[string, object]>([
    ['url', {}],
    ['url', { url: 7 }],
    ['url', { url: 'ftp://shop.example' }],
    ['url', { url: 'https://user@shop.example/hook' }],
    ['enabled', { url: HOOK, enabled: 'yes' }],
    ['secret', { url: HOOK, secret: '1234567' }],
    ['secret', { url: HOOK, secret: 'x'.repeat(257) }],
    ['secret', { url: HOOK, secret: 12_345_678 }],
    ['authorizedEvents', { url: HOOK, authorizedEvents: [] }],
    ['authorizedEvents.specificEvents', { url: HOOK, authorizedEvents: {} }],
    ['authorizedEvents.specificEvents', { url: HOOK, authorizedEvents: { specificEvents: ['order.created'] } }],
    ['authorizedEvents.specificEvents', { url: HOOK, authorizedEvents: { specificEvents: ['InvoiceSettled', 7] } }],
  ])('in %s is a 422 that names it', async (path, body) => {
    const shop = await http.shop();
    const answer = await create(shop, body);
    expect([answer.status, answer.body]).toEqual([422, [{ path, message: expect.stringMatching(/.{15}/) }]]);
    expect((await call(shop, { path: '/webhooks' })).body).toEqual([]);
  });

  it.each(['http://shop.example/hook', 'https://10.0.0.1/hook', 'https://169.254.169.254/', 'https://localhost/hook'])(
    'a live webhook to %s is refused',
    async (url) => {
      const shop = await http.shop();
      const answer = await create(shop, { url }, { mode: 'live' });
      expect([answer.status, answer.body]).toEqual([422, [{ path: 'url', message: expect.any(String) }]]);
    },
  );
});
