import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startUtxoNode, utxoNodeKindsFor, type UtxoNode } from '../litecoind.ts';
import {
  CONFIRMATIONS,
  openGatedShop,
  OWED,
  OWED_COINS,
  POLL,
  type LiveOrder,
  type UtxoShop,
} from './live-utxo.fixture.ts';
import { copyBlocks, payerOf, type Gate } from './live-utxo-nodes.fixture.ts';

const PAID = ['order.created', 'order.confirming', 'order.completed'];
const MINUTE_MS = 60_000;
const UNPAID = { status: 'pending', amount_received: 0, confirmations: 0, exception: 'none' };

describe.each(utxoNodeKindsFor(import.meta.url))('problems of the one %s node', (kind) => {
  let shop: UtxoShop;
  let gate: Gate;
  beforeAll(async () => {
    ({ shop, gate } = await openGatedShop({ kind, where: 'process', nodeOptions: ['-walletbroadcast=0'] }));
  });
  afterAll(async () => {
    await shop?.close();
    await gate?.close();
  });

  afterEach(() => gate?.leadTo(shop.node));

  async function seenOrder(): Promise<LiveOrder & { readonly hash: string }> {
    const order = await shop.order();
    const { hash } = await shop.pay([[order.address, OWED]]);
    await shop.becomes(order.id, { status: 'confirming', confirmations: 0 });
    return { ...order, hash };
  }

  async function completes({ id }: LiveOrder): Promise<void> {
    await shop.becomes(id, { status: 'completed', exception: 'none', amount_received: OWED_COINS });
    await expect.poll(() => shop.heard(id), POLL).toEqual(PAID);
  }

  const checkOf = async (): Promise<string> => {
    const answer = await fetch(`${shop.baseUrl}/readyz`);
    const body: unknown = await answer.json();
    return String(Object(Object(body).checks)[kind]);
  };

  /** A worker that has lost its lease for a moment asks its nodes how they are, as it does from time to time. */
  const askNodesSoon = (): Promise<void> => shop.advance(10_000);

  /** Soft, so that the test goes on to see what becomes of the money. */
  async function isTold(problem: RegExp): Promise<void> {
    await askNodesSoon();
    await vi.waitUntil(async () => problem.test(await checkOf()), POLL).catch(() => {});
    expect.soft(await checkOf()).toMatch(problem);
    const states = await shop.command('network status');
    expect.soft(states).toMatchObject([{ network: kind, healthy: false, problem: expect.stringMatching(problem) }]);
    expect.soft(shop.log().replaceAll(String.raw`\"`, '"')).toMatch(problem);
  }

  async function isWell(): Promise<void> {
    gate.leadTo(shop.node);
    await askNodesSoon();
    await expect.poll(checkOf, POLL).toBe('ok');
  }

  it('a node that is restarted keeps what waits, and so does the order', async () => {
    const order = await seenOrder();
    // These calls write files that a node also writes when it is stopped, which takes long.
    for (const method of ['savemempool', 'gettxoutsetinfo']) await shop.node.rpc(method);
    await shop.node.kill();
    await expect.poll(() => shop.log(), POLL).toMatch(/No \w+ node answered/);
    await shop.node.restart();
    // A node answers before it has loaded its mempool; blocks mined until then leave those transactions out.
    await expect.poll(() => shop.node.rpc('getrawmempool'), POLL).toContain(order.hash);
    await shop.node.mine(CONFIRMATIONS);
    await completes(order);
  });

  it('a node that comes back with an empty mempool takes the order back to pending, until it is sent again', async () => {
    const paid = await shop.order();
    const signed = await shop.pay([[paid.address, OWED]]);
    await shop.becomes(paid.id, { status: 'confirming', confirmations: 0 });
    // This makes the node write its blocks to disk; its mempool is lost when it is killed.
    await shop.node.rpc('gettxoutsetinfo');
    await shop.node.kill();
    await shop.node.restart();
    await expect.poll(() => shop.read(paid.id), POLL).toMatchObject(UNPAID);
    await shop.broadcast(signed);
    await shop.becomes(paid.id, { status: 'confirming', amount_received: OWED_COINS });
    await shop.node.mine(CONFIRMATIONS);
    await completes(paid);
  });

  it('a node that is away is reported, and payments made meanwhile are caught up with', async () => {
    const order = await shop.order();
    gate.leadTo(null);
    await shop.pay([[order.address, OWED]]);
    await shop.node.mine(CONFIRMATIONS - 1);
    await isTold(/no (\w+ )?node answer/i);
    expect(await shop.read(order.id)).toMatchObject(UNPAID);
    await isWell();
    await shop.becomes(order.id, { status: 'confirming', confirmations: CONFIRMATIONS - 1 });
    await shop.node.mine(1);
    await completes(order);
  });

  /** A node of its own chain, which ends with the test. */
  async function otherNode(chain: 'main' | 'regtest' = 'regtest'): Promise<UtxoNode> {
    const other = await startUtxoNode({ kind, chain });
    onTestFinished(() => other.stop());
    return other;
  }

  /** Leads the service to another node, and waits until that is told, while an order is paid in time on its own. */
  async function paidDuringSwap(other: UtxoNode, problem: RegExp): Promise<LiveOrder> {
    const order = await shop.order({ expires_in: 60 });
    gate.leadTo(other);
    await shop.pay([[order.address, OWED]]);
    await shop.node.mine(CONFIRMATIONS);
    await shop.advance(MINUTE_MS);
    await isTold(problem);
    return order;
  }

  const setting = `${kind.toUpperCase()}_RPC_URL`;

  it('on a node of another network’s chain nothing is seen, completed or expired, and the way out is named', async () => {
    const problem = new RegExp(`is on ${kind}'s chain "main".* Set ${setting}`);
    const order = await paidDuringSwap(await otherNode('main'), problem);
    expect(await shop.read(order.id)).toMatchObject(UNPAID);
    await isWell();
    await completes(order);
  });

  it('on a node of another chain with the same first block nothing is seen, completed or expired, and the way out is named', async () => {
    const other = await otherNode();
    await other.mine(150);
    const fooled = await shop.order();
    await payerOf(other).pay([[fooled.address, OWED]]);
    await other.mine(CONFIRMATIONS + 100);
    const order = await paidDuringSwap(other, new RegExp(`a different chain.* ${setting}`));
    for (const { id } of [order, fooled]) expect(await shop.read(id)).toMatchObject(UNPAID);
    await isWell();
    await completes(order);
    expect(await shop.read(fooled.id)).toMatchObject(UNPAID);
  });

  it('a node that has only begun to load the chain is reported as behind, and nothing is rolled back or expired', async () => {
    const completed = await seenOrder();
    await shop.node.mine(CONFIRMATIONS);
    await completes(completed);
    const order = await paidDuringSwap(await otherNode(), /behind/);
    expect(await shop.read(order.id)).toMatchObject(UNPAID);
    await isWell();
    await completes(order);
    await completes(completed);
  });

  it('another node of the same chain may take its place', async () => {
    const other = await otherNode();
    const order = await seenOrder();
    await shop.node.mine(1);
    await shop.becomes(order.id, { confirmations: 1 });
    await copyBlocks(shop.node, other);
    gate.leadTo(other);
    await payerOf(other).mineOnly(CONFIRMATIONS - 1);
    await completes(order);
    await expect.poll(checkOf, POLL).toBe('ok');
  });
});
