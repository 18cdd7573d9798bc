import { expect, it } from 'vitest';
import { etherShop } from '../chains/follow-chain.fixture.ts';
import { findRefund } from '../../store/refunds/refunds.ts';
import { createChainFollower } from '../chains/follow-chain.ts';
import { cancelRefund } from './change-refund.ts';
import { keepReported } from './keep-sent.ts';
import { CUSTOMER, etherRefund, paidOrder, showEther } from './refund-ether.fixture.ts';

const MINUTE_MS = 60_000;

/** A refund of a whole payment, and a look at the chain's end that reads no new block. */
async function wholeRefund() {
  const shop = await etherShop();
  const order = await paidOrder(shop);
  const whole = { amountMinor: 3_000n };
  const follower = createChainFollower(shop.app, shop.source);
  return {
    shop,
    refund: await etherRefund(shop, order, whole),
    again: () => etherRefund(shop, order, whole),
    look: async () => {
      while ((await follower.follow()) !== 'at_head');
    },
  };
}

it('a refund whose transaction a wallet reported is neither cancelled nor made anew while the node has it', async () => {
  const { shop, refund, again, look } = await wholeRefund();
  const hash = await shop.anvil.transfer(CUSTOMER, refund.units);
  expect(await keepReported(shop.app, refund, hash)).toEqual({ kind: 'kept' });
  const isPaid = { kind: 'refused', message: expect.stringContaining(`being paid by ${hash}`) };
  expect(await cancelRefund(shop.app, { id: refund.id })).toMatchObject(isPaid);
  shop.app.clock.advance(10 * MINUTE_MS);
  await look();
  await look();
  await look();
  expect(await cancelRefund(shop.app, { id: refund.id, isForced: true })).toMatchObject(isPaid);
  expect(await showEther(shop, refund)).toMatchObject({ call: null, problem: expect.stringContaining(hash) });
  await expect(again()).rejects.toThrow('Nothing is left');
  await shop.advance(3);
  expect(await findRefund(shop.app.db, refund.id)).toMatchObject({ status: 'completed', transactionHash: hash });
});

it('a refund can be cancelled once no node has had the reported transaction for two minutes', async () => {
  const { shop, refund, again, look } = await wholeRefund();
  const hash = await shop.anvil.transfer(CUSTOMER, refund.units);
  await keepReported(shop.app, refund, hash);
  await shop.anvil.rpc('anvil_dropTransaction', [hash]);
  await look();
  await look();
  expect(await cancelRefund(shop.app, { id: refund.id })).toMatchObject({ kind: 'refused' });
  shop.app.clock.advance(3 * MINUTE_MS);
  await look();
  await look();
  expect(await showEther(shop, refund)).toMatchObject({ problem: null, warnings: [expect.stringContaining(hash)] });
  expect(await cancelRefund(shop.app, { id: refund.id }, null, shop.poll)).toMatchObject({ kind: 'done' });
  expect((await again()).status).toBe('pending');
});

it('a reported transaction that pays something else holds the refund until it is mined', async () => {
  const { shop, refund, look } = await wholeRefund();
  const hash = await shop.anvil.transfer(CUSTOMER, refund.units + 1n);
  await keepReported(shop.app, refund, hash);
  await shop.advance(1);
  await look();
  await look();
  expect(await cancelRefund(shop.app, { id: refund.id }, null, shop.poll)).toMatchObject({ kind: 'done' });
});

it('one reported transaction may pay several refunds, and holds each of them', async () => {
  const shop = await etherShop();
  const order = await paidOrder(shop);
  const refunds = [await etherRefund(shop, order), await etherRefund(shop, order)];
  const hash = await shop.anvil.transfer(CUSTOMER, 1n);
  for (const refund of [...refunds, ...refunds]) await keepReported(shop.app, refund, hash);
  for (const { id } of refunds) expect(await cancelRefund(shop.app, { id })).toMatchObject({ kind: 'refused' });
});
