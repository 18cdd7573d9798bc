import { randomBytes } from 'node:crypto';
import { parseEther } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { account, xpubOf } from '../../src/app/chains/follow-chain.fixture.ts';
import { startAnvil, type Anvil } from '../anvil.ts';
import { contractOf, deployContract, deployToken, type DeployedContract, type TestToken } from '../erc20.ts';
import { inOneBlock, liveService, mined, SOON, type LiveService, type Order, type Shop } from './live-evm.fixture.ts';

const OWED = parseEther('0.01');
const DEPTHS = [1, 6] as const;

let anvil: Anvil;
let payer: DeployedContract;
let usdc: TestToken;
let service: LiveService;
/** Waits for eight confirmations, so that six blocks can go before completion. */
let patient: Shop;
/** Waits for one, so that its orders are completed when the blocks go. */
let quick: Shop;

beforeAll(async () => {
  anvil = await startAnvil();
  [payer, usdc] = [
    await deployContract(anvil, contractOf('Payers.sol', 'Payer')),
    await deployToken(anvil, 'ordinary'),
  ];
  // Reorganisations must not reach the contracts.
  await anvil.mine(10);
  service = await liveService({ ETHEREUM_RPC_URL: anvil.url, ETHEREUM_TOKENS: `USDC=${usdc.address}:6` });
  await service.start();
  const treasury = `0x${randomBytes(20).toString('hex')}`;
  patient = await service.shop(`--network ethereum --confirmations 8 --treasury ${treasury}`);
  quick = await service.shop(`--network ethereum --confirmations 1 --xpub ${xpubOf(account(1))}`);
});

afterAll(async () => {
  await service?.close();
  await anvil?.stop();
});

/** An order, how it is paid, and what the API says was received then. */
interface Paid {
  readonly order: Order;
  readonly received: number;
  readonly pay: () => Promise<string>;
}

async function inEther(shop: Shop): Promise<Paid> {
  const order = await shop.order();
  return { order, received: 0.01, pay: () => anvil.transfer(order.address, OWED) };
}

async function inEtherOfContract(shop: Shop): Promise<Paid> {
  const order = await shop.order();
  return { order, received: 0.01, pay: () => payer.send('pay', [order.address], { valueWei: OWED }) };
}

async function inToken(shop: Shop): Promise<Paid> {
  const order = await shop.order({ crypto_currency: 'USDC' });
  return { order, received: 30, pay: () => usdc.transfer(order.address, 30_000_000n) };
}

/** Pays orders in one block; answers with their transactions' hashes. */
function payAll(paid: readonly Paid[]): Promise<readonly string[]> {
  return inOneBlock(anvil, async () => {
    const hashes: string[] = [];
    for (const { pay } of paid) hashes.push(await pay());
    return hashes;
  });
}

/**
 * Replaces the newest blocks by as many others, none of which has any of their transactions, or those that are given.
 */
async function reorganise(depth: number, kept: readonly (readonly [unknown, number])[] = []): Promise<void> {
  await anvil.rpc('anvil_reorg', [depth, kept]);
}

describe.each(DEPTHS)('a reorganisation of depth %i before completion', (depth) => {
  it('takes payments back, and new ones complete the orders', async () => {
    const paid = [await inEther(patient), await inEtherOfContract(patient), await inToken(patient)];
    await payAll(paid);
    await anvil.mine(depth - 1);
    for (const { order, received } of paid) {
      await patient.becomes(order, { status: 'confirming', confirmations: depth, amount_received: received });
    }
    await reorganise(depth);
    for (const { order } of paid) {
      await patient.becomes(order, { status: 'pending', confirmations: 0, amount_received: 0, exception: 'none' });
      expect(await patient.show(order)).toMatchObject({ transfers: [{ state: 'dropped' }] });
    }
    const hashes = await payAll(paid);
    await anvil.mine(7);
    for (const [at, { order, received }] of paid.entries()) {
      await patient.becomes(order, {
        status: 'completed',
        transaction_hash: hashes[at],
        amount_received: received,
        exception: 'none',
      });
      await expect
        .poll(() => patient.told(order), SOON)
        .toEqual(['order.created', 'order.confirming', 'order.completed']);
    }
  });
});

