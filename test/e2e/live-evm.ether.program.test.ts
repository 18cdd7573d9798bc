import { parseEther } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { account, xpubOf } from '../../src/app/chains/follow-chain.fixture.ts';
import { ANVIL_MNEMONIC, startAnvil, type Anvil } from '../anvil.ts';
import { inOneBlock, liveService, mined, owedUnits, SOON, type LiveService, type Shop } from './live-evm.fixture.ts';

let anvil: Anvil;
let service: LiveService;
let shop: Shop;
/** A merchant who set a tolerance, and no confirmations. */
let tolerant: Shop;

beforeAll(async () => {
  anvil = await startAnvil();
  service = await liveService({ ETHEREUM_RPC_URL: anvil.url });
  await service.start();
  [shop, tolerant] = await Promise.all([
    service.shop(`--network ethereum --confirmations 2 --xpub ${xpubOf(account(1))}`),
    service.shop(`--network ethereum --tolerance 2 --xpub ${xpubOf(account(2))}`),
  ]);
});

afterAll(async () => {
  await service?.close();
  await anvil?.stop();
});

describe('ether to an address of the merchant’s xpub', () => {
  it('is seen, counts confirmations and completes the order, and the webhooks say so', async () => {
    const order = await shop.order();
    expect(order).toMatchObject({
      status: 'pending',
      crypto_amount: 0.01,
      network: 'ethereum',
      amount_received: 0,
      confirmations: 0,
      confirmations_required: 2,
      transaction_hash: null,
      exception: 'none',
    });
    const hash = await mined(anvil, anvil.transfer(order.address, parseEther('0.01')));
    await shop.becomes(order, {
      status: 'confirming',
      amount_received: 0.01,
      confirmations: 1,
      transaction_hash: null,
      completed_at: null,
    });
    await anvil.mine(1);
    await shop.becomes(order, {
      status: 'completed',
      amount_received: 0.01,
      confirmations: 2,
      transaction_hash: hash,
      exception: 'none',
    });
    await expect.poll(() => shop.told(order), SOON).toEqual(['order.created', 'order.confirming', 'order.completed']);
    const [completed] = shop.events(({ id, status }) => id === order.id && status === 'completed');
    expect(completed).toMatchObject({ type: 'order.completed', data: { transaction_hash: hash, network: 'ethereum' } });
  });

  it('cannot be made up on the payment page, as a test payment’s can', async () => {
    const order = await shop.order();
    const page = `${service.url}/pay/${order.id}`;
    expect(await (await fetch(page)).text()).not.toContain('/simulate');
    const answer = await fetch(`${page}/simulate`, { method: 'POST', body: new URLSearchParams({ outcome: 'paid' }) });
    expect(answer.status).toBe(400);
    expect(await shop.read(order)).toMatchObject({ status: 'pending', amount_received: 0 });
  });

  it('completes also an order that was paid while the service was down, however often it was started', async () => {
    const order = await shop.order();
    let hash = '';
    await service.restart(async () => {
      hash = await mined(anvil, anvil.transfer(order.address, parseEther('0.01')));
      await anvil.mine(3);
    });
    await shop.becomes(order, { status: 'completed', transaction_hash: hash });
    await service.restart(async () => {});
    await anvil.mine(1);
    await service.followed(anvil);
    await expect.poll(() => shop.told(order), SOON).toEqual(['order.created', 'order.confirming', 'order.completed']);
  });

  it('in two parts completes the order with the second, and asks for the rest between', async () => {
    const order = await shop.order();
    await mined(anvil, anvil.transfer(order.address, parseEther('0.004')));
    await shop.becomes(order, {
      status: 'pending',
      amount_received: 0.004,
      exception: 'underpaid',
    });
    const page = await (await fetch(String(order['payment_url']))).text();
    expect(page).toContain('0.006');
    const hash = await mined(anvil, anvil.transfer(order.address, parseEther('0.006')));
    await shop.becomes(order, { status: 'confirming', exception: 'none' });
    await anvil.mine(1);
    await shop.becomes(order, { status: 'completed', transaction_hash: hash });
    await expect
      .poll(() => shop.told(order), SOON)
      .toEqual(['order.created', 'order.exception', 'order.confirming', 'order.completed']);
  });

  it('that is only a part fails the order when its time is up, and the merchant may accept it', async () => {
    const order = await shop.order();
    await mined(anvil, anvil.transfer(order.address, parseEther('0.004')));
    await shop.becomes(order, { exception: 'underpaid' });
    await service.endTime(order, anvil);
    await shop.becomes(order, { status: 'failed', failure_reason: 'underpaid' });
    const accepted = await shop.call(`/v1/orders/${order.id}/accept`, {});
    expect(accepted).toMatchObject({ status: 200, body: { status: 'completed', exception: 'underpaid' } });
    await expect.poll(() => shop.told(order), SOON).toContain('order.completed');
  });

  it('of more than owed completes the order as overpaid', async () => {
    const order = await shop.order();
    await mined(anvil, anvil.transfer(order.address, parseEther('0.0125')));
    await anvil.mine(1);
    await shop.becomes(order, {
      status: 'completed',
      exception: 'overpaid',
      amount_received: 0.0125,
    });
    await expect.poll(() => shop.told(order), SOON).toContain('order.exception');
  });

  it('that comes after expiry is recorded as late, and completes the order when the merchant accepts it', async () => {
    const order = await shop.order();
    await service.endTime(order, anvil);
    await shop.becomes(order, { status: 'expired' });
    const hash = await mined(anvil, anvil.transfer(order.address, parseEther('0.01')));
    await shop.becomes(order, {
      status: 'expired',
      exception: 'paid_late',
      amount_received: 0.01,
    });
    const early = await shop.call(`/v1/orders/${order.id}/accept`, {});
    expect(early).toMatchObject({ status: 400, body: { error: { type: 'invalid_request_error' } } });
    await anvil.mine(1);
    await service.followed(anvil);
    const accepted = await shop.call(`/v1/orders/${order.id}/accept`, {});
    expect(accepted).toMatchObject({ status: 200, body: { status: 'completed', transaction_hash: hash } });
    await expect
      .poll(() => shop.told(order), SOON)
      .toEqual(['order.created', 'order.expired', 'order.exception', 'order.completed']);
  });

  it('in several transfers of one block adds up', async () => {
    const order = await shop.order();
    const sent = await inOneBlock(anvil, async () => [
      await anvil.transfer(order.address, parseEther('0.003')),
      await anvil.transfer(order.address, parseEther('0.007')),
    ]);
    await anvil.mine(1);
    await shop.becomes(order, { status: 'completed', exception: 'none' });
    expect(sent).toContain((await shop.read(order))['transaction_hash']);
    const { transfers } = await shop.show(order);
    expect(transfers).toMatchObject([{ state: 'confirmed' }, { state: 'confirmed' }]);
    expect(Object(transfers)[0].block_height).toBe(Object(transfers)[1].block_height);
  });

  it('of nothing counts for nothing', async () => {
    const order = await shop.order();
    await mined(anvil, anvil.transfer(order.address, 0n));
    await service.followed(anvil);
    expect(await shop.show(order)).toMatchObject({ status: 'pending', transfers: [] });
  });
});

