import { readFile } from 'node:fs/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { runDueRefunds } from '../../src/app/refunds/end-refunds.ts';
import { numberDue } from '../../src/app/webhooks/number-events.ts';
import { webhookApp } from '../../src/app/webhooks/webhooks.fixture.ts';
import { EVENT_TYPES } from '../../src/domain/event-type.ts';
import { encodeId } from '../../src/domain/id.ts';
import type { Network } from '../../src/domain/networks.ts';
import { SANDBOX_REFUND_MS } from '../../src/domain/refund.ts';
import { meaningOfSimulation, SIMULATIONS, type Simulation } from '../../src/domain/simulation.ts';
import { sandboxAddress } from '../../src/rails/sandbox/sandbox.ts';
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

const GUIDE = new URL('../../docs/guide/test-payments.md', import.meta.url);

/** The status that an outcome leads to, and the types of the events that a shop gets, in order. */
type Result = readonly [status: string, ...events: string[]];

/** The order of each outcome is paid in a token, so that another one can arrive at its address. */
async function made(shop: Shop, api: Api, outcome: Simulation): Promise<string> {
  const coin = { crypto_currency: 'USDC', network: 'ethereum' };
  const created =
    api === '/v1/orders'
      ? (await shop.call({ path: api, body: { amount: 25, currency: 'USD', ...coin } })).body.id
      : await pay(shop, api);
  if (outcome !== 'refund_reorged') return created;
  await simulate(shop, api, created, { outcome: 'paid' });
  const { body } = await shop.call({ path: `${api}/${created}` });
  const { network } = api === '/v1/orders' ? body : body.transaction;
  const of = api === '/v1/orders' ? { order_id: created } : { transaction_id: created };
  const refund = { ...of, address: sandboxAddress(network as Network, 'customer') };
  expect((await shop.call({ path: '/v1/refunds', body: refund })).status).toBe(200);
  http.clock.advance(SANDBOX_REFUND_MS);
  await runDueRefunds(http.app, 10);
  return created;
}

const read = async (shop: Shop, after: number) => {
  while (await numberDue(http.app));
  const { body } = await shop.call<{
    data: readonly { event: { id: string; type: string; data: { status: string } } }[];
    head: number;
  }>({ path: `/v1/events?after=${after}` });
  return body;
};

/** Simulates the outcome, and returns what the shop reads of it; the same events must wait for its endpoint. */
async function result(
  api: Api,
  outcome: Simulation,
  run: (shop: Shop, id: string) => Promise<number>,
): Promise<Result> {
  const shop = await http.shop();
  const { register } = await webhookApp({ app: http.app });
  await register('http://127.0.0.1:9/', { projectId: shop.projectId, events: EVENT_TYPES.join(',') });
  const id = await made(shop, api, outcome);
  const { head } = await read(shop, 0);
  expect([200, 303]).toContain(await run(shop, id));
  const { data } = await read(shop, head);
  const waiting = await http.app.db
    .selectFrom('deliveries as d')
    .innerJoin('events as e', 'e.id', 'd.event_id')
    .select('e.id')
    .where('e.project_id', '=', shop.projectId)
    .execute();
  const delivered = new Set(waiting.map((event) => encodeId('event', event.id)));
  expect(data.filter(({ event }) => !delivered.has(event.id))).toEqual([]);
  const { body } = await shop.call({ path: `${api}/${id}` });
  return [statusIn(api, body), ...data.map(({ event }) => event.type)];
}

/** The guide's table of outcomes. */
function table(results: ReadonlyMap<Simulation, Result>): string {
  const rows = [...results].map(([outcome, [status, ...events]]) => {
    const named = events.map((type) => `\`${type}\``).join(', ');
    return `| \`${outcome}\` | ${meaningOfSimulation(outcome)} | \`${status}\` | ${named} |`;
  });
  return ['| `outcome` | What happens | Status | Events, in order |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

it('each outcome leads to the same status and events by both APIs and the payment page, and the guide lists them', async () => {
  const results = new Map<Simulation, Result>();
  for (const outcome of SIMULATIONS) {
    const byApi = (api: Api) =>
      result(api, outcome, async (shop, id) => (await simulate(shop, api, id, { outcome })).status);
    const order = await byApi('/v1/orders');
    const page = await result('/v1/orders', outcome, async (_, id) => {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      return (await http.call({ method: 'POST', path: `/pay/${id}/simulate`, body: `outcome=${outcome}`, headers }))
        .status;
    });
    expect([outcome, ...page]).toEqual([outcome, ...order]);
    const [, ...events] = await byApi('/api/transactions');
    expect([outcome, ...events]).toEqual([outcome, ...order.slice(1)]);
    results.set(outcome, order);
  }
  const guide = await readFile(GUIDE, 'utf8');
  const [written] = guide.match(/\| `outcome`[^]*?(?=\n\n)/) ?? [''];
  expect(written.replaceAll(/ +/g, ' ').replaceAll(/-{3,}/g, '---')).toBe(table(results));
});

describe.each(APIS)('POST %s/{id}/simulate', (api) => {
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