describe('a reorganisation', () => {
  it('that brings the transaction in another block counts its confirmations from there', async () => {
    const order = await patient.order();
    const hash = await mined(anvil, anvil.transfer(order.address, OWED));
    await anvil.mine(5);
    await patient.becomes(order, { confirmations: 6 });
    const raw = await anvil.rpc('debug_getRawTransaction', [hash]);
    await reorganise(6, [[raw, 3]]);
    await patient.becomes(order, { status: 'confirming', confirmations: 3 });
    await anvil.mine(5);
    await patient.becomes(order, {
      status: 'completed',
      transaction_hash: hash,
      amount_received: 0.01,
    });
    expect((await patient.show(order))['transfers']).toHaveLength(1);
  });
});

describe.each(DEPTHS)('a reorganisation of depth %i after completion', (depth) => {
  it('that takes payments back is published as reorged, and is over when the money returns', async () => {
    const below = await inEther(quick);
    await mined(anvil, below.pay());
    const paid = [await inEther(quick), await inToken(quick)];
    const hashes = await payAll(paid);
    await anvil.mine(depth - 1);
    for (const [at, { order }] of paid.entries()) {
      await quick.becomes(order, { status: 'completed', transaction_hash: hashes[at] });
    }
    await reorganise(depth);
    for (const { order } of paid) {
      await quick.becomes(order, { status: 'completed', exception: 'reorged', amount_received: 0 });
      await expect
        .poll(() => quick.told(order), SOON)
        .toEqual(['order.created', 'order.confirming', 'order.completed', 'order.exception']);
      const [, alarm] = quick.events(({ id, status }) => id === order.id && status === 'completed');
      expect(alarm).toMatchObject({ type: 'order.exception', data: { exception: 'reorged' } });
    }
    await payAll(paid);
    for (const { order, received } of paid) {
      await quick.becomes(order, { status: 'completed', exception: 'none', amount_received: received });
      expect(quick.told(order).filter((type) => type === 'order.completed')).toHaveLength(1);
    }
    expect(await quick.read(below.order)).toMatchObject({ status: 'completed', exception: 'none' });
    expect(quick.told(below.order)).not.toContain('order.exception');
  });
});

describe('a reorganisation after completion', () => {
  it('that only moves a contract’s payment to another block is over when that block is taken in', async () => {
    const { order, pay } = await inEtherOfContract(quick);
    const hash = await mined(anvil, pay());
    await anvil.mine(1);
    await quick.becomes(order, { status: 'completed', transaction_hash: hash });
    const raw = await anvil.rpc('debug_getRawTransaction', [hash]);
    await reorganise(2, [[raw, 1]]);
    await anvil.mine(1);
    await service.followed(anvil);
    expect(await quick.read(order)).toMatchObject({ status: 'completed', amount_received: 0.01, exception: 'none' });
  });

  it('and while the service was down is found when it comes back, however far the new chain is ahead', async () => {
    const [lost, kept] = [await quick.order(), await quick.order()];
    await mined(anvil, anvil.transfer(kept.address, OWED));
    await mined(anvil, anvil.transfer(lost.address, OWED));
    await quick.becomes(lost, { status: 'completed' });
    await quick.becomes(kept, { status: 'completed' });
    await service.restart(async () => {
      await reorganise(1);
      await anvil.mine(150);
    });
    await quick.becomes(lost, { status: 'completed', exception: 'reorged' });
    await service.followed(anvil);
    expect(await quick.read(kept)).toMatchObject({ status: 'completed', exception: 'none', amount_received: 0.01 });
  });
});
