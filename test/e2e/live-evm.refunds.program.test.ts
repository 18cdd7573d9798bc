import { randomBytes } from 'node:crypto';
import { parseEther } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startAnvil, type Anvil } from '../anvil.ts';
import { textAt } from '../../src/cli/program.fixture.ts';
import { eventShape } from '../../src/http/openapi/webhook-schema.ts';
import { deployToken, type TestToken } from '../erc20.ts';
import { responseFaults } from '../response-shape.ts';
import {
  inOneBlock,
  liveService,
  mined,
  SOON,
  type Fields,
  type LiveService,
  type Order,
  type Shop,
} from './live-evm.fixture.ts';

const ONE = 1_000_000n;
const BITCOIN_ADDRESS = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';

let anvil: Anvil;
let usdt: TestToken;
let service: LiveService;
let shop: Shop;
/** Completed orders that no test has taken yet. */
let paid: Readonly<Record<'ETH' | 'USDT', Order[]>>;

beforeAll(async () => {
  anvil = await startAnvil();
  usdt = await deployToken(anvil, 'no_return');
  service = await liveService({ ETHEREUM_RPC_URL: anvil.url, ETHEREUM_TOKENS: `USDT=${usdt.address}:6` });
  await service.start();
  shop = await service.shop(`--network ethereum --confirmations 3 --treasury 0x${randomBytes(20).toString('hex')}`);
  paid = await ordersPaid();
});

afterAll(async () => {
  await service?.close();
  await anvil?.stop();
});

function freshAddress(): string {
  return `0x${randomBytes(20).toString('hex')}`;
}

async function ordersPaid(): Promise<typeof paid> {
  const orders = {
    ETH: await Promise.all(Array.from({ length: 5 }, () => shop.order())),
    USDT: await Promise.all(Array.from({ length: 3 }, () => shop.order({ crypto_currency: 'USDT' }))),
  };
  await inOneBlock(anvil, async () => {
    for (const { address } of orders.ETH) await anvil.transfer(address, parseEther('0.01'));
    for (const { address } of orders.USDT) await usdt.transfer(address, 30n * ONE);
  });
  await anvil.mine(2);
  await service.followed(anvil);
  return orders;
}

function paidOrder(asset: 'ETH' | 'USDT'): Order {
  const order = paid[asset].pop();
  if (order === undefined) throw new Error(`no order in ${asset} is left`);
  return order;
}

async function refundOf(order: Order, fields: Fields): Promise<Fields & { readonly id: string }> {
  const { status, body } = await shop.call('/v1/refunds', { order_id: order.id, ...fields });
  expect({ status, body }).toMatchObject({ status: 200, body: { status: 'pending', payment: order.id } });
  return { ...body, id: textAt(body, 'id') };
}

async function readRefund({ id }: { readonly id: string }): Promise<Fields> {
  return (await shop.call(`/v1/refunds/${id}`)).body;
}

function toldOf({ id }: { readonly id: string }): readonly string[] {
  return shop.events((data) => data['id'] === id).map(({ type }) => type);
}

