import { randomBytes } from 'node:crypto';
import { parseEther } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { account, xpubOf } from '../../src/app/chains/follow-chain.fixture.ts';
import { startAnvil, type Anvil } from '../anvil.ts';
import { textAt } from '../../src/cli/program.fixture.ts';
import { contractOf, deployContract, deployToken, type DeployedContract, type TestToken } from '../erc20.ts';
import {
  inOneBlock,
  liveService,
  mined,
  SOON,
  startGate,
  type Gate,
  type LiveService,
  type Order,
  type Shop,
} from './live-evm.fixture.ts';

const ONE = 1_000_000n;
const OWED = parseEther('0.01');

/** Ethereum, whose node traces. */
let ethereum: Anvil;
/** Base and Polygon of the service: one chain, read for Base through a gate that refuses to trace. */
let other: Anvil;
let gate: Gate;
let payers: Readonly<Record<'ethereum' | 'base', DeployedContract>>;
let feeToken: TestToken;
let oddToken: TestToken;
/** A token of 18 decimals, while the well-known contract has 6. */
let fineToken: TestToken;
let service: LiveService;
let shop: Shop;

beforeAll(async () => {
  [ethereum, other] = await Promise.all([startAnvil(), startAnvil({ chainId: 31_338 })]);
  gate = await startGate(other);
  gate.intercept(({ method }) =>
    /^(?:debug|trace)_/.test(method)
      ? { error: { code: -32601, message: `the method ${method} does not exist` } }
      : null,
  );
  const payer = contractOf('Payers.sol', 'Payer');
  payers = { ethereum: await deployContract(ethereum, payer), base: await deployContract(other, payer) };
  feeToken = await deployToken(other, 'fee');
  oddToken = await deployToken(other, 'odd');
  fineToken = await deployToken(other, 'ordinary', 18);
  service = await liveService({
    ETHEREUM_RPC_URL: ethereum.url,
    BASE_RPC_URL: gate.url,
    BASE_CHAIN_ID: '31338',
    BASE_TOKENS: `USDC=${feeToken.address}:6`,
    POLYGON_RPC_URL: other.url,
    POLYGON_CHAIN_ID: '31338',
    POLYGON_TOKENS: `USDT=${oddToken.address}:6,USDC=${fineToken.address}:18`,
  });
  await service.start();
  shop = await service.shop(
    `--network ethereum --confirmations 2 --xpub ${xpubOf(account(1))}`,
    `--network base --confirmations 2 --xpub ${xpubOf(account(2))}`,
    `--network polygon --confirmations 2 --treasury 0x${randomBytes(20).toString('hex')}`,
  );
});

afterAll(async () => {
  await service?.close();
  await gate?.stop();
  await Promise.all([ethereum?.stop(), other?.stop()]);
});

describe('the network', () => {
  it('is the one that the order names, and money on another one does not count', async () => {
    const [byDefault, onBase] = [await shop.order(), await shop.order({ network: 'base' })];
    expect(byDefault).toMatchObject({ network: 'ethereum' });
    expect(onBase).toMatchObject({ network: 'base', crypto_amount: 0.01 });
    await mined(ethereum, ethereum.transfer(onBase.address, OWED));
    await ethereum.mine(2);
    await service.followed(ethereum);
    expect(await shop.read(onBase)).toMatchObject({ status: 'pending', amount_received: 0 });

    const hash = await mined(other, other.transfer(onBase.address, OWED));
    await other.mine(1);
    await shop.becomes(onBase, { status: 'completed', transaction_hash: hash });
    expect(await shop.read(byDefault)).toMatchObject({ status: 'pending', amount_received: 0 });
  });

  it('that an asset cannot be paid on is refused by name, with those that it can be', async () => {
    const order = { amount: 30, currency: 'USD', crypto_currency: 'USDC', network: 'ethereum' };
    const refused = await shop.call('/v1/orders', order);
    expect(refused).toMatchObject({ status: 400, body: { error: { param: 'network' } } });
    expect(JSON.stringify(refused.body)).toContain(
      'USDC cannot be paid on ethereum yet, but it can be paid on polygon, base',
    );
  });

  it('of each kind shows in the network status', async () => {
    await Promise.all([
      service.followed(ethereum),
      service.followed(other, 'base'),
      service.followed(other, 'polygon'),
    ]);
    const states = await service.command('network status');
    expect(states).toHaveLength(3);
    expect(states).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ network: 'ethereum', healthy: true }),
        expect.objectContaining({ network: 'base', healthy: true }),
        expect.objectContaining({ network: 'polygon', healthy: true }),
      ]),
    );
  });
});

describe('tokens with ways of their own', () => {
  it('of a contract that keeps a fee count with what arrives', async () => {
    const order = await shop.order({ crypto_currency: 'USDC', network: 'base' });
    await mined(other, feeToken.transfer(order.address, 30n * ONE));
    await shop.becomes(order, {
      status: 'pending',
      exception: 'underpaid',
      amount_received: 29.7,
    });
    const hash = await mined(other, feeToken.transfer(order.address, ONE));
    await other.mine(1);
    // 30.69 is more than owed, by more than the tolerance of 0.5 %.
    await shop.becomes(order, {
      status: 'completed',
      exception: 'overpaid',
      amount_received: 30.69,
      transaction_hash: hash,
    });
  });

  it('count once where the contract also logs what only looks like a transfer', async () => {
    const order = await shop.order({ crypto_currency: 'USDT', network: 'polygon' });
    const hash = await mined(other, oddToken.transfer(order.address, 30n * ONE));
    await other.mine(1);
    await shop.becomes(order, {
      status: 'completed',
      exception: 'none',
      amount_received: 30,
      transaction_hash: hash,
    });
  });
});

