import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { utxoNodeKindsFor } from '../litecoind.ts';
import {
  coins,
  CONFIRMATIONS,
  openShop,
  OWED,
  OWED_COINS,
  POLL,
  type LiveOrder,
  type UtxoShop,
} from './live-utxo.fixture.ts';
import type { Signed } from './live-utxo-nodes.fixture.ts';

const PAID = ['order.created', 'order.confirming', 'order.completed'];
/** More than any transaction here pays. */
const MORE_FEE = 1_000_000n;
/** After so long, Bitcoin Core's default, a node forgets what waits in its mempool. */
const MEMPOOL_EXPIRY_SECONDS = 336 * 3_600;

describe.each(utxoNodeKindsFor(import.meta.url))(
  'payments that never make it into a block of a real %s node',
  (kind) => {
    let shop: UtxoShop;
    beforeAll(async () => {
      // Otherwise the node's wallet would broadcast it again.
      shop = await openShop({ kind, nodeOptions: ['-walletbroadcast=0'] });
    });
    afterAll(() => shop?.close());

    const elsewhere = (): Promise<string> => shop.node.newAddress();

    /** An order that is paid in full by a transaction that waits. */
    async function seenOrder(): Promise<LiveOrder & { readonly paid: Signed }> {
      const order = await shop.order();
      const paid = await shop.pay([[order.address, OWED]]);
      await shop.becomes(order.id, { status: 'confirming', confirmations: 0, amount_received: OWED_COINS });
      return { ...order, paid };
    }

    async function staysUnpaid({ id }: LiveOrder): Promise<void> {
      const unpaid = { status: 'pending', amount_received: 0, confirmations: 0, exception: 'none' };
      await shop.becomes(id, unpaid);
      await shop.node.mine(CONFIRMATIONS + 1);
      const later = await shop.order();
      await shop.pay([[later.address, OWED]]);
      await shop.becomes(later.id, { status: 'confirming' });
      expect(await shop.read(id)).toMatchObject({ ...unpaid, transaction_hash: null });
    }

    async function completes({ id }: LiveOrder, { hash }: Signed): Promise<void> {
      await shop.node.mine(CONFIRMATIONS);
      await shop.becomes(id, {
        status: 'completed',
        exception: 'none',
        amount_received: OWED_COINS,
        transaction_hash: hash,
      });
    }

    it('a replacement with a higher fee that pays the same counts once, and is no exception', async () => {
      const { paid, ...order } = await seenOrder();
      const bumped = await shop.pay([[order.address, OWED]], { coin: paid.coin, feeUnits: MORE_FEE });
      // A later payment is seen later: by then the replacement has been seen.
      await seenOrder();
      await completes(order, bumped);
      await expect.poll(() => shop.heard(order.id), POLL).toEqual(PAID);
    });

    it('a replacement that pays the same address more counts alone, and overpays', async () => {
      const { paid, id, address } = await seenOrder();
      const more = await shop.pay([[address, OWED + OWED / 2n]], { coin: paid.coin, feeUnits: MORE_FEE });
      await shop.becomes(id, { status: 'confirming', exception: 'none', amount_received: coins(OWED + OWED / 2n) });
      await shop.node.mine(1);
      await shop.becomes(id, { status: 'confirming', exception: 'overpaid' });
      await shop.node.mine(CONFIRMATIONS - 1);
      await shop.becomes(id, { status: 'completed', exception: 'overpaid', transaction_hash: more.hash });
      await expect
        .poll(() => shop.heard(id), POLL)
        .toEqual(['order.created', 'order.confirming', 'order.exception', 'order.completed']);
    });

    it('a replacement that pays the same address less leaves the order underpaid, and the rest completes it', async () => {
      const { paid, id, address } = await seenOrder();
      await shop.pay([[address, OWED / 3n]], { coin: paid.coin, feeUnits: MORE_FEE });
      await shop.becomes(id, { status: 'pending', exception: 'underpaid', amount_received: 0.1 });
      await expect.poll(() => shop.heard(id), POLL).toEqual(['order.created', 'order.confirming', 'order.exception']);
      expect(shop.events(id)[2]?.data).toMatchObject({ status: 'pending', exception: 'underpaid' });
      const rest = await shop.pay([[address, OWED - OWED / 3n]]);
      await shop.node.mine(CONFIRMATIONS);
      await shop.becomes(id, { status: 'completed', exception: 'none', transaction_hash: rest.hash });
    });

    it('a replacement that pays somebody else takes the order back to pending, where it can be paid again', async () => {
      const { paid, ...order } = await seenOrder();
      await shop.pay([[await elsewhere(), OWED]], { coin: paid.coin, feeUnits: MORE_FEE });
      await staysUnpaid(order);
      await completes(order, await shop.pay([[order.address, OWED]]));
      await expect.poll(() => shop.heard(order.id), POLL).toEqual(PAID);
    });

    it('a double spend that is mined instead takes the order back to pending', async () => {
      const { paid, ...order } = await seenOrder();
      const instead = await shop.sign([[await elsewhere(), OWED]], { coin: paid.coin });
      await shop.mineOnly(1, [instead]);
      await staysUnpaid(order);
      await expect.poll(() => shop.heard(order.id), POLL).toEqual(PAID.slice(0, 2));
    });

    it('a replacement that is mined before anybody saw it counts once, in place of what was seen', async () => {
      const { paid, ...order } = await seenOrder();
      const instead = await shop.sign([[order.address, OWED]], { coin: paid.coin, feeUnits: MORE_FEE });
      await shop.mineOnly(1, [instead]);
      await completes(order, instead);
      await expect.poll(() => shop.heard(order.id), POLL).toEqual(PAID);
    });

    it('a payment that spends a transaction which is double-spent goes with it', async () => {
      const parent = await shop.pay([[await elsewhere(), OWED * 2n]]);
      const order = await shop.order();
      await shop.pay([[order.address, OWED]], { coin: { txid: parent.hash, vout: 0, units: OWED * 2n } });
      await shop.becomes(order.id, { status: 'confirming' });
      await shop.mineOnly(1, [await shop.sign([[await elsewhere(), OWED]], { coin: parent.coin })]);
      await staysUnpaid(order);
      await expect.poll(() => shop.heard(order.id), POLL).toEqual(PAID.slice(0, 2));
    });

    it('a transaction that the node forgets takes the order back to pending, and counts again once it is sent again', async () => {
      const { paid, ...order } = await seenOrder();
      await shop.node.rpc('setmocktime', [Math.ceil(Date.now() / 1_000) + MEMPOOL_EXPIRY_SECONDS + 60]);
      // The node drops expired transactions when a new one arrives.
      await shop.pay([[await elsewhere(), OWED]]);
      await shop.node.rpc('setmocktime', [0]);
      await shop.becomes(order.id, { status: 'pending', amount_received: 0, exception: 'none' });
      await shop.broadcast(paid);
      await completes(order, paid);
      await expect.poll(() => shop.heard(order.id), POLL).toEqual(PAID);
    });
  },
);
