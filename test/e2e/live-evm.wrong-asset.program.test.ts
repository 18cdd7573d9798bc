import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startAnvil, type Anvil } from '../anvil.ts';
import { textAt } from '../../src/cli/program.fixture.ts';
import { textOf } from '../../src/http/pages/markup.fixture.ts';
import { eventShape } from '../../src/http/openapi/webhook-schema.ts';
import { deployToken, type TestToken } from '../erc20.ts';
import { responseFaults } from '../response-shape.ts';
import { liveService, mined, SOON, type LiveService, type Order, type Shop } from './live-evm.fixture.ts';

const ONE = 1_000_000n;

let anvil: Anvil;
let usdt: TestToken;
let usdc: TestToken;
let service: LiveService;
let shop: Shop;

beforeAll(async () => {
  anvil = await startAnvil();
  usdt = await deployToken(anvil, 'ordinary');
  usdc = await deployToken(anvil, 'ordinary');
  service = await liveService({
    ETHEREUM_RPC_URL: anvil.url,
    ETHEREUM_TOKENS: `USDT=${usdt.address}:6,USDC=${usdc.address}:6`,
  });
  await service.start();
  shop = await service.shop(`--network ethereum --confirmations 3 --treasury 0x${randomBytes(20).toString('hex')}`);
});

afterAll(async () => {
  await service?.close();
  await anvil?.stop();
});

const freshAddress = (): string => `0x${randomBytes(20).toString('hex')}`;

/** An order in USDT to which only USDC came, confirmed. */
async function wronglyPaid(units: bigint): Promise<{ readonly order: Order; readonly hash: string }> {
  const order = await shop.order({ crypto_currency: 'USDT' });
  const hash = await mined(anvil, usdc.transfer(order.address, units));
  await anvil.mine(2);
  await service.followed(anvil);
  return { order, hash };
}

/** The text that the payment's page shows the customer. */
async function pageText(order: Order): Promise<string> {
  const { payment_url: url } = await shop.read(order);
  return textOf(await (await fetch(String(url))).text());
}

describe('money in an asset that an order was never quoted in', () => {
  it('is published as an event once it is confirmed, and counts for nothing', async () => {
    const { order, hash } = await wronglyPaid(30n * ONE);
    const told = () => shop.events((data) => data['id'] === order.id).filter(({ type }) => type.startsWith('payment.'));
    await expect.poll(told, SOON).toHaveLength(1);
    expect(told()[0]).toMatchObject({
      type: 'payment.wrong_asset',
      data: {
        status: 'pending',
        crypto_currency: 'USDT',
        received: {
          crypto_currency: 'USDC',
          network: 'ethereum',
          amount: 30,
          address: order.address.toLowerCase(),
          transaction_hash: hash,
        },
      },
    });
    const body = JSON.stringify(told()[0]);
    expect(responseFaults({ 200: eventShape('payment.wrong_asset') }, 200, body)).toEqual([]);
    expect(await shop.read(order)).toMatchObject({ status: 'pending', exception: 'none', amount_received: 0 });
    expect(await pageText(order)).toContain(
      `30.00 USDC arrived on Ethereum, but you must make this payment in USDT on Ethereum. The money doesn’t count towards this payment, but it isn’t lost. The shop can send it back. Contact the shop and mention payment ${order.id}.`,
    );
    // The right asset still completes it, and no event is sent twice.
    await mined(anvil, usdt.transfer(order.address, 30n * ONE));
    await anvil.mine(2);
    await shop.becomes(order, { status: 'completed', exception: 'none' });
    expect(told()).toHaveLength(1);
    expect(await pageText(order)).toContain('30.00 USDC arrived on Ethereum');
  });

  it('is shown apart by `payment show`, with its hash and the way out, and is part of a sweep', async () => {
    const { order, hash } = await wronglyPaid(12n * ONE);
    expect(await service.command(`payment show ${order.id} --json`)).toMatchObject({
      amount_received: 0,
      other_received: [
        { crypto_currency: 'USDC', network: 'ethereum', amount: 12, amount_confirmed: 12, transaction_hashes: [hash] },
      ],
    });
    const plan = await service.command(`sweep plan --project ${shop.projectId} --network ethereum --json`);
    expect(plan).toMatchObject({
      deposits: expect.arrayContaining([
        expect.objectContaining({ address: order.address.toLowerCase(), asset: 'USDC', amount: '12' }),
      ]),
    });
  });

  it('is refunded in that asset once the payment is final, never more than came, beside the payment’s own money', async () => {
    const { order } = await wronglyPaid(20n * ONE);
    await mined(anvil, usdt.transfer(order.address, 30n * ONE));
    await anvil.mine(2);
    await shop.becomes(order, { status: 'completed' });
    const address = freshAddress();
    const refund = (fields: object) => shop.call('/v1/refunds', { order_id: order.id, address, ...fields });
    expect(await refund({ crypto_currency: 'USDC', amount: 5 })).toMatchObject({
      status: 400,
      body: { error: { param: 'amount', message: expect.stringContaining('crypto_amount') } },
    });
    expect(await refund({ crypto_currency: 'USDC', crypto_amount: 20.5 })).toMatchObject({
      status: 400,
      body: { error: { param: 'crypto_amount', message: expect.stringMatching(/refunded: 20 USDC\.$/) } },
    });
    expect(await refund({ crypto_currency: 'ETH' })).toMatchObject({
      status: 400,
      body: { error: { param: 'crypto_currency', message: expect.stringContaining('No confirmed ETH on ethereum') } },
    });
    const part = await refund({ crypto_currency: 'USDC', crypto_amount: 15 });
    expect(part).toMatchObject({
      status: 200,
      body: { crypto_currency: 'USDC', network: 'ethereum', crypto_amount: 15, amount: 0 },
    });
    expect(await refund({ crypto_currency: 'USDC' })).toMatchObject({ status: 200, body: { crypto_amount: 5 } });
    const page = await pageText(order);
    expect(page).toContain('The shop will send your refund of 15.00 USDC to your address.');
    expect(page).not.toContain('arrived on Ethereum');
    expect(await refund({ crypto_currency: 'USDC' })).toMatchObject({ status: 400 });
    // All of the payment's own money can be refunded as well.
    expect(await refund({})).toMatchObject({ status: 200, body: { crypto_currency: 'USDT', amount: 30 } });

    const id = textAt(part.body, 'id');
    expect(await service.command(`refund show ${id} --json`)).toMatchObject({
      call: { to: expect.stringMatching(new RegExp(usdc.address, 'i')) },
    });
    const hash = await mined(anvil, usdc.transfer(address, 15n * ONE));
    await anvil.mine(2);
    await expect
      .poll(async () => (await shop.call(`/v1/refunds/${id}`)).body, SOON)
      .toMatchObject({ status: 'completed', transaction_hash: hash });
  });
});
