import { describe, expect, it } from 'vitest';
import { utxoNodeKindsFor } from '../../../test/litecoind.ts';
import { doubtsOf } from '../../store/payments/till-sales.ts';
import { ChainUnavailableError } from '../../rails/chain.ts';
import { coinShop } from './follow-utxo.fixture.ts';

describe.each(utxoNodeKindsFor(import.meta.url))('a payment that a %s node shows in its mempool', (kind) => {
  it('has the signs that it may never be mined, until it is', async () => {
    const shop = await coinShop(kind);
    const pay = async (isReplaceable: boolean) => {
      const order = await shop.order();
      await shop.node.rpc('sendtoaddress', [order.address, '0.3', '', '', false, isReplaceable]);
      return order;
    };
    const [fine, replaceable] = [await pay(false), await pay(true)];
    await shop.follow();
    expect([await shop.statusOf(fine), await shop.statusOf(replaceable)]).toEqual(['processing', 'processing']);
    const doubts = () => doubtsOf(shop.app.db, [fine.id, replaceable.id]);
    expect(await doubts()).toEqual(new Map([[replaceable.id, ['replaceable']]]));
    await shop.node.mine(1);
    await shop.follow();
    expect(await doubts()).toEqual(new Map());
  });

  it('counts although the node does not tell, and is then doubtful', async () => {
    const shop = await coinShop(kind);
    const { mempool } = shop.source;
    if (mempool === null) throw new Error('The node shows no mempool.');
    Object.assign(mempool, { doubtsOf: () => Promise.reject(new ChainUnavailableError(kind, 'a question', [])) });
    const order = await shop.order();
    await shop.node.send(order.address, '0.3');
    await shop.follow();
    expect(await shop.statusOf(order)).toBe('processing');
    expect(await doubtsOf(shop.app.db, [order.id])).toEqual(new Map([[order.id, ['unknown']]]));
  });
});
