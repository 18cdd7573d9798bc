import { expect, it } from 'vitest';
import { setActive } from '../projects/activation.ts';
import { deliverAll, shop as receiverOf, webhookApp } from '../webhooks/webhooks.fixture.ts';
import { CONFIRMATIONS, etherShop, OWED_WEI, transitionsOf } from './follow-chain.fixture.ts';

it('what was open when its project was deactivated is followed to its end, and its endpoint hears of it', async () => {
  const shop = await etherShop();
  const { app } = shop;
  const webhooks = await webhookApp({ app });
  const receiver = await receiverOf();
  await webhooks.register(receiver.url, { mode: 'live' });
  await shop.advance(5);
  const [paid, open] = [await shop.order(), await shop.order()];
  await shop.pay(paid.address, OWED_WEI);
  expect((await setActive(app, app.projectId, false)).kind).toBe('done');
  // The customer had the address already.
  await shop.pay(open.address, OWED_WEI);
  await shop.advance(CONFIRMATIONS);
  for (const { id } of [paid, open]) expect((await transitionsOf(app, id)).at(-1)).toBe('confirming completed');
  await deliverAll(app, webhooks.deliverer());
  const sent = receiver.requests.map(({ body }) => (JSON.parse(body) as { readonly type: string }).type);
  expect(sent.filter((type) => type === 'order.completed')).toHaveLength(2);
  expect(webhooks.faults).toEqual([]);
});