describe('a token of other decimals than the well-known one', () => {
  it('counts in its own units, in the API and on the command line', async () => {
    const order = await shop.order({ crypto_currency: 'USDC', network: 'polygon' });
    const hash = await mined(other, fineToken.transfer(order.address, 30n * 10n ** 18n));
    await other.mine(1);
    await shop.becomes(order, { status: 'completed', crypto_amount: 30, amount_received: 30, transaction_hash: hash });
    expect(await shop.show(order)).toMatchObject({
      amount_received: 30,
      transfers: [{ crypto_currency: 'USDC', amount: 30 }],
    });
  });
});

describe('ether that a contract passes on', () => {
  const pay = (network: 'ethereum' | 'base', { address }: Order, valueWei = OWED): Promise<string> => {
    const node = network === 'base' ? other : ethereum;
    return mined(node, payers[network].send('pay', [address], { valueWei }));
  };

  it('is found by the balance and the node’s trace, and completes the order with its hash', async () => {
    const order = await shop.order();
    const hash = await pay('ethereum', order);
    await shop.becomes(order, { status: 'confirming', amount_received: 0.01 });
    await ethereum.mine(1);
    await shop.becomes(order, {
      status: 'completed',
      transaction_hash: hash,
      exception: 'none',
    });
  });

  it('adds up with a plain transfer in the same block', async () => {
    const order = await shop.order();
    await inOneBlock(ethereum, async () => {
      await payers.ethereum.send('pay', [order.address], { valueWei: OWED / 4n });
      await ethereum.transfer(order.address, OWED / 2n);
      await payers.ethereum.send('pay', [order.address], { valueWei: OWED / 4n });
    });
    await ethereum.mine(1);
    await shop.becomes(order, { status: 'completed', amount_received: 0.01, exception: 'none' });
    expect((await shop.show(order))['transfers']).toHaveLength(3);
  });

  it('to many orders at once completes each of them with the one hash', async () => {
    const orders = [await shop.order(), await shop.order(), await shop.order()];
    const addresses = orders.map(({ address }) => address);
    const hash = await mined(ethereum, payers.ethereum.send('payMany', [addresses, OWED], { valueWei: OWED * 4n }));
    await ethereum.mine(1);
    for (const order of orders) {
      await shop.becomes(order, { status: 'completed', transaction_hash: hash });
    }
  });

  it('is recorded without a hash where the node does not trace, and waits for the merchant to accept it', async () => {
    const order = await shop.order({ network: 'base' });
    await pay('base', order);
    await service.followed(other, 'base');
    await other.mine(1);
    await service.followed(other, 'base');
    expect(await shop.read(order)).toMatchObject({ status: 'pending', amount_received: 0.01, transaction_hash: null });
    expect(await shop.show(order)).toMatchObject({
      transfers: [{ transaction_hash: expect.stringMatching(/^untraced:/), amount: 0.01, state: 'confirmed' }],
    });
    await service.endTime(order, other, 'base');
    await shop.becomes(order, { status: 'expired', exception: 'paid_late' });
    const accepted = await shop.call(`/v1/orders/${order.id}/accept`, {});
    expect(accepted).toMatchObject({
      status: 200,
      body: { status: 'completed', amount_received: 0.01, transaction_hash: null },
    });
    await expect.poll(() => shop.told(order), SOON).toContain('order.completed');
  });

  it('is found on an address that was first given out for a token, at once when that is quoted in ether', async () => {
    const created = await shop.call('/api/transactions/create', { amount: 30 });
    const id = textAt(created.body['transaction'], 'id');
    const read = async () => Object((await shop.call(`/api/transactions/${id}`)).body['transaction']);
    const choose = async (asset: string) => {
      const body = new URLSearchParams({ asset, network: 'base' });
      const chosen = await fetch(`${service.url}/pay/${id}/token`, { method: 'POST', body, redirect: 'manual' });
      expect(chosen.status).toBe(303);
      return textAt(await read(), 'address');
    };
    const address = await choose('USDC');
    await pay('base', { id, address });
    await service.followed(other, 'base');
    expect(await read()).toMatchObject({ status: 'pending', amount_received: 0 });
    expect(await choose('ETH')).toBe(address);
    await other.mine(1);
    await service.followed(other, 'base');
    await expect.poll(read, SOON).toMatchObject({ crypto_currency: 'ETH', amount_received: 0.01 });
  });

  it('completes an order whose first part the merchant has moved on already', async () => {
    const merchant = await service.shop(
      `--network ethereum --confirmations 2 --treasury 0x${randomBytes(20).toString('hex')}`,
    );
    const order = await merchant.order();
    await mined(ethereum, ethereum.transfer(order.address, (OWED * 4n) / 10n));
    await service.followed(ethereum);
    const plan = await service.command(`sweep plan --project ${merchant.projectId} --network ethereum`);
    for (const { to, data, gas_limit } of Object(plan).calls) {
      const call = {
        from: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
        to,
        data,
        gas: `0x${Number(gas_limit).toString(16)}`,
      };
      await mined(ethereum, ethereum.rpc('eth_sendTransaction', [call]).then(String));
    }
    await service.followed(ethereum);
    expect(await ethereum.rpc('eth_getBalance', [order.address, 'latest'])).toBe('0x0');
    const hash = await pay('ethereum', order, (OWED * 6n) / 10n);
    await ethereum.mine(1);
    await service.followed(ethereum);
    expect(await merchant.read(order)).toMatchObject({
      status: 'completed',
      amount_received: 0.01,
      transaction_hash: hash,
    });
  });
});
