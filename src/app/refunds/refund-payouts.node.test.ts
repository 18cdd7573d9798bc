import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { payerOf } from '../../../test/e2e/live-utxo-nodes.fixture.ts';
import { utxoNodeKindsFor, type UtxoNode } from '../../../test/litecoind.ts';
import type { TestApp } from '../../../test/harness.ts';
import type { Refund } from '../../domain/refund.ts';
import { NO_MONEY } from '../../domain/payment.ts';
import { matchingAddress } from '../../rails/address.ts';
import { depositAddress } from '../../rails/evm/deposit.ts';
import { MAIN_CHAINS } from '../../rails/utxo/params.ts';
import { forgetAtHead, readPolls, saveNodes, saveProblem } from '../../store/chains/chain.ts';
import { awaitPoll, type AwaitPoll } from './unread-money.ts';
import { saveSentPayout } from '../../store/refunds/sent-payouts.ts';
import { findListedRefund } from '../../store/refunds/refund-list.ts';
import { findRefund } from '../../store/refunds/refunds.ts';
import { createChainFollower } from '../chains/follow-chain.ts';
import { CONFIRMATIONS as ETHER_CONFIRMATIONS, etherShop, eventsOf, OWED_WEI } from '../chains/follow-chain.fixture.ts';
import { DEADLINE_MS } from '../../../test/deadline.ts';
import { CUSTOMER, etherRefund, paidOrder, showEther } from './refund-ether.fixture.ts';
import { COIN, CONFIRMATIONS, refundShop, nodeForTests, type RefundShop } from './refund-psbt.fixture.ts';
import { setProjectWallet } from '../projects/wallets.ts';
import { cancelRefund, claimRefund } from './change-refund.ts';
import { runDueRefunds } from './end-refunds.ts';

const POLL = { timeout: DEADLINE_MS, interval: 20 };

/** Where the list of refunds shows it, and the confirmations of what pays it. */
async function stageOf(app: TestApp, { id }: Refund) {
  const found = await findListedRefund(app.db, { projectId: app.projectId, mode: 'live' }, id);
  return [found?.stage, { confirmations: found?.payout?.confirmations, needed: found?.needed }];
}

const statusOf = async (app: TestApp, refund: Refund) => (await findRefund(app.db, refund.id))?.status;

/** Makes an address that is refused now that of a refund. */
async function sendTo({ db }: TestApp, { id, network }: Refund, address: string): Promise<void> {
  const named = { address, watched_address: matchingAddress(network, address) };
  await db.updateTable('refunds').set(named).where('id', '=', id).execute();
}

/** Hands out an address that is passed over now, in place of the payment's own. */
async function handOut({ db, clock }: TestApp, paymentId: string, address: string): Promise<void> {
  await db
    .updateTable('payment_addresses')
    .set({ address: address.toLowerCase(), issued_at: new Date(clock()) })
    .where('payment_id', '=', paymentId)
    .execute();
}

/** Follows until the mempool was looked at with this payout in it: a look is followed by a rest. */
async function untilSeen(shop: RefundShop, hash: string): Promise<void> {
  const look = async () => {
    await shop.follow();
    const waiting = shop.app.db.selectFrom('waiting_payouts').select('transaction_hash');
    return (await waiting.where('dropped_at', 'is', null).execute()).map((row) => row.transaction_hash);
  };
  await expect.poll(look, POLL).toContain(hash);
}

/** A refund of a quarter of a payment to an address of the node, whose wallet is to pay it. */
async function unpaidRefund(node: UtxoNode) {
  const shop = await refundShop(node);
  const payment = await shop.paid(COIN);
  const address = await node.newAddress();
  return { shop, payment, payer: payerOf(node), address, refund: await shop.refund(payment, COIN / 4n, address) };
}

async function refundEvents(app: TestApp, { paymentId }: Refund): Promise<readonly string[]> {
  return (await eventsOf(app, paymentId)).filter((type) => type.startsWith('refund.'));
}

