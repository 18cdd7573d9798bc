import { describe, expect, it } from 'vitest';
import type { Quote } from '../../domain/payment.ts';
import { saveTransfers } from '../../store/payments/transfers.ts';
import { arrival, observeMoney } from '../payments/chain-money.ts';
import { acceptPayment } from '../payments/payment-actions.ts';
import {
  quotedTwice,
  paidUnfollowed,
  transitionsOf,
  BLOCK_MS,
  CONFIRMATIONS,
  etherShop,
  eventsOf,
  OWED_WEI,
  setWallet,
  type EtherShop,
} from './follow-chain.fixture.ts';
import { runDue } from '../payments/run-due.ts';
import { inTransaction } from '../in-transaction.ts';

/** An address that was given out before, for another quote, by the same wallet. */
async function addQuote(shop: EtherShop, paymentId: string, quote: Quote): Promise<void> {
  const { asset, decimals, network, owedUnits, toleranceUnits } = quote;
  const given = await shop.app.db
    .selectFrom('payment_addresses')
    .select(['wallet_id', 'watch_until'])
    .where('payment_id', '=', paymentId)
    .executeTakeFirstOrThrow();
  await shop.app.db
    .insertInto('payment_addresses')
    .values({
      network,
      address: quote.address.toLowerCase(),
      payment_id: paymentId,
      wallet_id: given.wallet_id,
      address_index: 1_000,
      asset,
      decimals,
      owed_units: owedUnits,
      tolerance_units: toleranceUnits,
      issued_at: new Date(shop.app.clock() - 1_000),
      watch_until: new Date(given.watch_until),
      confirmations: CONFIRMATIONS,
    })
    .execute();
}

const TO_COMPLETED = ['pending processing', 'processing confirming', 'confirming completed'];

/** Lets time and the chain pass the payment's expiry, and draws it. */
async function passExpiry(shop: EtherShop, expiresAt: number): Promise<void> {
  while (shop.app.clock() <= expiresAt) await shop.mine(Math.ceil((expiresAt + 1 - shop.app.clock()) / BLOCK_MS));
  await shop.follow();
  await runDue(shop.app, 100);
}

async function transfersOf(shop: EtherShop, paymentId: string) {
  return shop.app.db
    .selectFrom('transfers')
    .select(['transaction_hash', 'amount_units', 'state', 'block_height'])
    .where('payment_id', '=', paymentId)
    .orderBy('block_height')
    .execute();
}

describe('a transfer to an order’s address', () => {
  it('is seen in its block, confirmed at the wallet’s depth, and completes the order with its hash and events once', async () => {
    const shop = await etherShop();
    await shop.advance(5);
    const order = await shop.order();
    const hash = await shop.pay(order.address, OWED_WEI);
    expect(await shop.app.read(order.id)).toMatchObject({
      status: 'confirming',
      exception: 'none',
      transactionHash: null,
      received: { all: { seenUnits: OWED_WEI, minedUnits: OWED_WEI, confirmedUnits: 0n }, transactionHash: hash },
    });
    expect(await eventsOf(shop.app, order.id)).toEqual(['order.created', 'order.confirming']);

    await shop.advance(CONFIRMATIONS - 2);
    expect((await shop.app.read(order.id)).status).toBe('confirming');
    await shop.advance();
    const completed = await shop.app.read(order.id);
    expect(completed).toMatchObject({
      status: 'completed',
      exception: 'none',
      transactionHash: hash,
      completedAt: shop.app.clock(),
      completedOnUnits: OWED_WEI - OWED_WEI / 200n,
    });
    const sums = { seenUnits: OWED_WEI, minedUnits: OWED_WEI, confirmedUnits: OWED_WEI };
    expect(completed.received).toEqual({ all: sums, inTime: sums, transactionHash: hash });

    await shop.advance(20);
    expect(await eventsOf(shop.app, order.id)).toEqual(['order.created', 'order.confirming', 'order.completed']);
    expect(await transitionsOf(shop.app, order.id)).toEqual(TO_COMPLETED);
  });

  it('waits for the network’s 12 confirmations where the wallet sets none', async () => {
    const shop = await etherShop();
    await setWallet(shop.app, shop.app.projectId, undefined, null);
    const order = await shop.order();
    await shop.follow();
    await shop.pay(order.address, OWED_WEI);
    await shop.advance(10);
    expect((await shop.app.read(order.id)).status).toBe('confirming');
    await shop.advance();
    expect((await shop.app.read(order.id)).status).toBe('completed');
  });

  it('walks all the way in one block when one confirmation is enough', async () => {
    const shop = await etherShop();
    await setWallet(shop.app, shop.app.projectId, undefined, 1);
    const order = await shop.order();
    await shop.pay(order.address, OWED_WEI);
    expect(await transitionsOf(shop.app, order.id)).toEqual(TO_COMPLETED);
    expect(await eventsOf(shop.app, order.id)).toEqual(['order.created', 'order.confirming', 'order.completed']);
  });

  it('counts for nothing when its transaction was reverted', async () => {
    const shop = await etherShop();
    const order = await shop.order();
    // Code that reverts whatever is sent: PUSH1 0 PUSH1 0 REVERT.
    await shop.anvil.rpc('anvil_setCode', [order.address, '0x60006000fd']);
    await shop.pay(order.address, OWED_WEI);
    expect((await shop.app.read(order.id)).status).toBe('pending');
    expect(await transfersOf(shop, order.id)).toEqual([]);
  });

  it('is distinguished from others in the same block, to the same address and to another order’s', async () => {
    const shop = await etherShop();
    const [twice, once, never] = [await shop.order(), await shop.order(), await shop.order()];
    await shop.follow();
    await shop.anvil.transfer(twice.address, OWED_WEI / 4n);
    const decisive = await shop.anvil.transfer(twice.address, (OWED_WEI * 3n) / 4n);
    await shop.pay(once.address, OWED_WEI);
    expect(await shop.app.read(twice.id)).toMatchObject({
      status: 'confirming',
      exception: 'none',
      received: { all: { minedUnits: OWED_WEI } },
    });
    expect((await transfersOf(shop, twice.id)).map((row) => row.transaction_hash)).toContain(decisive);
    expect((await transfersOf(shop, twice.id)).length).toBe(2);
    expect(await shop.app.read(once.id)).toMatchObject({
      status: 'confirming',
      received: { all: { minedUnits: OWED_WEI } },
    });
    expect(await shop.app.read(never.id)).toMatchObject({ status: 'pending', lastSequence: 1 });
  });
});