describe('a live refund', () => {
  it('in tokens completes when exactly its amount was paid to its address and is deep enough', async () => {
    const order = paidOrder('USDT');
    const address = freshAddress();
    const refund = await refundOf(order, { address, amount: 12.5, reason: 'Broken' });
    expect(refund).toMatchObject({
      crypto_currency: 'USDT',
      crypto_amount: 12.5,
      network: 'ethereum',
      claim_url: null,
    });

    // Other amounts are other payments of the same customer.
    await mined(anvil, usdt.transfer(address, 12n * ONE));
    await mined(anvil, usdt.transfer(address, 13n * ONE));
    await anvil.mine(3);
    await service.followed(anvil);
    expect(await readRefund(refund)).toMatchObject({ status: 'pending', transaction_hash: null });

    const hash = await mined(anvil, usdt.transfer(address, (25n * ONE) / 2n));
    await service.followed(anvil);
    expect(await readRefund(refund)).toMatchObject({ status: 'pending' });
    await anvil.mine(2);
    await expect.poll(() => readRefund(refund), SOON).toMatchObject({ status: 'completed', transaction_hash: hash });
    await expect.poll(() => toldOf(refund), SOON).toEqual(['refund.created', 'refund.completed']);
    const [, completed] = shop.events((data) => data['id'] === refund.id);
    expect(completed).toMatchObject({ data: { transaction_hash: hash, status: 'completed', payment: order.id } });
    expect(await shop.read(order)).toMatchObject({ status: 'completed', exception: 'none' });
  });

  it('whose payout a reorganisation takes away waits for it again', async () => {
    const refund = await refundOf(paidOrder('ETH'), { address: freshAddress() });
    const pay = (): Promise<string> => anvil.transfer(String(refund['address']), parseEther('0.01'));
    await mined(anvil, pay());
    await service.followed(anvil);
    await anvil.rpc('anvil_reorg', [1, []]);
    await anvil.mine(3);
    await service.followed(anvil);
    expect(await readRefund(refund)).toMatchObject({ status: 'pending', transaction_hash: null });
    const hash = await mined(anvil, pay());
    await anvil.mine(2);
    await expect.poll(() => readRefund(refund), SOON).toMatchObject({ status: 'completed', transaction_hash: hash });
  });

  it('that was completed is pending again when a reorganisation removes its payout, which is published, and completes again', async () => {
    const refund = await refundOf(paidOrder('ETH'), { address: freshAddress() });
    const pay = (): Promise<string> => anvil.transfer(String(refund['address']), parseEther('0.01'));
    await mined(anvil, pay());
    await anvil.mine(2);
    await expect.poll(() => readRefund(refund), SOON).toMatchObject({ status: 'completed' });
    await anvil.rpc('anvil_reorg', [3, []]);
    await anvil.mine(1);
    const pending = { status: 'pending', transaction_hash: null, completed_at: null };
    await expect.poll(() => readRefund(refund), SOON).toMatchObject(pending);
    await expect.poll(() => toldOf(refund), SOON).toEqual(['refund.created', 'refund.completed', 'refund.reorged']);
    const told = shop.events((data) => data['id'] === refund.id).at(-1);
    expect(told).toMatchObject({ data: pending });
    expect(responseFaults({ 200: eventShape('refund.reorged') }, 200, JSON.stringify(told))).toEqual([]);
    const hash = await mined(anvil, pay());
    await anvil.mine(2);
    await expect.poll(() => readRefund(refund), SOON).toMatchObject({ status: 'completed', transaction_hash: hash });
  });

  it('that was paid while the service was down completes when it is back', async () => {
    const refund = await refundOf(paidOrder('ETH'), { address: freshAddress() });
    let hash = '';
    await service.restart(async () => {
      hash = await mined(anvil, anvil.transfer(String(refund['address']), parseEther('0.01')));
      await anvil.mine(2);
    });
    await expect.poll(() => readRefund(refund), SOON).toMatchObject({ status: 'completed', transaction_hash: hash });
  });

  it('is not completed twice by one payment where two of the same amount go to one address', async () => {
    const order = paidOrder('USDT');
    const address = freshAddress();
    const [older, newer] = [
      await refundOf(order, { address, amount: 10 }),
      await refundOf(order, { address, amount: 10 }),
    ];
    await mined(anvil, usdt.transfer(address, 10n * ONE));
    await anvil.mine(2);
    await expect.poll(() => readRefund(older), SOON).toMatchObject({ status: 'completed' });
    expect(await readRefund(newer)).toMatchObject({ status: 'pending' });
    const second = await mined(anvil, usdt.transfer(address, 10n * ONE));
    await anvil.mine(2);
    await expect.poll(() => readRefund(newer), SOON).toMatchObject({ status: 'completed', transaction_hash: second });
  });

  it('is never more than what was received', async () => {
    const order = paidOrder('USDT');
    await refundOf(order, { address: freshAddress(), amount: 20 });
    const refused = await shop.call('/v1/refunds', { order_id: order.id, address: freshAddress(), amount: 10.01 });
    expect(refused).toMatchObject({ status: 400, body: { error: { param: 'amount' } } });
  });
});

describe('the claim page', () => {
  const claim = (refund: Fields, address: string): Promise<Response> =>
    fetch(String(refund['claim_url']), {
      method: 'POST',
      body: new URLSearchParams({ address }),
      redirect: 'manual',
    });

  it('takes the customer’s address, refuses one of another network, and the payout completes the refund', async () => {
    const refund = await refundOf(paidOrder('ETH'), {});
    expect(refund).toMatchObject({ address: null, claim_url: expect.stringContaining(`/refund/${refund.id}`) });
    expect(await (await fetch(String(refund['claim_url']))).text()).toContain(
      'Where should the shop send your refund?',
    );

    const refused = await claim(refund, BITCOIN_ADDRESS);
    expect(refused.status).toBe(400);
    expect(await refused.text()).toMatch(/role="alert">This isn&#8217;t an address for ETH on Ethereum/);
    expect(await readRefund(refund)).toMatchObject({ address: null });

    const address = freshAddress();
    expect((await claim(refund, address)).status).toBe(303);
    expect(textAt(await readRefund(refund), 'address').toLowerCase()).toBe(address);
    expect((await claim(refund, freshAddress())).status).not.toBe(303);
    expect(textAt(await readRefund(refund), 'address').toLowerCase()).toBe(address);

    const hash = await mined(anvil, anvil.transfer(address, parseEther('0.01')));
    await anvil.mine(2);
    await expect.poll(() => readRefund(refund), SOON).toMatchObject({ status: 'completed', transaction_hash: hash });
    expect(await (await fetch(String(refund['claim_url']))).text()).toContain('Your refund was sent');
  });
});

describe('the API', () => {
  it('refuses a refund to an address of another network, and of money that is not confirmed', async () => {
    const paid = paidOrder('ETH');
    const wrong = await shop.call('/v1/refunds', { order_id: paid.id, address: BITCOIN_ADDRESS });
    expect(wrong).toMatchObject({ status: 400, body: { error: { param: 'address' } } });
    const open = await shop.order();
    const early = await shop.call('/v1/refunds', { order_id: open.id, address: freshAddress() });
    expect(early).toMatchObject({ status: 400, body: { error: { param: 'order_id' } } });
  });
});
