import { afterAll, describe, expect, it } from 'vitest';
import { shop as receiverOf, webhookApp } from '../../src/app/webhooks/webhooks.fixture.ts';
import { httpTest, type Shop } from '../http.ts';

const http = await httpTest();
afterAll(() => http.close());

const APIS = ['/v1/orders', '/api/transactions'] as const;
type Api = (typeof APIS)[number];

interface AdvancedBody {
  readonly now: string;
  readonly moments: readonly { readonly at: string; readonly what: string; readonly object: string }[];
  readonly events: readonly string[];
  readonly error?: { readonly message: string; readonly param?: string };
}

async function pay(shop: Shop, api: Api): Promise<string> {
  if (api === '/api/transactions')
    return (await shop.call({ path: `${api}/create`, body: { amount: 25 } })).body.transaction.id;
  return (await shop.call({ path: api, body: { amount: 25, currency: 'USD', crypto_currency: 'BTC' } })).body.id;
}

const advance = (shop: Shop, api: Api, id: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  shop.call<AdvancedBody>({ path: `${api}/${id}/advance`, body, headers });

const after = (ms: number): string => new Date(http.clock() + ms).toISOString();

describe.each(APIS)('POST %s/{id}/advance', (api) => {
  const noun = api === '/v1/orders' ? 'order' : 'transaction';

  it('completes the payment, sends its webhook, and tells each moment and event', async () => {
    const shop = await http.shop();
    const receiver = await receiverOf();
    const { register } = await webhookApp({ app: http.app, sealingKeys: http.webhooks.sealingKeys });
    await register(receiver.url, { projectId: shop.projectId, events: 'order.completed' });
    const id = await pay(shop, api);
    const { status, body } = await advance(shop, api, id, { by: 'PT61M' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      now: after(61 * 60_000),
      moments: [
        { at: after(60_000), what: `${noun} completed`, object: id },
        { at: after(60_000), what: 'delivery attempt 1: answered 200' },
      ],
      events: [expect.stringMatching(/^evt_/)],
    });
    expect(receiver.requests.map(({ headers }) => headers['webhook-id'])).toEqual(body.events);
    expect((await advance(shop, api, id, { to: 'final' })).body).toMatchObject({
      now: body.now,
      moments: [],
      final: true,
    });
    const none = await advance(shop, api, id, { to_next: true });
    expect([none.status, none.text]).toEqual([400, expect.stringContaining('nothing of it will happen by itself')]);
  });

  it('is done once for one Idempotency-Key, so that a repeated request does not move the time again', async () => {
    const shop = await http.shop();
    const id = await pay(shop, api);
    const key = { 'idempotency-key': 'advance-1' };
    const first = await advance(shop, api, id, { by: 'PT10S' }, key);
    const second = await advance(shop, api, id, { by: 'PT10S' }, key);
    expect(second.text).toBe(first.text);
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect((await advance(shop, api, id, { by: 'PT10S' })).body.now).toBe(after(20_000));
  });

  it.each([
    [{}, 'exactly one'],
    [{ by: 'PT5M', to: 'final' }, 'exactly one'],
    [{ to_next: false }, 'exactly one'],
    [{ by: '' }, 'PT61M'],
    [{ by: 'PT0S' }, 'longer than zero'],
    [{ by: '-PT5M' }, 'longer than zero'],
    [{ by: 'P3651D' }, 'at most ten years'],
    [{ by: 'P11Y' }, 'weeks, days'],
    [{ by: 61 }, 'by'],
    [{ to: 'end' }, 'final'],
    [{ to_next: 'yes' }, 'to_next'],
  ])('refuses %j', async (body, words) => {
    const shop = await http.shop();
    const id = await pay(shop, api);
    const answer = await advance(shop, api, id, body);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(words)]);
  });

  it('finds no live payment, none of another project and none of the other API', async () => {
    const [shop, other] = [await http.shop(), await http.shop()];
    const id = await pay(shop, api);
    expect((await advance(other, api, id, { to: 'final' })).status).toBe(404);
    const otherApi = APIS.find((one) => one !== api) ?? api;
    expect((await advance(shop, otherApi, id, { to: 'final' })).status).toBe(404);
    const live = { side: 'live', as: { mode: 'live' }, path: `${api}/${id}/advance`, body: { to: 'final' } } as const;
    const answer = await shop.call(live);
    expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('Use a test key')]);
  });
});