describe.each(utxoNodeKindsFor(import.meta.url))('a refund whose payout was seen on a real %s node', (kind) => {
  const node = nodeForTests({ kind });

  it('waiting in the mempool can be neither cancelled nor run out, and completes', async () => {
    const shop = await refundShop(node());
    const payment = await shop.paid(COIN);
    const refund = await shop.refund(payment, COIN / 4n);
    const hash = await shop.pay(refund);
    await untilSeen(shop, hash);
    expect(await cancelRefund(shop.app, { id: refund.id })).toMatchObject({
      kind: 'refused',
      message: expect.stringMatching(
        new RegExp(`being paid by ${hash}, which is waiting to be mined, so the refund cannot be cancelled`),
      ),
    });
    shop.app.clock.set((refund.dueAt ?? 0) + 1);
    await shop.follow();
    expect(await runDueRefunds(shop.app, 10)).toBe(0);
    await shop.mine(1);
    expect(await cancelRefund(shop.app, { id: refund.id })).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining(`is paid by ${hash}`),
    });
    await shop.mine(CONFIRMATIONS - 1);
    expect(await findRefund(shop.app.db, refund.id)).toMatchObject({ status: 'completed', transactionHash: hash });
  });

  it('that waits already when the refund gets its address is found before anything is shown to sign', async () => {
    const { shop, payment, payer, address, refund: cancelled } = await unpaidRefund(node());
    const units = COIN / 4n;
    await shop.follow();
    expect(await cancelRefund(shop.app, { id: cancelled.id }, null, shop.poll)).toMatchObject({ kind: 'done' });
    const addresses = [address, await node().newAddress(), await node().newAddress()] as const;
    const payouts = [];
    for (const one of addresses) payouts.push(await payer.pay([[one, units]]));
    // The mempool was read, and nobody knew yet that these are payouts.
    await shop.follow();

    const claimed = await shop.request(payment, units, null);
    expect(await claimRefund(shop.app, claimed.id, addresses[2])).toMatchObject({ kind: 'done' });
    const refunds = [
      await shop.request(payment, units, addresses[0]),
      await shop.request(payment, units, addresses[1]),
      claimed,
    ];
    for (const refund of refunds) {
      const { problem, psbt, paymentUri } = await shop.show(refund);
      expect({ problem, psbt, paymentUri }).toEqual({
        problem: expect.stringContaining('has not checked the unconfirmed'),
        psbt: null,
        paymentUri: null,
      });
      expect(await cancelRefund(shop.app, { id: refund.id }, null, nobodyPolls)).toMatchObject({
        kind: 'refused',
        message: expect.stringContaining('has not checked the unconfirmed'),
      });
    }
    await shop.follow();
    for (const [place, refund] of refunds.entries()) {
      const hash = payouts[place]?.hash;
      expect((await shop.show(refund)).problem).toContain(`being paid by ${hash}`);
      expect(await cancelRefund(shop.app, { id: refund.id })).toMatchObject({ kind: 'refused' });
    }
    await shop.mine(CONFIRMATIONS);
    for (const [place, refund] of refunds.entries()) {
      expect(await findRefund(shop.app.db, refund.id)).toMatchObject({
        status: 'completed',
        transactionHash: payouts[place]?.hash,
      });
    }
  });

  it('and whose address is then handed out is still the one that is paid, and is never said to be made anew', async () => {
    const shop = await refundShop(node());
    const payment = await shop.paid(COIN);
    const next = shop.wallet.addressAt(2);
    await expect(shop.refund(payment, COIN / 4n, next.toUpperCase())).rejects.toThrow('receives payments');
    const refund = await shop.refund(payment, COIN / 4n);
    await sendTo(shop.app, refund, next);
    const payout = await payerOf(node()).pay([[next, refund.units]]);
    await untilSeen(shop, payout.hash);
    const orders = [await shop.order(), await shop.order()];
    expect(orders.map(({ address }) => address)).toEqual([shop.wallet.addressAt(1), shop.wallet.addressAt(3)]);

    // A former version would have done this.
    shop.app.clock.advance(1);
    await handOut(shop.app, orders[0]?.id ?? '', next);
    expect(await cancelRefund(shop.app, { id: refund.id, isForced: true })).toMatchObject({ kind: 'refused' });
    const { problem } = await shop.show(refund);
    expect(problem).toContain(`being paid by ${payout.hash}`);
    expect(problem).not.toContain('create a new one');
    await shop.mine(CONFIRMATIONS);
    expect(await findRefund(shop.app.db, refund.id)).toMatchObject({
      status: 'completed',
      transactionHash: payout.hash,
    });
  });

  it('and was replaced by one that pays nobody can be cancelled again, and what was replaced never pays the next', async () => {
    const { shop, payment, payer, address, refund } = await unpaidRefund(node());
    const payout = await payer.pay([[address, refund.units]]);
    await untilSeen(shop, payout.hash);
    expect(await cancelRefund(shop.app, { id: refund.id })).toMatchObject({ kind: 'refused' });
    await payer.pay([], { coin: payout.coin, feeUnits: 500_000n });
    const cancelled = async () => {
      await shop.follow();
      return (await cancelRefund(shop.app, { id: refund.id }, null, shop.poll)).kind;
    };
    await expect.poll(cancelled, POLL).toBe('done');
    const next = await shop.refund(payment, refund.units, address);
    // A miner has kept the first one.
    await payer.mineOnly(1, [payout]);
    await shop.mine(CONFIRMATIONS);
    expect(await statusOf(shop.app, next)).toBe('pending');
    expect(await statusOf(shop.app, refund)).toBe('failed');
    expect(await shop.show(refund)).toMatchObject({ problem: expect.stringContaining(payout.hash) });
    const own = await payer.pay([[address, next.units]]);
    await shop.mine(CONFIRMATIONS);
    expect(await findRefund(shop.app.db, next.id)).toMatchObject({ status: 'completed', transactionHash: own.hash });
  });

  it('whose fee is raised stays the one that is paid, and not the next of the same amount', async () => {
    const { shop, payment, payer, address, refund: older } = await unpaidRefund(node());
    shop.app.clock.advance(1_000);
    const newer = await shop.refund(payment, COIN / 4n, address);
    const first = await payer.pay([[address, older.units]]);
    await untilSeen(shop, first.hash);
    const bumped = await payer.pay([[address, older.units]], { coin: first.coin, feeUnits: 500_000n });
    await untilSeen(shop, bumped.hash);
    expect(await cancelRefund(shop.app, { id: newer.id, isForced: true })).toMatchObject({ kind: 'done' });
    await shop.mine(CONFIRMATIONS);
    expect(await findRefund(shop.app.db, older.id)).toMatchObject({
      status: 'completed',
      transactionHash: bumped.hash,
    });
  });

  it('is the one that was shown what its payout spends, among those of the same amount to the same address', async () => {
    const shop = await refundShop(node());
    const payment = await shop.paid(COIN);
    await shop.paid(COIN);
    const address = await node().newAddress();
    const older = await shop.refund(payment, COIN / 4n, address);
    shop.app.clock.advance(1_000);
    const newer = await shop.refund(payment, COIN / 4n, address);
    await shop.psbtOf(older);
    const hash = await shop.pay(newer);
    await shop.mine(CONFIRMATIONS);
    expect(await findRefund(shop.app.db, newer.id)).toMatchObject({ status: 'completed', transactionHash: hash });
    expect(await statusOf(shop.app, older)).toBe('pending');
  });

  it('after it was cancelled does not pay another to the same address that is made later, nor is its money there twice', async () => {
    const shop = await refundShop(node());
    const payment = await shop.paid(COIN);
    const address = await node().newAddress();
    const refund = await shop.refund(payment, COIN / 2n, address);
    const shown = await shop.psbtOf(refund);
    expect(await cancelRefund(shop.app, { id: refund.id, isForced: true })).toMatchObject({ kind: 'done' });
    const hash = String(await node().rpc('sendrawtransaction', [shop.signed(shown).hex]));
    await shop.mine(1);
    const next = await shop.refund(payment, COIN / 2n, address);
    await payerOf(node()).reorganise(1);
    await shop.follow();
    await shop.mine(CONFIRMATIONS);
    expect(await statusOf(shop.app, next)).toBe('pending');
    expect(await shop.show(refund)).toMatchObject({
      refund: { status: 'failed' },
      problem: expect.stringContaining(hash),
    });
    await expect(shop.refund(payment, COIN / 2n, address)).rejects.toThrow(/Nothing is left/);
  });

  it('waits again when a reorganisation takes its payout back after it was completed, and completes again by it', async () => {
    const shop = await refundShop(node());
    const payment = await shop.paid(COIN);
    const refund = await shop.refund(payment, COIN / 4n);
    const { spends } = await shop.psbtOf(refund);
    const hash = await shop.pay(refund);
    await shop.mine(CONFIRMATIONS);
    expect(await statusOf(shop.app, refund)).toBe('completed');
    await payerOf(node()).reorganise(CONFIRMATIONS);
    await shop.follow();
    expect(await findRefund(shop.app.db, refund.id)).toMatchObject({
      status: 'pending',
      transactionHash: null,
      completedAt: null,
      dueAt: expect.any(Number),
    });
    expect(await shop.show(refund)).toMatchObject({
      psbt: null,
      problem: expect.stringContaining(`being paid by ${hash}`),
    });
    // Its inputs are reserved for it again, and its part of the payment cannot be refunded twice.
    const other = await shop.refund(payment, COIN / 2n);
    expect(await shop.show(other)).not.toMatchObject({ psbt: { spends } });
    await expect(shop.refund(payment, COIN / 2n)).rejects.toThrow(/can still be refunded/);
    await shop.mine(CONFIRMATIONS);
    expect(await findRefund(shop.app.db, refund.id)).toMatchObject({ status: 'completed', transactionHash: hash });
    expect(await refundEvents(shop.app, refund)).toEqual([
      'refund.created',
      'refund.completed',
      'refund.reorged',
      'refund.created',
      'refund.completed',
    ]);
  });

  it('and completed is paid by what the new chain has in place of its payout', async () => {
    const { shop, payment, payer, address, refund } = await unpaidRefund(node());
    const payout = await payer.pay([[address, refund.units]]);
    await shop.mine(CONFIRMATIONS);
    shop.app.clock.advance(1_000);
    const next = await shop.refund(payment, COIN / 4n, address);
    const bumped = await payer.sign([[address, refund.units]], { coin: payout.coin, feeUnits: 500_000n });
    await payer.reorganise(CONFIRMATIONS, [bumped]);
    // No block more is needed.
    await shop.follow();
    expect(await findRefund(shop.app.db, refund.id)).toMatchObject({
      status: 'completed',
      transactionHash: bumped.hash,
    });
    expect(await statusOf(shop.app, next)).toBe('pending');
  });

  it('and completed is paid again if the new chain spends its coins differently', async () => {
    const { shop, payer, address, refund } = await unpaidRefund(node());
    const payout = await payer.pay([[address, refund.units]]);
    await shop.mine(CONFIRMATIONS);
    expect(await statusOf(shop.app, refund)).toBe('completed');
    const instead = await payer.sign([], { coin: payout.coin, feeUnits: 500_000n });
    await payer.reorganise(CONFIRMATIONS, [instead]);
    const shown = async () => {
      await shop.follow();
      return shop.show(refund);
    };
    await shop.mine(CONFIRMATIONS);
    await expect.poll(shown, POLL).toMatchObject({
      psbt: { kind: 'ok' },
      warnings: [expect.stringContaining(payout.hash)],
    });
    const hash = await shop.pay(refund);
    await shop.mine(CONFIRMATIONS);
    expect(await findRefund(shop.app.db, refund.id)).toMatchObject({ status: 'completed', transactionHash: hash });
  });
});

