import { expect, it } from 'vitest';
import { acceptPayment, cancelPayment } from '../payments/payment-actions.ts';
import { etherShop, OWED_WEI, setWallet } from '../chains/follow-chain.fixture.ts';
import { runDue } from '../payments/run-due.ts';
import { attentionItems, type AttentionItem } from './attention.ts';
import { createServiceHealth } from './health.ts';
import type { App } from '../context.ts';

/** The items that need attention in live mode, apart from the state of networks and wallets. */
async function attention(app: App & { readonly projectId: string }): Promise<readonly AttentionItem[]> {
  const sources = { serviceHealth: createServiceHealth(app, [], 0), sweeps: () => Promise.resolve([]) };
  const items = await attentionItems(app, { projectId: app.projectId, mode: 'live', role: 'owner' }, sources);
  return items.filter(({ payment }) => payment !== null);
}

const kinds = async (app: App & { readonly projectId: string }) => (await attention(app)).map(({ kind }) => kind);

it('a payment that a reorganisation took back after it was completed needs attention until the chain has its money again', async () => {
  const shop = await etherShop();
  const order = await shop.order();
  await shop.advance();
  const undo = await shop.checkpoint();
  const hash = await shop.pay(order.address, OWED_WEI);
  const transaction = await shop.anvil.rpc('eth_getRawTransactionByHash', [hash]);
  await shop.advance(3);
  expect((await shop.app.read(order.id)).status).toBe('completed');
  expect(await kinds(shop.app)).toEqual([]);

  await undo();
  await shop.mine(5);
  await shop.follow();
  expect(await attention(shop.app)).toMatchObject([{ kind: 'reorged', subject: order.id }]);
  await shop.anvil.rpc('eth_sendRawTransaction', [transaction]);
  await shop.advance(3);
  expect(await kinds(shop.app)).toEqual([]);
});

it('money after cancellation needs attention until it is accepted', async () => {
  const shop = await etherShop();
  const order = await shop.order();
  await shop.advance();
  expect((await cancelPayment(shop.app, { id: order.id })).kind).toBe('changed');
  await shop.pay(order.address, OWED_WEI);
  await shop.advance(3);
  expect(await attention(shop.app)).toMatchObject([
    { kind: 'paid_after_cancel', subject: order.id, money: { units: OWED_WEI, asset: 'ETH' } },
  ]);
  expect((await acceptPayment(shop.app, { id: order.id })).kind).toBe('changed');
  expect(await kinds(shop.app)).toEqual([]);
});

it('a payment that confirms for much longer than its network takes needs attention until it completes', async () => {
  const shop = await etherShop();
  await setWallet(shop.app, shop.app.projectId, undefined, 6);
  const order = await shop.order();
  await shop.pay(order.address, OWED_WEI);
  await shop.advance(1);
  expect((await shop.app.read(order.id)).status).toBe('confirming');
  expect(await kinds(shop.app)).toEqual([]);
  shop.app.clock.advance(61 * 60_000);
  await runDue(shop.app, 10);
  expect(await kinds(shop.app)).toEqual(['slow']);
  await shop.advance(6);
  expect((await shop.app.read(order.id)).status).toBe('completed');
  expect(await kinds(shop.app)).toEqual([]);
});
