import { afterAll, describe, expect, it } from 'vitest';
import { numberDue } from '../../src/app/webhooks/number-events.ts';
import { SIMULATIONS, type Simulation } from '../../src/domain/simulation.ts';
import { httpTest, type Shop } from '../http.ts';

const http = await httpTest();
afterAll(() => http.close());

const APIS = ['/v1/orders', '/api/transactions'] as const;
type Api = (typeof APIS)[number];

async function pay(shop: Shop, api: Api): Promise<string> {
  const order = { amount: 25, currency: 'USD', crypto_currency: 'BTC' };
  if (api === '/v1/orders') return (await shop.call({ path: api, body: order })).body.id;
  const { body } = await shop.call({ path: `${api}/create`, body: { amount: 25 } });
  return body.transaction.id;
}

const simulate = (shop: Shop, api: Api, id: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
  shop.call({ path: `${api}/${id}/simulate`, body, headers });
const statusIn = (api: Api, body: { readonly status: string; readonly transaction: { readonly status: string } }) =>
  api === '/v1/orders' ? body.status : body.transaction.status;

/** The status that each outcome leads to, and the events that a shop reads of it, without that of the creation. */
const OUTCOMES: Readonly<Record<Simulation, readonly [status: string, ...events: string[]]>> = {
  paid: ['completed', 'order.confirming', 'order.completed'],
  confirming: ['confirming', 'order.confirming'],
  part: ['pending', 'order.exception'],
  over: ['completed', 'order.confirming', 'order.completed', 'order.exception'],
  late: ['expired', 'order.expired', 'order.exception'],
  failed: ['failed', 'order.confirming', 'order.failed'],
  expired: ['expired', 'order.expired'],
};

describe.each(APIS)('POST %s/{id}/simulate', (api) => {
  it.each(SIMULATIONS)('%s leads to its status and events', async (outcome) => {
    const shop = await http.shop();
    const id = await pay(shop, api);
    const { status, body } = await simulate(shop, api, id, { outcome });
    const [expected, ...events] = OUTCOMES[outcome];
    expect([status, statusIn(api, body)]).toEqual([200, expected]);
    while (await numberDue(http.app));
    const read = await shop.call<{ data: readonly { event: { type: string } }[] }>({ path: '/v1/events' });
    expect(read.body.data.map(({ event }) => event.type)).toEqual(['order.created', ...events]);
  });

  it('passes through stages where that is asked for', async () => {
    const shop = await http.shop();
    const id = await pay(shop, api);
    const staged = await simulate(shop, api, id, { outcome: 'paid', stages: 3 });
    expect(statusIn(api, staged.body)).toBe(api === '/v1/orders' ? 'confirming' : 'processing');
    for (const stages of [0, 601, 1.5])
      expect((await simulate(shop, api, id, { outcome: 'paid', stages })).status).toBe(400);
    expect(await simulate(shop, api, id, { outcome: 'part', stages: 3 })).toMatchObject({
      status: 400,
      text: expect.stringContaining('stages can only be given with paid or over'),
    });
  });

  it('happens once for each Idempotency-Key, and not to a payment that is over', async () => {
    const shop = await http.shop();
    const id = await pay(shop, api);
    const once = { 'idempotency-key': 'k' };
    const [first, second] = [
      await simulate(shop, api, id, { outcome: 'part' }, once),
      await simulate(shop, api, id, { outcome: 'part' }, once),
    ];
    expect([second.text, second.headers['idempotent-replayed']]).toEqual([first.text, 'true']);
    await simulate(shop, api, id, { outcome: 'paid' });
    expect(await simulate(shop, api, id, { outcome: 'expired' })).toMatchObject({ status: 400 });
  });

  it('is for test keys, and for payments of their project', async () => {
    const shop = await http.shop();
    const live = { side: 'live', path: `${api}/x/simulate`, body: { outcome: 'paid' } } as const;
    expect(await shop.call(live)).toMatchObject({ status: 403, text: expect.stringContaining('Use a test key') });
    const foreign = await pay(await http.shop(), api);
    expect((await simulate(shop, api, foreign, { outcome: 'paid' })).status).toBe(404);
    expect((await simulate(shop, api, foreign, { outcome: 'rich' })).status).toBe(400);
  });
});
