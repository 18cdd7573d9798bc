import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { textAt } from '../../src/cli/program.fixture.ts';
import { isMain } from '../extent.ts';
import { utxoNodeKindsFor } from '../litecoind.ts';
import {
  accountKey,
  coins,
  CONFIRMATIONS,
  openShop,
  OWED,
  OWED_COINS,
  POLL,
  type UtxoShop,
} from './live-utxo.fixture.ts';
import type { Coin } from './live-utxo-nodes.fixture.ts';

/** The events of an order that is paid in full. */
const PAID = ['order.created', 'order.confirming', 'order.completed'];
/** The events of an order that is paid in part first. */
const TOPPED_UP = ['order.created', 'order.exception', 'order.confirming', 'order.completed'];

describe.each(utxoNodeKindsFor(import.meta.url))('payments on a real %s node', (kind) => {
  let shop: UtxoShop;
  beforeAll(async () => {
    shop = await openShop({ kind });
  });
  afterAll(() => shop?.close());

  it('an order is seen in the mempool, counts its confirmations, and completes; each event comes once and in order', async () => {
    const { id, address } = await shop.order();
    expect(await shop.read(id)).toMatchObject({
      network: shop.network,
      address,
      crypto_amount: OWED_COINS,
      amount_received: 0,
      confirmations: 0,
      confirmations_required: CONFIRMATIONS,
      transaction_hash: null,
      exception: 'none',
    });
    const { hash } = await shop.pay([[address, OWED]]);
    await shop.becomes(id, { status: 'confirming', confirmations: 0, amount_received: OWED_COINS });
    await expect.poll(() => shop.heard(id), POLL).toEqual(['order.created', 'order.confirming']);
    for (let deep = 1; deep < CONFIRMATIONS; deep += 1) {
      await shop.node.mine(1);
      await shop.becomes(id, { status: 'confirming', confirmations: deep, transaction_hash: null });
    }
    await shop.node.mine(1);
    await shop.becomes(id, {
      status: 'completed',
      confirmations: CONFIRMATIONS,
      amount_received: OWED_COINS,
      transaction_hash: hash,
      completed_at: expect.any(String),
      exception: 'none',
    });
    await expect.poll(() => shop.heard(id), POLL).toEqual(['order.created', 'order.confirming', 'order.completed']);
    expect(shop.events(id).map(({ data }) => [data.status, data['transaction_hash']])).toEqual([
      ['pending', null],
      ['confirming', null],
      ['completed', hash],
    ]);
  });

  it('a transaction goes from processing to confirming when it is mined, and completes', async () => {
    const created = await shop.api('/api/transactions/create', { amount: 30 });
    const id = textAt(created.body['transaction'], 'id');
    const chosen = await fetch(`${shop.baseUrl}/pay/${id}/token`, {
      method: 'POST',
      body: new URLSearchParams({ asset: shop.asset, network: shop.network }),
      redirect: 'manual',
    });
    expect(chosen.status).toBe(303);
    const read = async () => Object((await shop.api(`/api/transactions/${id}`)).body['transaction']);
    const pending = await read();
    expect(pending).toMatchObject({ status: 'pending', crypto_amount: OWED_COINS });

    const { hash } = await shop.pay([[textAt(pending, 'address'), OWED]]);
    await expect.poll(read, POLL).toMatchObject({ status: 'processing' });
    await shop.node.mine(1);
    await expect.poll(read, POLL).toMatchObject({ status: 'confirming' });
    await shop.node.mine(CONFIRMATIONS - 1);
    await expect.poll(read, POLL).toMatchObject({ status: 'completed', transaction_hash: hash });
    await expect.poll(() => shop.heard(id), POLL).toEqual(PAID);
  });

  it('a part leaves the order pending and underpaid, and what is paid on top completes it', async () => {
    const { id, address } = await shop.order();
    await shop.pay([[address, OWED / 3n]]);
    await shop.becomes(id, { status: 'pending', exception: 'underpaid', amount_received: 0.1, confirmations: 0 });
    await shop.node.mine(CONFIRMATIONS + 1);
    await shop.becomes(id, { status: 'pending', exception: 'underpaid', confirmations: CONFIRMATIONS });
    await expect.poll(() => shop.heard(id), POLL).toEqual(['order.created', 'order.exception']);

    const { hash } = await shop.pay([[address, OWED - OWED / 3n]]);
    await shop.becomes(id, { status: 'confirming', exception: 'none', amount_received: OWED_COINS });
    await shop.node.mine(CONFIRMATIONS);
    await shop.becomes(id, { status: 'completed', exception: 'none', transaction_hash: hash });
    await expect.poll(() => shop.heard(id), POLL).toEqual(TOPPED_UP);
    expect(shop.events(id)[1]?.data).toMatchObject({ status: 'pending', exception: 'underpaid' });
  });

  it('too much completes the order as overpaid, with all that was received', async () => {
    const { id, address } = await shop.order();
    const { hash } = await shop.pay([[address, OWED * 2n]]);
    // A transaction that is not mined may still be replaced.
    await shop.becomes(id, { status: 'confirming', exception: 'none', amount_received: OWED_COINS * 2 });
    await shop.node.mine(1);
    await shop.becomes(id, { status: 'confirming', exception: 'overpaid' });
    await shop.node.mine(CONFIRMATIONS - 1);
    await shop.becomes(id, { status: 'completed', exception: 'overpaid', transaction_hash: hash });
    await expect
      .poll(() => shop.heard(id), POLL)
      .toEqual(['order.created', 'order.confirming', 'order.exception', 'order.completed']);
    expect(shop.events(id)[2]?.data).toMatchObject({ status: 'confirming', exception: 'overpaid' });
  });

  it('half a percent too little or too much is paid in full, one unit more is not', async () => {
    const slack = OWED / 200n;
    const orders = [await shop.order(), await shop.order(), await shop.order(), await shop.order()];
    const amounts = [OWED - slack, OWED + slack, OWED - slack - 1n, OWED + slack + 1n];
    await shop.pay(orders.map(({ address }, index) => [address, amounts[index] ?? 0n]));
    await shop.node.mine(CONFIRMATIONS);
    const expected = [
      { status: 'completed', exception: 'none' },
      { status: 'completed', exception: 'none' },
      { status: 'pending', exception: 'underpaid' },
      { status: 'completed', exception: 'overpaid' },
    ];
    for (const [index, { id }] of orders.entries()) {
      await shop.becomes(id, { ...expected[index], amount_received: coins(amounts[index] ?? 0n) });
      const isTold = expected[index]?.exception !== 'none';
      await expect.poll(() => shop.heard(id).includes('order.exception'), POLL).toBe(isTold);
    }
  });

  it('several transfers to one address add up, two outputs of one transaction too; the hash is of the one that reached the amount', async () => {
    const { id, address } = await shop.order();
    const third = OWED / 3n;
    await shop.pay([
      [address, third / 2n],
      [address, third / 2n],
    ]);
    await shop.becomes(id, { status: 'pending', amount_received: 0.1 });
    await shop.pay([[address, third]]);
    await shop.becomes(id, { status: 'pending', amount_received: 0.2 });
    const { hash } = await shop.pay([[address, third]]);
    await shop.becomes(id, { status: 'confirming', amount_received: OWED_COINS });
    await shop.node.mine(CONFIRMATIONS);
    await shop.becomes(id, { status: 'completed', exception: 'none', transaction_hash: hash });
    await expect.poll(() => shop.heard(id), POLL).toEqual(TOPPED_UP);
  });

  it('the hash is of the last of several transfers that one block brought, by their places in it', async () => {
    const { id, address } = await shop.order();
    const unspent: unknown = await shop.node.rpc('listunspent', [1]);
    const own = (Array.isArray(unspent) ? unspent : []).slice(0, 6).map((entry): Coin => {
      const { txid, vout, amount } = Object(entry) as Readonly<Record<string, unknown>>;
      return { txid: String(txid), vout: Number(vout), units: BigInt(Math.round(Number(amount) * 1e8)) };
    });
    const parts = await Promise.all(own.map((coin) => shop.sign([[address, OWED / 6n]], { coin })));
    expect(parts).toHaveLength(6);
    // Nothing has seen them before, and the later in the block, the lower their hash.
    const ordered = parts.toSorted((a, b) => (a.hash < b.hash ? 1 : -1));
    await shop.mineOnly(CONFIRMATIONS, ordered);
    await shop.becomes(id, { status: 'completed', exception: 'none', transaction_hash: ordered.at(-1)?.hash });
  });

  it('a transaction whose coin is chosen again keeps its address, and is paid by the newest quote or an earlier one', async () => {
    const created = await shop.api('/api/transactions/create', { amount: 30 });
    const id = textAt(created.body['transaction'], 'id');
    const choose = () =>
      fetch(`${shop.baseUrl}/pay/${id}/token`, {
        method: 'POST',
        body: new URLSearchParams({ asset: shop.asset, network: shop.network }),
        redirect: 'manual',
      });
    const read = async () => Object((await shop.api(`/api/transactions/${id}`)).body['transaction']);
    expect((await choose()).status).toBe(303);
    const { address } = await read();
    for (let change = 1; change <= 10; change += 1) {
      expect((await choose()).status).toBe(303);
      expect(await read()).toMatchObject({ status: 'pending', address });
    }
    const refused = await choose();
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain('change the coin again');
    const { hash } = await shop.pay([[String(address), OWED]]);
    await shop.node.mine(CONFIRMATIONS);
    await expect.poll(read, POLL).toMatchObject({ status: 'completed', transaction_hash: hash, address });
  });

  it('an order whose transfers are in different blocks completes when the last that it needs is deep enough', async () => {
    const { id, address } = await shop.order();
    await shop.pay([[address, OWED / 2n]]);
    await shop.becomes(id, { status: 'pending', exception: 'underpaid' });
    await shop.node.mine(CONFIRMATIONS - 1);
    await shop.pay([[address, OWED / 2n]]);
    await shop.node.mine(1);
    await shop.becomes(id, { status: 'confirming', confirmations: 1 });
    await shop.node.mine(CONFIRMATIONS - 2);
    await shop.becomes(id, { status: 'confirming', confirmations: CONFIRMATIONS - 1 });
    await shop.node.mine(1);
    await shop.becomes(id, { status: 'completed', confirmations: CONFIRMATIONS });
    await expect.poll(() => shop.heard(id), POLL).toEqual(TOPPED_UP);
  });

  it('one transaction pays several orders, each its own amount', async () => {
    const orders = [await shop.order(), await shop.order({ amount: 60 }), await shop.order({ amount: 90 })];
    const { hash } = await shop.pay(orders.map(({ address }, index) => [address, OWED * BigInt(index + 1)]));
    await shop.node.mine(CONFIRMATIONS);
    for (const [index, { id }] of orders.entries()) {
      const amount = coins(OWED * BigInt(index + 1));
      await shop.becomes(id, {
        status: 'completed',
        amount_received: amount,
        transaction_hash: hash,
        exception: 'none',
      });
      await expect.poll(() => shop.heard(id), POLL).toEqual(PAID);
    }
  });

  it('dust and outputs of nothing, which only a miner can send, neither complete an order nor stand in the way of its payment', async () => {
    const { id, address } = await shop.order();
    const dust = await shop.sign([
      [address, 1n],
      [address, 0n],
    ]);
    await shop.mineOnly(CONFIRMATIONS, [dust]);
    await shop.becomes(id, {
      status: 'pending',
      exception: 'underpaid',
      amount_received: 1e-8,
      confirmations: CONFIRMATIONS,
    });
    const { hash } = await shop.pay([[address, OWED]]);
    await shop.node.mine(CONFIRMATIONS);
    await shop.becomes(id, {
      status: 'completed',
      exception: 'none',
      amount_received: coins(OWED + 1n),
      transaction_hash: hash,
    });
    await expect.poll(() => shop.heard(id), POLL).toEqual(TOPPED_UP);
  });

  it('a payment that nobody saw in the mempool is taken in from its block', async () => {
    const { id, address } = await shop.order();
    const signed = await shop.sign([[address, OWED]]);
    await shop.mineOnly(1, [signed]);
    await shop.becomes(id, { status: 'confirming', confirmations: 1 });
    await shop.node.mine(CONFIRMATIONS - 1);
    await shop.becomes(id, { status: 'completed', transaction_hash: signed.hash });
    await expect.poll(() => shop.heard(id), POLL).toEqual(PAID);
  });

  it.skipIf(isMain)('every kind of address that a wallet can be of is paid', async () => {
    const keys = Array.from({ length: 3 }, accountKey);
    const wallets = [
      `--xpub ${keys[0]}`,
      `--descriptor pkh(${keys[0]}/0/*)`,
      `--descriptor sh(wpkh(${keys[0]}/0/*))`,
      `--descriptor tr(${keys[0]}/0/*)`,
      `--descriptor wsh(sortedmulti(2,${keys.map((key) => `${key}/0/*`).join(',')}))`,
    ];
    const orders = [];
    for (const wallet of wallets) {
      await shop.command(`wallet set --project ${shop.project} --network ${kind} --confirmations 1 ${wallet}`);
      orders.push(await shop.order());
    }
    await shop.pay(orders.map(({ address }) => [address, OWED]));
    await shop.node.mine(1);
    for (const { id } of orders) {
      await shop.becomes(id, { status: 'completed', amount_received: OWED_COINS });
      await expect.poll(() => shop.heard(id), POLL).toEqual(PAID);
    }
  });
});
