import { describe, expect, it } from 'vitest';
import { payerOf } from '../../../test/e2e/live-utxo-nodes.fixture.ts';
import { utxoNodeKindsFor } from '../../../test/litecoind.ts';
import { COIN, CONFIRMATIONS, refundShop, nodeForTests, type RefundShop } from './refund-psbt.fixture.ts';

/** How many are paid in rounds of 20: three times what a wallet looks ahead, at night many more. */
const REFUNDS = Number(process.env['REFUNDS'] ?? 60);

/** The numbers of a wallet's first change addresses. */
function numbersOf({ wallet }: RefundShop, count: number): ReadonlyMap<string | null, number> {
  return new Map(Array.from({ length: count }, (_, index) => [wallet.changeAt(index)?.address ?? '', index]));
}

describe.each(utxoNodeKindsFor(import.meta.url))('the change of a refund, on a real %s node', (kind) => {
  const node = nodeForTests({ kind });

  it('goes to the first numbers of the change chain, whatever the number of the order', async () => {
    const shop = await refundShop(node());
    const numbers = numbersOf(shop, 30);
    for (let unpaid = 0; unpaid < 25; unpaid += 1) await shop.order();
    for (const expected of [0, 1, 2]) {
      const refund = await shop.refund(await shop.paid(COIN), COIN / 4n);
      expect(numbers.get((await shop.psbtOf(refund)).changeAddress)).toBe(expected);
      await shop.pay(refund);
      await shop.mine(CONFIRMATIONS);
    }
  });

  it('passes over what the wallet itself used, before the first refund was shown and after, and comes back with a reorganisation', async () => {
    const shop = await refundShop(node());
    const numbers = numbersOf(shop, 60);
    const spendTo = async (index: number): Promise<void> => {
      await payerOf(node()).pay([[shop.wallet.changeAt(index)?.address ?? '', COIN / 10n]]);
      await shop.mine(1);
    };
    await spendTo(0);
    await spendTo(2);
    // At the limit of a wallet's scan, and beyond it.
    await spendTo(22);
    await spendTo(42);
    const payment = await shop.paid(COIN);
    const refunds = [await shop.refund(payment, COIN / 10n), await shop.refund(payment, COIN / 10n)] as const;
    expect(numbers.get((await shop.psbtOf(refunds[0])).changeAddress)).toBe(1);
    expect(numbers.get((await shop.psbtOf(refunds[1])).changeAddress)).toBe(3);
    await spendTo(3);
    const next = await shop.psbtOf(refunds[1]);
    expect(numbers.get(next.changeAddress)).toBe(4);
    const [{ hash }] = [await payerOf(node()).pay([[shop.wallet.changeAt(5)?.address ?? '', COIN / 10n]])];
    await shop.mine(1);
    const seen = () => shop.app.db.selectFrom('change_outputs').select('transaction_hash').execute();
    expect(await seen()).toContainEqual({ transaction_hash: hash });
    await payerOf(node()).reorganise(1);
    await shop.follow();
    expect(await seen()).not.toContainEqual({ transaction_hash: hash });
    await shop.mine(1);
    expect(await seen()).toContainEqual({ transaction_hash: hash });
  });

  it('of refunds that are only shown stays within a wallet’s gap limit', async () => {
    const shop = await refundShop(node());
    const numbers = numbersOf(shop, 40);
    const payment = await shop.paid(COIN);
    const shown: number[] = [];
    for (let count = 0; count < 25; count += 1) {
      const refund = await shop.refund(payment, COIN / 100n);
      shown.push(numbers.get((await shop.psbtOf(refund)).changeAddress) ?? -1);
    }
    expect(shown.slice(0, 19)).toEqual(Array.from({ length: 19 }, (_, index) => index));
    expect(shown.slice(19)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it(`of ${REFUNDS} refunds is found by a wallet that looks 20 addresses ahead`, { timeout: 600_000 }, async () => {
    const shop = await refundShop(node());
    const [rounds, atOnce] = [Math.ceil(REFUNDS / 20), 20];
    // A coin for each refund of a round, so that none has to wait for the change of another.
    const orders = await Promise.all(Array.from({ length: atOnce }, () => shop.order()));
    await payerOf(node()).pay(orders.map(({ address }) => [address, COIN / 2n] as const));
    await shop.mine(CONFIRMATIONS);
    const customer = await node().newAddress();
    for (let round = 0; round < rounds; round += 1) {
      const refunds = [];
      for (const order of orders) refunds.push(await shop.refund(order, 1_000_000n + BigInt(round), customer));
      for (const refund of refunds) await shop.pay(refund);
      await shop.mine(CONFIRMATIONS);
    }
    const { completed } = await shop.app.db
      .selectFrom('refunds')
      .select(({ fn }) => fn.countAll<bigint>().as('completed'))
      .where('status', '=', 'completed')
      .executeTakeFirstOrThrow();
    expect(completed).toBe(BigInt(rounds * atOnce));
    // All that the merchant's wallet can see by itself: both chains, each as long as its gaps are below 20.
    const found = await scan(shop);
    const spent = await shop.app.db.selectFrom('refunds').select('units').execute();
    const all = BigInt(atOnce) * (COIN / 2n) - spent.reduce((sum, { units }) => sum + units, 0n);
    // The missing units went to miners: far less than one refund's change.
    expect(all - found).toBeLessThan(BigInt(rounds * atOnce) * 30_000n);
    expect(all - found).toBeGreaterThan(0n);
  });

  /**
   * The money found by a wallet that scans 20 addresses beyond the last one that was ever paid, on both of its chains.
   */
  async function scan({ wallet }: RefundShop): Promise<bigint> {
    const paid = await paidAddresses();
    const own: string[] = [];
    for (const addressAt of [
      (index: number) => wallet.addressAt(index),
      (index: number) => wallet.changeAt(index)?.address ?? '',
    ]) {
      for (let index = 0, last = -1; index <= last + 20; index += 1) {
        const address = addressAt(index);
        if (!paid.has(address)) continue;
        own.push(address);
        last = index;
      }
    }
    const objects = own.map((address) => `addr(${address})`);
    const answer = await node().rpc('scantxoutset', ['start', objects]);
    return BigInt(Math.round(Number(Reflect.get(Object(answer), 'total_amount')) * 1e8));
  }

  /** Every address that a block of the chain has paid. */
  async function paidAddresses(): Promise<ReadonlySet<string>> {
    const paid = new Set<string>();
    const top = await payerOf(node()).height();
    for (let height = 1; height <= top; height += 1) {
      const block = JSON.stringify(await node().rpc('getblock', [await node().rpc('getblockhash', [height]), 2]));
      for (const [address] of block.matchAll(/(?:bcrt|rltc)1[a-z0-9]+/g)) paid.add(address);
    }
    return paid;
  }
});