describe('money that is not exactly what was asked for', () => {
  it('in part leaves the order pending and is published, and completes it once topped up', async () => {
    const shop = await etherShop();
    const order = await shop.order();
    await shop.pay(order.address, OWED_WEI / 2n);
    expect(await shop.app.read(order.id)).toMatchObject({ status: 'pending', exception: 'underpaid' });
    const hash = await shop.pay(order.address, OWED_WEI / 2n);
    expect(await shop.app.read(order.id)).toMatchObject({ status: 'confirming', exception: 'none' });
    await shop.advance(CONFIRMATIONS - 1);
    expect(await shop.app.read(order.id)).toMatchObject({ status: 'completed', transactionHash: hash });
    expect(await eventsOf(shop.app, order.id)).toEqual([
      'order.created',
      'order.exception',
      'order.confirming',
      'order.completed',
    ]);
  });

  it('in part until expiry fails the order as underpaid, and the merchant may accept it once it is confirmed', async () => {
    const shop = await etherShop();
    const order = await shop.order();
    await shop.pay(order.address, OWED_WEI / 2n);
    await passExpiry(shop, order.expiresAt);
    expect(await shop.app.read(order.id)).toMatchObject({ status: 'failed', failureReason: 'underpaid' });
    expect((await acceptPayment(shop.app, { id: order.id })).kind).toBe('changed');
    expect(await shop.app.read(order.id)).toMatchObject({ status: 'completed', exception: 'underpaid' });
  });

  it('within half a percent is enough', async () => {
    const shop = await etherShop();
    const [enough, short] = [await shop.order(), await shop.order()];
    await shop.pay(enough.address, OWED_WEI - OWED_WEI / 200n);
    await shop.pay(short.address, OWED_WEI - OWED_WEI / 200n - 1n);
    expect(await shop.app.read(enough.id)).toMatchObject({ status: 'confirming', exception: 'none' });
    expect(await shop.app.read(short.id)).toMatchObject({ status: 'pending', exception: 'underpaid' });
  });

  it('too much completes the order as overpaid, and all of it counts as received', async () => {
    const shop = await etherShop();
    const order = await shop.order();
    await shop.pay(order.address, OWED_WEI * 2n);
    await shop.advance(CONFIRMATIONS);
    expect(await shop.app.read(order.id)).toMatchObject({
      status: 'completed',
      exception: 'overpaid',
      received: { all: { confirmedUnits: OWED_WEI * 2n } },
    });
  });
});

