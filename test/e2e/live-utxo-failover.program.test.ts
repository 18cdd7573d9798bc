import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { startUtxoNode, utxoNodeKindsFor, type UtxoNode } from '../litecoind.ts';
import { CONFIRMATIONS, openShop, OWED, OWED_COINS, POLL, type LiveOrder, type UtxoShop } from './live-utxo.fixture.ts';
import { copyBlocks, startGate, type Gate } from './live-utxo-nodes.fixture.ts';

const PAID = ['order.created', 'order.confirming', 'order.completed'];

describe.each(utxoNodeKindsFor(import.meta.url))('two URLs of real %s nodes', (kind) => {
  let shop: UtxoShop;
  let second: UtxoNode;
  let gates: readonly [first: Gate, second: Gate];
  beforeAll(async () => {
    second = await startUtxoNode({ kind });
    shop = await openShop({
      where: 'process',
      kind,
      nodeOptions: ['-walletbroadcast=0'],
      urls: async (first) => {
        gates = [await startGate(first), await startGate(second)];
        return gates.map(({ url }) => url).join(',');
      },
    });
  });
  afterAll(async () => {
    await shop?.close();
    await Promise.all([second?.stop(), ...(gates ?? []).map((gate) => gate.close())]);
  });
  beforeEach(async () => {
    gates[0].leadTo(shop.node);
    gates[1].leadTo(second);
    await copyBlocks(shop.node, second);
  });

  /** The nodes talk to nobody: what one has, the other is given. */
  async function mineOnBoth(count: number): Promise<void> {
    await shop.node.mine(count);
    await copyBlocks(shop.node, second);
  }

  async function payOnBoth(): Promise<LiveOrder & { readonly hash: string }> {
    const order = await shop.order();
    const { hash, hex } = await shop.pay([[order.address, OWED]]);
    await second.rpc('sendrawtransaction', [hex, 0]);
    return { ...order, hash };
  }

  async function completes({ id, hash }: LiveOrder & { readonly hash: string }): Promise<void> {
    await shop.becomes(id, {
      status: 'completed',
      exception: 'none',
      amount_received: OWED_COINS,
      transaction_hash: hash,
    });
    await expect.poll(() => shop.heard(id), POLL).toEqual(PAID);
  }

  /** The known state of each URL; a worker that has lost its lease for a moment asks them again. */
  async function expectNodes(first: object, other: object): Promise<void> {
    await shop.advance(10_000);
    const nodes = [
      { url: gates[0].url.slice(0, -1), ...first },
      { url: gates[1].url.slice(0, -1), ...other },
    ];
    await expect
      .poll(() => shop.command('network status'), { ...POLL, interval: 300 })
      .toMatchObject([
        { network: kind, nodes: expect.arrayContaining(nodes.map((node) => expect.objectContaining(node))) },
      ]);
  }

  const well = { last_error: null };

  it('when the first node is away, the other one shows what waits and what is mined', async () => {
    const before = await payOnBoth();
    await shop.becomes(before.id, { status: 'confirming' });
    gates[0].leadTo(null);
    const after = await payOnBoth();
    await shop.becomes(after.id, { status: 'confirming', confirmations: 0 });
    await mineOnBoth(CONFIRMATIONS);
    await completes(before);
    await completes(after);
    await expectNodes({ height: null, last_error: expect.stringMatching(/.+/) }, well);
    const ready = await fetch(`${shop.baseUrl}/readyz`);
    expect(ready.status).toBe(200);
    expect(await ready.json()).toMatchObject({
      status: 'degraded',
      checks: { [kind]: expect.stringContaining(gates[0].url.slice(0, -1)) },
    });
  });

  it('a first node on another chain is not believed, and the other one is used', async () => {
    const other = await startUtxoNode({ kind, chain: 'main' });
    onTestFinished(() => other.stop());
    gates[0].leadTo(null);
    await expectNodes({ height: null }, well);
    gates[0].leadTo(other);
    const order = await payOnBoth();
    await mineOnBoth(CONFIRMATIONS);
    await completes(order);
    await expectNodes({ height: null, last_error: expect.stringContaining('is on ') }, well);
  });

  it('when the only node left is behind, nothing is taken back, and it is followed once it has caught up', async () => {
    gates[1].leadTo(null);
    const order = await payOnBoth();
    await shop.becomes(order.id, { status: 'confirming' });
    await shop.node.mine(CONFIRMATIONS);
    await completes(order);
    gates[1].leadTo(second);
    const next = await payOnBoth();
    await shop.node.mine(1);
    await shop.becomes(next.id, { confirmations: 1 });
    gates[0].leadTo(null);
    // Seen on the node that is behind, so that node has been asked by then.
    const seen = await payOnBoth();
    await shop.becomes(seen.id, { status: 'confirming' });
    expect(await shop.read(next.id)).toMatchObject({ status: 'confirming', confirmations: 1 });
    await completes(order);
    await mineOnBoth(CONFIRMATIONS);
    await completes(next);
    await completes(seen);
  });

  it('a node that lags is reported and asked last', async () => {
    await expectNodes(well, well);
    const order = await payOnBoth();
    await shop.becomes(order.id, { status: 'confirming' });
    await shop.node.mine(5);
    await expectNodes(well, { last_error: expect.stringContaining('lags 5 blocks') });
    await completes(order);
    await copyBlocks(shop.node, second);
    await expectNodes(well, well);
  });

  it('when the two disagree about the newest block, the longer chain decides', async () => {
    gates[1].leadTo(null);
    const order = await payOnBoth();
    await shop.node.mine(1);
    await shop.becomes(order.id, { confirmations: 1 });
    // The other node's chain is longer, forks off at the block before, and holds the transaction too.
    const address = await second.newAddress();
    await second.rpc('generateblock', [address, [order.hash]]);
    await second.rpc('generateblock', [address, []]);
    gates[1].leadTo(second);
    gates[0].leadTo(null);
    await shop.becomes(order.id, { status: 'confirming', confirmations: 2 });
    await second.mine(1);
    await expect.poll(() => shop.read(order.id), POLL).toMatchObject({ status: 'completed', exception: 'none' });
    // The first node receives the longer chain and switches to it.
    await copyChain(second, shop.node);
  });

  async function copyChain(from: UtxoNode, to: UtxoNode): Promise<void> {
    const height = Number(await from.rpc('getblockcount'));
    for (let at = height - CONFIRMATIONS + 1; at <= height; at += 1) {
      await to.rpc('submitblock', [await from.rpc('getblock', [await from.rpc('getblockhash', [at]), 0])]);
    }
    expect(await to.rpc('getbestblockhash')).toBe(await from.rpc('getbestblockhash'));
  }
});
