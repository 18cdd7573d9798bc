import { randomBytes } from 'node:crypto';
import { parseEther } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startAnvil, type Anvil } from '../anvil.ts';
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
import type { Running } from './started-program.fixture.ts';
import { DEADLINE_MS } from '../deadline.ts';

const OWED = parseEther('0.01');
/** Blocks that a follower takes in together at most. */
const BATCH = 100;

let anvil: Anvil;
let gate: Gate;
let usdc: TestToken;
let payer: DeployedContract;
let service: LiveService;
let running: Running;
let shop: Shop;

beforeAll(async () => {
  anvil = await startAnvil();
  gate = await startGate(anvil);
  [usdc, payer] = [
    await deployToken(anvil, 'ordinary'),
    await deployContract(anvil, contractOf('Payers.sol', 'Payer')),
  ];
  const settings = { ETHEREUM_RPC_URL: gate.url, ETHEREUM_TOKENS: `USDC=${usdc.address}:6` };
  service = await liveService(settings, 'processes');
  running = await service.start();
  shop = await service.shop(`--network ethereum --confirmations 2 --treasury 0x${randomBytes(20).toString('hex')}`);
});

afterAll(async () => {
  await service?.close();
  await gate?.stop();
  await anvil?.stop();
});

async function height(): Promise<number> {
  return Number(await anvil.rpc('eth_blockNumber'));
}

/** `kill -9`. The dead process's lease of the chain runs out within seconds; the test does not wait for it. */
async function kill(): Promise<void> {
  await running.end('SIGKILL');
  await service.database.db.deleteFrom('leases').execute();
}

async function orders(count: number, crypto_currency: string): Promise<readonly Order[]> {
  return Promise.all(Array.from({ length: count }, () => shop.order({ crypto_currency })));
}

/** How many distinct events of each type the shop was sent for these orders. */
function toldOf(some: readonly Order[]): Readonly<Record<string, number>> {
  const ids = new Set(some.map(({ id }) => id));
  const told = shop.events(({ id }) => ids.has(String(id)));
  return Object.fromEntries([...Map.groupBy(told, ({ type }) => type)].map(([type, list]) => [type, list.length]));
}

describe('a service that is killed while it catches up', () => {
  it('continues where it was: each payment is counted once and each event sent', async () => {
    const paid = [...(await orders(3, 'ETH')), ...(await orders(3, 'USDC'))];
    await service.followed(anvil);
    const start = await height();
    await kill();
    const hashes = new Map<string, string>();
    for (const [at, order] of paid.entries()) {
      const sent = at < 3 ? anvil.transfer(order.address, OWED) : usdc.transfer(order.address, 30_000_000n);
      hashes.set(order.id, await mined(anvil, sent));
      await anvil.mine(70);
    }
    // The node hangs in the middle of the second batch, and the service dies waiting for it.
    const wall = start + BATCH + 20;
    gate.intercept(({ method, params }) =>
      method === 'eth_getBlockByNumber' && Number(Object(params)[0]) > wall ? { stall: true } : null,
    );
    running = await service.start();
    await expect.poll(() => service.gauge('cointill_network_cursor_height', 'ethereum'), SOON).toBe(start + BATCH);
    await kill();
    expect(await height()).toBeGreaterThan(start + 4 * BATCH);
    gate.intercept(() => null);

    // And once more, whatever it is doing right after the next batch.
    running = await service.start();
    await expect
      .poll(() => service.gauge('cointill_network_cursor_height', 'ethereum'), { timeout: DEADLINE_MS, interval: 1 })
      .toBeGreaterThan(start + BATCH);
    await kill();
    running = await service.start();
    await service.followed(anvil);
    for (const order of paid) {
      expect(await shop.read(order)).toMatchObject({
        status: 'completed',
        exception: 'none',
        transaction_hash: hashes.get(order.id),
        amount_received: order['crypto_amount'],
      });
    }
    // Deliveries of the processes that died are retried within a minute; the test does not wait for that.
    const { db } = service.database;
    await db.updateTable('deliveries').set({ next_attempt_at: new Date() }).where('state', '=', 'waiting').execute();
    await expect
      .poll(() => toldOf(paid), SOON)
      .toEqual({ 'order.created': 6, 'order.confirming': 6, 'order.completed': 6 });
  });
});

describe('a block with 500 payments', () => {
  it('completes all of them: ether, ether from a contract, and tokens', async () => {
    const [plain, passedOn, tokens] = [await orders(200, 'ETH'), await orders(100, 'ETH'), await orders(200, 'USDC')];
    const all = [...plain, ...passedOn, ...tokens];
    const to = (some: readonly Order[]): readonly string[] => some.map(({ address }) => address);
    await inOneBlock(anvil, async () => {
      for (const { address } of plain) await anvil.transfer(address, OWED);
      const options = { valueWei: OWED * 101n, gas: 9_000_000n };
      await payer.send('payMany', [to(passedOn), OWED], options);
      await usdc.send('transferMany', [to(tokens), 30_000_000n], { gas: 9_000_000n });
    });
    const block = Object(await anvil.rpc('eth_getBlockByNumber', ['latest', false]));
    expect(block.transactions).toHaveLength(202);
    await anvil.mine(1);
    const completed = async (): Promise<unknown> =>
      Reflect.get(Object((await shop.call('/v1/orders?status=completed&limit=1')).body['pagination']), 'total');
    const before = Number(await completed());
    await expect.poll(completed, SOON).toBeGreaterThanOrEqual(500);
    expect(before).toBeLessThan(500);
    await expect
      .poll(() => toldOf(all), { timeout: DEADLINE_MS, interval: 250 })
      .toEqual({ 'order.created': 500, 'order.confirming': 500, 'order.completed': 500 });
    for (const order of [plain[199], passedOn[99], tokens[199]]) {
      if (order === undefined) throw new Error('there are fewer orders');
      expect(await shop.read(order)).toMatchObject({ status: 'completed' });
    }
  });
});