describe('expiry', () => {
  it('is drawn once a block after it was taken in, and money in a later one is late and can be accepted', async () => {
    const shop = await etherShop();
    const order = await shop.order();
    await passExpiry(shop, order.expiresAt);
    expect((await shop.app.read(order.id)).status).toBe('expired');
    const hash = await shop.pay(order.address, OWED_WEI);
    expect(await shop.app.read(order.id)).toMatchObject({ status: 'expired', exception: 'paid_late' });
    expect(await acceptPayment(shop.app, { id: order.id })).toMatchObject({ reason: 'no_confirmed_money' });
    await shop.advance(CONFIRMATIONS - 1);
    expect((await acceptPayment(shop.app, { id: order.id })).kind).toBe('changed');
    expect(await shop.app.read(order.id)).toMatchObject({
      status: 'completed',
      exception: 'paid_late',
      transactionHash: hash,
    });
    expect(await eventsOf(shop.app, order.id)).toEqual([
      'order.created',
      'order.expired',
      'order.exception',
      'order.completed',
    ]);
  });

  it('waits for the cursor: money paid before it, while nobody watched, completes the order', async () => {
    // Nobody watches from here on. The transfer is in a block of its time.
    const { shop, order } = await paidUnfollowed();
    shop.app.clock.set(order.expiresAt + 60 * 60_000);
    expect(await runDue(shop.app, 100)).toBe(1);
    expect((await shop.app.read(order.id)).status).toBe('pending');
    await shop.advance(CONFIRMATIONS);
    await runDue(shop.app, 100);
    expect(await shop.app.read(order.id)).toMatchObject({ status: 'completed', exception: 'none' });
    expect(await eventsOf(shop.app, order.id)).toEqual(['order.created', 'order.confirming', 'order.completed']);
  });

  it('comes after a downtime in which nothing was paid', async () => {
    const shop = await etherShop();
    const order = await shop.order();
    await shop.follow();
    shop.app.clock.set(order.expiresAt + 60 * 60_000);
    await runDue(shop.app, 100);
    expect((await shop.app.read(order.id)).status).toBe('pending');
    await shop.advance();
    // A payment that is an hour overdue is looked at once a minute.
    shop.app.clock.advance(60_000);
    await runDue(shop.app, 100);
    expect((await shop.app.read(order.id)).status).toBe('expired');
    expect(await eventsOf(shop.app, order.id)).toEqual(['order.created', 'order.expired']);
  });

  it('never takes an order whose money confirms meanwhile', async () => {
    const shop = await etherShop();
    await setWallet(shop.app, shop.app.projectId, undefined, 300);
    const order = await shop.order();
    await shop.pay(order.address, OWED_WEI);
    await passExpiry(shop, order.expiresAt);
    expect((await shop.app.read(order.id)).status).toBe('confirming');
  });
});

describe('an order whose token was changed', () => {
  it('is paid by the quote that is paid in full, though a part came to another one', async () => {
    const shop = await etherShop();
    const order = await shop.order();
    const first = order.quote;
    await shop.pay(order.address, OWED_WEI / 50n);
    // A customer chose another coin on the page before that part was seen.
    const tether = {
      asset: 'USDT',
      network: 'ethereum',
      decimals: 6,
      owedUnits: 30_000_000n,
      toleranceUnits: 0n,
      address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    } as const;
    await addQuote(shop, order.id, tether);
    const pays = async (amountUnits: bigint, index: number): Promise<void> => {
      const now = shop.app.clock();
      const block = { height: 1, hash: '0x1', parentHash: '0x0', timeMs: now, transfers: [] };
      const transfer = {
        transactionHash: `0x${'7'.repeat(64)}`,
        index,
        address: tether.address.toLowerCase(),
        asset: 'USDT',
        amount: amountUnits,
      } as const;
      await inTransaction(shop.app, async (trx) => {
        await saveTransfers(trx, arrival('ethereum', block, transfer, order.id, now));
        await observeMoney(shop.app, trx, [order.id], now);
      });
    };
    await pays(29_999_999n, 0);
    expect(await shop.app.read(order.id)).toMatchObject({ status: 'pending', exception: 'underpaid', quote: first });
    await pays(1n, 1);
    expect(await shop.app.read(order.id)).toMatchObject({
      status: 'confirming',
      exception: 'none',
      quote: tether,
      received: { inTime: { seenUnits: 30_000_000n } },
    });
  });

  it('goes back to the earlier quote when the money comes to its address', async () => {
    const shop = await etherShop();
    const { first, second } = await quotedTwice(shop);
    expect(second.address).not.toBe(first.address);
    await shop.follow();
    await shop.pay(first.address, OWED_WEI);
    expect(await shop.app.read(first.id)).toMatchObject({ status: 'confirming', quote: first.quote });
    await shop.advance(CONFIRMATIONS);
    expect(await shop.app.read(first.id)).toMatchObject({ status: 'completed', exception: 'none' });
  });

  it('keeps the new quote when the money comes there, and adds up what comes to both', async () => {
    const shop = await etherShop();
    const { first, second } = await quotedTwice(shop);
    await shop.pay(second.address, OWED_WEI / 2n);
    await shop.pay(first.address, OWED_WEI / 2n);
    expect(await shop.app.read(first.id)).toMatchObject({
      status: 'confirming',
      exception: 'none',
      quote: second,
    });
  });
});
