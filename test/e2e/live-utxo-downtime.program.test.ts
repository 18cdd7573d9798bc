import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { utxoNodeKindsFor } from '../litecoind.ts';
import {
  CONFIRMATIONS,
  openGatedShop,
  OWED,
  OWED_COINS,
  POLL,
  type LiveOrder,
  type UtxoShop,
} from './live-utxo.fixture.ts';
import { type Gate, type Output } from './live-utxo-nodes.fixture.ts';

const PAID = ['order.created', 'order.confirming', 'order.completed'];
/** Longer than the leases of what a killed worker was at. */
const LEASES_MS = 61_000;
const LONG_LIVED = { expires_in: 86_400 };

describe.each(utxoNodeKindsFor(import.meta.url))('catching up with a real %s node', (kind) => {
  let shop: UtxoShop;
  let gate: Gate;
  beforeAll(async () => {
    ({ shop, gate } = await openGatedShop({ kind, where: 'process' }));
  });
  afterAll(async () => {
    await shop?.close();
    await gate?.close();
  });

  /** Orders made side by side. */
  const orders = (count: number): Promise<readonly LiveOrder[]> =>
    Promise.all(Array.from({ length: count }, () => shop.order(LONG_LIVED)));

  const owed = ({ address }: LiveOrder): Output => [address, OWED];

  async function allComplete(paid: readonly LiveOrder[]): Promise<void> {
    for (const { id } of paid) {
      await expect.poll(() => shop.heard(id), POLL).toEqual(PAID);
      await shop.becomes(id, { status: 'completed', exception: 'none', amount_received: OWED_COINS });
    }
  }

  it('500 payments in one block all complete, each with its own events once', async () => {
    const paid = await orders(500);
    for (let first = 0; first < paid.length; first += 125) await shop.pay(paid.slice(first, first + 125).map(owed));
    await shop.node.mine(1);
    await shop.becomes(paid[499]?.id ?? '', { confirmations: 1 });
    await shop.node.mine(CONFIRMATIONS - 1);
    await allComplete(paid);
    expect(new Set(paid.map(({ address }) => address)).size).toBe(500);
  });

  it('payments in 50 blocks that were mined while the service was down are all taken in', async () => {
    const paid = await orders(50);
    await shop.stop();
    for (const order of paid) {
      await shop.pay([owed(order)]);
      await shop.node.mine(1);
    }
    await shop.node.mine(CONFIRMATIONS - 1);
    await shop.start();
    await expect.poll(() => shop.heard(paid[0]?.id ?? ''), POLL).toEqual(PAID);
    await allComplete(paid);
  });

  it('killed again and again while it catches up, the service loses no payment and takes in none twice', async () => {
    const BLOCKS = 330;
    const paid = await orders(30);
    await shop.stop();
    for (const order of paid) {
      await shop.pay([owed(order)]);
      await shop.node.mine(BLOCKS / paid.length);
    }
    // A hundred blocks are saved at once: these points are before the first save, during it, and after it.
    for (const blocks of [3, 100, 130, 100]) {
      gate.allowBlocks(blocks);
      await shop.start();
      await expect.poll(() => gate.blocksGiven(), { ...POLL, interval: 1 }).toBeGreaterThanOrEqual(blocks);
      await shop.kill();
      await shop.advance(LEASES_MS);
    }
    gate.allowBlocks(Infinity);
    await shop.start();
    await shop.becomes(paid.at(-1)?.id ?? '', { status: 'completed' });
    await shop.kill();
    await shop.advance(LEASES_MS);
    await shop.start();
    await allComplete(paid);
    // One more payment, to show that nothing late is still to come.
    const [last] = await orders(1);
    if (last === undefined) throw new Error('there is no order');
    await shop.pay([owed(last)]);
    await shop.node.mine(CONFIRMATIONS);
    await allComplete([...paid, last]);
  });
});