describe('a merchant’s settings', () => {
  it('tolerance decides what counts as paid in full', async () => {
    const [enough, little] = [await tolerant.order(), await tolerant.order()];
    await mined(anvil, anvil.transfer(enough.address, (owedUnits(enough) * 98n) / 100n));
    await mined(anvil, anvil.transfer(little.address, (owedUnits(little) * 979n) / 1000n));
    await service.followed(anvil);
    expect(await tolerant.read(enough)).toMatchObject({ status: 'confirming', exception: 'none' });
    expect(await tolerant.read(little)).toMatchObject({ status: 'pending', exception: 'underpaid' });
  });

  it('confirmations grow with the amount where the merchant set none', async () => {
    const [small, middle, large] = [
      await tolerant.order(),
      await tolerant.order({ amount: 1_000 }),
      await tolerant.order({ amount: 100_000 }),
    ];
    expect([small, middle, large].map((order) => order['confirmations_required'])).toEqual([12, 32, 64]);
    await inOneBlock(anvil, async () => {
      for (const order of [small, middle]) await anvil.transfer(order.address, owedUnits(order));
    });
    await anvil.mine(10);
    await service.followed(anvil);
    expect(await tolerant.read(small)).toMatchObject({ status: 'confirming', confirmations: 11 });
    await anvil.mine(1);
    await tolerant.becomes(small, { status: 'completed', confirmations: 12 });
    expect(await tolerant.read(middle)).toMatchObject({ status: 'confirming', confirmations: 12 });
    await anvil.mine(20);
    await tolerant.becomes(middle, { status: 'completed', confirmations: 32 });
  });

  it('a spread makes the customer pay more, and an order that was quoted before keeps its amount', async () => {
    const before = await tolerant.order();
    await service.command(`project set ${tolerant.projectId} --spread 1`);
    // Each ether counts for one percent less: 30 / 2970, rounded up to eight decimals.
    expect(await tolerant.order()).toMatchObject({ crypto_amount: 0.01010102 });
    expect(await tolerant.read(before)).toMatchObject({ crypto_amount: 0.01 });
  });
});

describe('what the operator sees', () => {
  it('wallet check lists the addresses that payments get, and marks those that were handed out', async () => {
    const merchant = await service.shop(`--network ethereum --xpub ${xpubOf(account(5))}`);
    const first = await merchant.order();
    const derived = [0, 1, 2].map((addressIndex) =>
      mnemonicToAccount(ANVIL_MNEMONIC, { accountIndex: 5, addressIndex }),
    );
    const checked = await service.command(`wallet check --project ${merchant.projectId} --network ethereum --count 3`);
    expect(checked).toEqual({
      network: 'ethereum',
      next_index: 1,
      addresses: derived.map(({ address }, index) => ({ index, address, used: index === 0 })),
    });
    expect([first.address, (await merchant.order()).address]).toEqual([derived[0]?.address, derived[1]?.address]);
  });

  it('network status and the metrics say how far the chain was read', async () => {
    await service.followed(anvil);
    const height = Number(await anvil.rpc('eth_blockNumber'));
    expect(await service.command('network status')).toMatchObject([
      {
        network: 'ethereum',
        healthy: true,
        problem: null,
        cursor: height,
        nodes: [{ url: anvil.url, last_error: null }],
      },
    ]);
    expect(await service.gauge('cointill_network_healthy', 'ethereum')).toBe(1);
    expect(await service.gauge('cointill_network_lag_blocks', 'ethereum')).toBe(0);
    const ready = await fetch(`${service.url}/readyz`);
    expect(await ready.json()).toMatchObject({ status: 'ready', checks: { ethereum: 'ok' } });
  });
});