describe('a refund in ether whose payout was seen', () => {
  it('in a block can be neither cancelled nor run out before it is deep enough', async () => {
    const shop = await etherShop();
    const refund = await etherRefund(shop, await paidOrder(shop));
    const hash = await shop.pay(CUSTOMER, refund.units);
    expect(await cancelRefund(shop.app, { id: refund.id })).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining(`is paid by ${hash}`),
    });
    await shop.app.db
      .updateTable('refunds')
      .set({ due_at: new Date(0) })
      .execute();
    expect(await runDueRefunds(shop.app, 10)).toBe(0);
    await shop.advance(2);
    expect(await statusOf(shop.app, refund)).toBe('completed');
  });

  it('does not run out while the blocks of its last hours were not read', async () => {
    const shop = await etherShop();
    const refund = await etherRefund(shop, await paidOrder(shop));
    await shop.anvil.transfer(CUSTOMER, refund.units);
    await shop.mine(3);
    shop.app.clock.set((refund.dueAt ?? 0) + 1);
    expect(await runDueRefunds(shop.app, 10)).toBe(0);
    await shop.follow();
    expect(await statusOf(shop.app, refund)).toBe('completed');
  });

  it('runs out when nothing paid it until its time was over', async () => {
    const shop = await etherShop();
    const refund = await etherRefund(shop, await paidOrder(shop));
    await shop.mine(2, (refund.dueAt ?? 0) - shop.app.clock() + 1_000);
    await shop.follow();
    expect(await runDueRefunds(shop.app, 10)).toBe(1);
    expect(await findRefund(shop.app.db, refund.id)).toMatchObject({ status: 'failed', failureReason: 'unpaid' });
  });

  it('is paid by what is read after it was made, however fast the clock was then', async () => {
    const shop = await etherShop();
    const order = await paidOrder(shop);
    for (const fastMs of [200_000, 86_400_000]) {
      shop.app.clock.advance(fastMs);
      const refund = await etherRefund(shop, order);
      shop.app.clock.advance(-fastMs);
      await shop.pay(CUSTOMER, refund.units);
      await shop.advance(2);
      expect(await statusOf(shop.app, refund)).toBe('completed');
    }
  });

  it('is paid by a block of a new chain that is lower than what was read when it was made', async () => {
    const shop = await etherShop();
    const order = await paidOrder(shop);
    const undo = await shop.checkpoint();
    await shop.advance(5);
    shop.app.clock.advance(200_000);
    const refund = await etherRefund(shop, order);
    shop.app.clock.advance(-200_000);
    await undo();
    await shop.anvil.transfer(CUSTOMER, refund.units);
    await shop.advance(7, 13_000);
    expect(await statusOf(shop.app, refund)).toBe('completed');
  });

  it('is not paid by what was read before it was made', async () => {
    const shop = await etherShop();
    const order = await paidOrder(shop);
    await shop.pay(CUSTOMER, OWED_WEI / 3n);
    const refund = await etherRefund(shop, order);
    await shop.advance(3);
    expect(await statusOf(shop.app, refund)).toBe('pending');
  });

  it('waits again when a reorganisation takes its payout back after it was completed, and completes again by it', async () => {
    const shop = await etherShop();
    const order = await paidOrder(shop);
    const refund = await etherRefund(shop, order);
    const undo = await shop.checkpoint();
    const hash = await shop.pay(CUSTOMER, refund.units);
    const raw = String(await shop.anvil.rpc('eth_getRawTransactionByHash', [hash]));
    expect(await stageOf(shop.app, refund)).toEqual(['seen', { confirmations: 1, needed: 3 }]);
    await shop.advance(2);
    expect(await findRefund(shop.app.db, refund.id)).toMatchObject({ status: 'completed', transactionHash: hash });
    expect(await stageOf(shop.app, refund)).toEqual(['completed', { confirmations: 3, needed: 3 }]);
    await undo();
    await shop.advance(4, 13_000);
    expect(await findRefund(shop.app.db, refund.id)).toMatchObject({ status: 'pending', transactionHash: null });
    expect(await stageOf(shop.app, refund)).toEqual(['reorged', { confirmations: 0, needed: 3 }]);
    expect(await cancelRefund(shop.app, { id: refund.id })).toMatchObject({ kind: 'refused' });
    await shop.anvil.rpc('eth_sendRawTransaction', [raw]);
    await shop.advance(3);
    expect(await findRefund(shop.app.db, refund.id)).toMatchObject({ status: 'completed', transactionHash: hash });
    expect(await refundEvents(shop.app, refund)).toEqual([
      'refund.created',
      'refund.completed',
      'refund.reorged',
      'refund.completed',
    ]);
    const { rows } = await sql`select 1 from waiting_payouts`.execute(shop.app.db);
    expect(rows).toEqual([]);
  });

  it('stays completed when the new blocks have its payout too', async () => {
    const shop = await etherShop();
    const refund = await etherRefund(shop, await paidOrder(shop));
    const undo = await shop.checkpoint();
    const hash = await shop.pay(CUSTOMER, refund.units);
    const raw = String(await shop.anvil.rpc('eth_getRawTransactionByHash', [hash]));
    await shop.advance(2);
    await undo();
    await shop.anvil.rpc('eth_sendRawTransaction', [raw]);
    await shop.advance(4, 13_000);
    expect(await findRefund(shop.app.db, refund.id)).toMatchObject({ status: 'completed', transactionHash: hash });
    expect(await refundEvents(shop.app, refund)).toEqual(['refund.created', 'refund.completed']);
  });

  it('can be cancelled once no node knows its payout that a reorganisation took back, and that never pays the next', async () => {
    const shop = await etherShop();
    const follower = createChainFollower(shop.app, shop.source);
    const follow = async (): Promise<void> => {
      while ((await follower.follow()) !== 'at_head');
    };
    const order = await paidOrder(shop);
    const refund = await etherRefund(shop, order);
    const undo = await shop.checkpoint();
    const hash = await shop.pay(CUSTOMER, refund.units);
    const raw = String(await shop.anvil.rpc('eth_getRawTransactionByHash', [hash]));
    await undo();
    await shop.mine(2, 13_000);
    await shop.anvil.rpc('eth_sendRawTransaction', [raw]);
    await follow();
    shop.app.clock.advance(2 * 60 * 60_000);
    await follow();
    // The node has it in its pool.
    expect(await cancelRefund(shop.app, { id: refund.id })).toMatchObject({ kind: 'refused' });
    await shop.anvil.rpc('anvil_dropTransaction', [hash]);
    await follow();
    expect(await cancelRefund(shop.app, { id: refund.id })).toMatchObject({ kind: 'refused' });
    await follow();
    expect(await showEther(shop, refund)).toMatchObject({ problem: null, warnings: [expect.stringContaining(hash)] });
    expect(await cancelRefund(shop.app, { id: refund.id }, null, shop.poll)).toMatchObject({ kind: 'done' });
    const next = await etherRefund(shop, order);
    await shop.anvil.rpc('eth_sendRawTransaction', [raw]);
    await shop.advance(3);
    expect(await statusOf(shop.app, next)).toBe('pending');
    const own = await shop.pay(CUSTOMER, next.units);
    await shop.advance(2);
    expect(await findRefund(shop.app.db, next.id)).toMatchObject({ status: 'completed', transactionHash: own });
  });

  it('to an address of the shop’s own, made before such addresses were refused, is paid by no other payment', async () => {
    const shop = await etherShop();
    const order = await paidOrder(shop);
    const other = await shop.order({ amountMinor: 1_000n });
    const refund = await etherRefund(shop, order);
    const address = other.address.toLowerCase();
    await sendTo(shop.app, refund, other.address);
    await shop.app.db
      .transaction()
      .execute((trx) =>
        saveSentPayout(trx, [refund.id], { network: 'ethereum', hash: '0x2', bytes: null }, shop.app.clock()),
      );
    const shown = await showEther(shop, refund);
    expect(shown.problem).toMatch(/receives payments.*0x2 was sent at .* to pay this refund/);
    expect(shown.problem).not.toContain('create a new one');
    await shop.pay(address, refund.units);
    await shop.advance(3);
    expect((await shop.app.read(other.id)).status).toBe('completed');
    expect(await statusOf(shop.app, refund)).toBe('pending');
    // Nor is one that an earlier version took for its payout.
    await shop.app.db
      .insertInto('refund_payouts')
      .values({
        network: 'ethereum',
        transaction_hash: '0x1',
        asset: 'ETH',
        output_index: 0,
        refund_id: refund.id,
        block_height: 1,
      })
      .execute();
    await shop.advance(1);
    expect(await statusOf(shop.app, refund)).toBe('pending');
    expect(await cancelRefund(shop.app, { id: refund.id }, null, shop.poll)).toMatchObject({ kind: 'done' });
  });

  it('to a deposit that the shop will hand out is refused; were it not, it is paid once, and for no order', async () => {
    const shop = await etherShop();
    const treasury = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
    const terms = { confirmations: ETHER_CONFIRMATIONS, toleranceBasisPoints: null };
    const source = { kind: 'treasury', text: treasury } as const;
    const { projectId } = shop.app;
    await setProjectWallet(shop.app, { projectId, network: 'ethereum', source, ...terms }, MAIN_CHAINS);
    const order = await paidOrder(shop);
    await expect(etherRefund(shop, order, { address: depositAddress(treasury, 3) })).rejects.toThrow(
      'receives payments',
    );

    // Taken by a former version: the number is passed over, and the payout ends its refund.
    const refund = await etherRefund(shop, order);
    await sendTo(shop.app, refund, depositAddress(treasury, 3));
    await shop.anvil.transfer(depositAddress(treasury, 3), refund.units);
    const orders = [await shop.order({ amountMinor: 1_000n }), await shop.order({ amountMinor: 1_000n })];
    orders.push(await shop.order({ amountMinor: 1_000n }));
    expect(orders.map(({ address }) => address)).toEqual([1, 2, 4].map((index) => depositAddress(treasury, index)));
    await shop.advance(3);
    expect(await statusOf(shop.app, refund)).toBe('completed');
    for (const { id } of orders) expect(await shop.app.read(id)).toMatchObject({ received: NO_MONEY });

    // Handed out by a former version too, before the block with the payout.
    const second = await etherRefund(shop, order);
    shop.app.clock.advance(1);
    await sendTo(shop.app, second, depositAddress(treasury, 5));
    await handOut(shop.app, orders[0]?.id ?? '', depositAddress(treasury, 5));
    const hash = await shop.pay(depositAddress(treasury, 5), second.units);
    expect(await cancelRefund(shop.app, { id: second.id })).toMatchObject({ message: expect.stringContaining(hash) });
    expect(await showEther(shop, second)).toMatchObject({ problem: expect.stringContaining(`is paid by ${hash}`) });
    await shop.advance(2);
    expect(await findRefund(shop.app.db, second.id)).toMatchObject({ status: 'completed', transactionHash: hash });
  });

  it('cannot be cancelled before the node was asked for its newest block once more, unless that is forced', async () => {
    const shop = await etherShop();
    const order = await paidOrder(shop);
    const refund = await etherRefund(shop, order);
    // The older one of two equal refunds is paid first.
    shop.app.clock.advance(1);
    const other = await etherRefund(shop, order);
    await shop.follow();
    // Read up to the newest block a moment ago; then the payout was mined, and the node hangs.
    const hash = await shop.anvil.transfer(CUSTOMER, refund.units);
    await shop.mine(1);
    const unread = { kind: 'refused', message: expect.stringMatching(/not been read.*Try again/) };
    const hanging: AwaitPoll = (app, network) => awaitPoll(app, network, 200);
    expect(await cancelRefund(shop.app, { id: refund.id }, null, hanging)).toMatchObject(unread);
    // It works again.
    const cancelling = cancelRefund(shop.app, { id: refund.id });
    await untilWanted(shop.app, 2);
    await shop.follow();
    expect(await cancelling).toMatchObject({ kind: 'refused', message: expect.stringContaining(hash) });
    const unpaid = cancelRefund(shop.app, { id: other.id });
    await untilWanted(shop.app, 3);
    await shop.follow();
    expect(await unpaid).toMatchObject({ kind: 'done' });

    const third = await etherRefund(shop, order);
    await saveProblem(shop.app.db, 'ethereum', 'The node is away.');
    expect(await cancelRefund(shop.app, { id: third.id })).toMatchObject(unread);
    expect(await cancelRefund(shop.app, { id: third.id, isForced: true })).toMatchObject({ kind: 'done' });
  });

  it('is shown with a warning while blocks that may pay it were not read', async () => {
    const shop = await etherShop();
    const refund = await etherRefund(shop, await paidOrder(shop));
    await forgetAtHead(shop.app.db);
    const warned = expect.stringMatching(/^The newest ethereum blocks have not been read yet and may contain/);
    // The block that was read last is of now: the next one is under way.
    expect(await showEther(shop, refund)).toMatchObject({ problem: null, warnings: [] });
    shop.app.clock.advance(60_000);
    expect(await showEther(shop, refund)).toMatchObject({ problem: null, warnings: [warned] });
    await shop.follow();
    expect(await showEther(shop, refund)).toMatchObject({ problem: null, warnings: [] });
    // The node that blocks are read from lags behind another.
    const { db, clock } = shop.app;
    const height = ((await shop.cursorHeight()) ?? 0) + 1;
    await saveNodes(db, 'ethereum', [{ node: 'https://node.example', height, problem: null }], clock());
    expect(await showEther(shop, refund)).toMatchObject({ problem: null, warnings: [warned] });
    await shop.mine();
    await shop.follow();
    expect(await showEther(shop, refund)).toMatchObject({ problem: null, warnings: [] });
    shop.app.clock.advance(10 * 60_000);
    expect(await showEther(shop, refund)).toMatchObject({ problem: null, warnings: [warned] });
  });
});

/** A cancellation waits for this many looks by now. */
async function untilWanted({ db }: TestApp, count: number): Promise<void> {
  await expect.poll(async () => (await readPolls(db, 'ethereum'))?.wanted, POLL).toBe(count);
}

const nobodyPolls: AwaitPoll = async () => false;
