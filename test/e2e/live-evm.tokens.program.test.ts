import { randomBytes } from 'node:crypto';
import { parseEther } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { textAt } from '../../src/cli/program.fixture.ts';
import { startAnvil, type Anvil } from '../anvil.ts';
import { deployToken, type TestToken } from '../erc20.ts';
import { inOneBlock, liveService, mined, owedUnits, SOON, type LiveService, type Shop } from './live-evm.fixture.ts';

/** One whole token. */
const ONE = 1_000_000n;
/** Anvil's second rich account: anybody may send a sweep. */
const ANYBODY = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

let anvil: Anvil;
let usdt: TestToken;
let usdc: TestToken;
let service: LiveService;
let shop: Shop;

beforeAll(async () => {
  anvil = await startAnvil();
  [usdt, usdc] = [await deployToken(anvil, 'no_return'), await deployToken(anvil, 'ordinary')];
  service = await liveService({
    ETHEREUM_RPC_URL: anvil.url,
    ETHEREUM_TOKENS: `USDT=${usdt.address}:6,USDC=${usdc.address}:6`,
  });
  await service.start();
  shop = await service.shop(treasuryWallet(freshAddress()));
});

afterAll(async () => {
  await service?.close();
  await anvil?.stop();
});

function freshAddress(): string {
  return `0x${randomBytes(20).toString('hex')}`;
}

function treasuryWallet(treasury: string): string {
  return `--network ethereum --confirmations 2 --treasury ${treasury}`;
}

async function balanceOf(address: string, token?: TestToken): Promise<bigint> {
  const data = `0x70a08231${address.slice(2).padStart(64, '0')}`;
  const balance =
    token === undefined
      ? await anvil.rpc('eth_getBalance', [address, 'latest'])
      : await anvil.rpc('eth_call', [{ to: token.address, data }, 'latest']);
  return BigInt(String(balance));
}

describe('tokens to a deposit address of the merchant’s treasury', () => {
  it('complete orders in USDT, whose transfer returns nothing, and in USDC, with the hash of the transfer', async () => {
    const [inUsdt, inUsdc] = [
      await shop.order({ crypto_currency: 'USDT' }),
      await shop.order({ crypto_currency: 'USDC' }),
    ];
    expect(inUsdt).toMatchObject({ crypto_amount: 30, network: 'ethereum', confirmations_required: 2 });
    const hashes = await inOneBlock(anvil, async () => [
      await usdt.transfer(inUsdt.address, 30n * ONE),
      await usdc.transfer(inUsdc.address, 30n * ONE),
    ]);
    for (const order of [inUsdt, inUsdc]) {
      await shop.becomes(order, { status: 'confirming', amount_received: 30, confirmations: 1, exception: 'none' });
    }
    await anvil.mine(1);
    for (const [at, order] of [inUsdt, inUsdc].entries()) {
      await shop.becomes(order, { status: 'completed', transaction_hash: hashes[at] });
      await expect.poll(() => shop.told(order), SOON).toEqual(['order.created', 'order.confirming', 'order.completed']);
    }
  });

  it('in two parts complete the order with the second', async () => {
    const order = await shop.order({ crypto_currency: 'USDC' });
    await mined(anvil, usdc.transfer(order.address, 10n * ONE));
    await shop.becomes(order, { exception: 'underpaid', amount_received: 10 });
    const hash = await mined(anvil, usdc.transfer(order.address, 20n * ONE));
    await anvil.mine(1);
    await shop.becomes(order, {
      status: 'completed',
      exception: 'none',
      transaction_hash: hash,
    });
  });

  it('of another kind than asked for never complete the order, and the merchant sees them', async () => {
    const order = await shop.order({ crypto_currency: 'USDT' });
    const wrong = await mined(anvil, usdc.transfer(order.address, 30n * ONE));
    const ether = await mined(anvil, anvil.transfer(order.address, parseEther('0.01')));
    await anvil.mine(2);
    await service.followed(anvil);
    expect(await shop.read(order)).toMatchObject({ status: 'pending', amount_received: 0, transaction_hash: null });
    expect(await shop.show(order)).toMatchObject({
      transfers: [
        { transaction_hash: wrong, crypto_currency: 'USDC', amount: 30, state: 'confirmed' },
        { transaction_hash: ether, crypto_currency: 'ETH', amount: 0.01, state: 'confirmed' },
      ],
    });

    const right = await mined(anvil, usdt.transfer(order.address, 30n * ONE));
    await anvil.mine(1);
    await shop.becomes(order, {
      status: 'completed',
      amount_received: 30,
      transaction_hash: right,
      exception: 'none',
    });
  });

  it('complete a payment whose token was changed: one address for both, and the quote that was paid', async () => {
    const created = await shop.call('/api/transactions/create', { amount: 30 });
    const id = textAt(created.body['transaction'], 'id');
    const read = async () => Object((await shop.call(`/api/transactions/${id}`)).body['transaction']);
    const addresses = [];
    for (const asset of ['USDT', 'USDC', 'ETH', 'USDT']) {
      const chosen = await fetch(`${service.url}/pay/${id}/token`, {
        method: 'POST',
        body: new URLSearchParams({ asset, network: 'ethereum' }),
        redirect: 'manual',
      });
      expect(chosen.status).toBe(303);
      addresses.push((await read()).address);
    }
    expect(new Set(addresses).size).toBe(1);
    const address = String(addresses[0]);
    // Half in each of two tokens does not pay for the order in either.
    await mined(anvil, usdt.transfer(address, 15n * ONE));
    await mined(anvil, usdc.transfer(address, 15n * ONE));
    await expect.poll(read, SOON).toMatchObject({ status: 'pending', crypto_currency: 'USDT' });
    const hash = await mined(anvil, usdc.transfer(address, 15n * ONE));
    await expect.poll(read, SOON).toMatchObject({ status: 'confirming', crypto_currency: 'USDC', address });
    await anvil.mine(1);
    await expect.poll(read, SOON).toMatchObject({ status: 'completed', transaction_hash: hash });
  });

  it('in a transfer of zero, which anybody can make in anybody’s name, are ignored', async () => {
    const order = await shop.order({ crypto_currency: 'USDC' });
    await mined(anvil, usdc.transfer(order.address, 0n));
    await service.followed(anvil);
    expect(await shop.show(order)).toMatchObject({ status: 'pending', exception: 'none', transfers: [] });
  });

  it('in one transaction to several orders complete each of them', async () => {
    const orders = [
      await shop.order({ crypto_currency: 'USDC' }),
      await shop.order({ crypto_currency: 'USDC', amount: 30 }),
      await shop.order({ crypto_currency: 'USDC' }),
    ];
    const to = orders.map(({ address }) => address);
    const hash = await mined(anvil, usdc.send('transferMany', [to, 30n * ONE]));
    await anvil.mine(1);
    for (const order of orders) {
      await shop.becomes(order, { status: 'completed', transaction_hash: hash });
    }
  });
});

interface SweepPlan {
  readonly deposits: readonly {
    readonly address: string;
    readonly asset: string;
    readonly amount: string;
    readonly usd: string | null;
  }[];
  readonly calls: readonly {
    readonly purpose: string;
    readonly to: string;
    readonly data: string;
    readonly gas_limit: string;
    readonly gas_estimate: string;
  }[];
}

async function planOf({ projectId }: Shop): Promise<SweepPlan> {
  const plan: SweepPlan = Object(await service.command(`sweep plan --project ${projectId} --network ethereum`));
  return plan;
}

/** Sends the calls of a plan as they are; answers with the gas that they used. */
async function send({ calls }: SweepPlan): Promise<readonly bigint[]> {
  const used: bigint[] = [];
  for (const { to, data, gas_limit } of calls) {
    const transaction = { from: ANYBODY, to, data, value: '0x0', gas: `0x${BigInt(gas_limit).toString(16)}` };
    const hash = await mined(anvil, anvil.rpc('eth_sendTransaction', [transaction]).then(String));
    const receipt = Object(await anvil.rpc('eth_getTransactionReceipt', [hash]));
    expect(receipt).toMatchObject({ status: '0x1' });
    used.push(BigInt(receipt.gasUsed));
  }
  return used;
}

describe('a sweep', () => {
  it('plan lists what lies on the deposits, and its calls, sent by anybody, pay all of it to the treasury', async () => {
    const treasury = freshAddress();
    // Paying an account that holds nothing yet costs more gas; a merchant's account is in use.
    await anvil.rpc('anvil_setBalance', [treasury, '0x1']);
    const merchant = await service.shop(treasuryWallet(treasury));
    const [inEther, inUsdt, inUsdc] = [
      await merchant.order(),
      await merchant.order({ crypto_currency: 'USDT' }),
      await merchant.order({ crypto_currency: 'USDC' }),
    ];
    expect(await planOf(merchant)).toMatchObject({ deposits: [], calls: [] });
    await mined(anvil, anvil.transfer(inEther.address, owedUnits(inEther)));
    await mined(anvil, usdt.transfer(inUsdt.address, 30n * ONE));
    await mined(anvil, usdc.transfer(inUsdc.address, 31n * ONE));
    // The wrong token at the right address still belongs to the merchant.
    await mined(anvil, usdc.transfer(inUsdt.address, 5n * ONE));
    await service.followed(anvil);

    const plan = await planOf(merchant);
    const lies = plan.deposits.map(({ address, asset, amount, usd }) => [address, asset, amount, usd]);
    expect(lies).toEqual([
      [inEther.address.toLowerCase(), 'ETH', '0.01', '30'],
      [inUsdt.address.toLowerCase(), 'USDT', '30', '30'],
      // Never quoted on this order, so it counts at the market price, which is fixed here.
      [inUsdt.address.toLowerCase(), 'USDC', '5', '5'],
      [inUsdc.address.toLowerCase(), 'USDC', '31', '31'],
    ]);
    expect(plan.calls[0]).toMatchObject({ purpose: 'deploy_factory' });
    expect(await balanceOf(treasury)).toBe(1n);
    const used = await send(plan);
    for (const [at, { gas_estimate }] of plan.calls.entries()) {
      expect(used[at]).toBeLessThanOrEqual(BigInt(gas_estimate));
    }
    expect(await balanceOf(treasury)).toBe(1n + owedUnits(inEther));
    expect(await balanceOf(treasury, usdt)).toBe(30n * ONE);
    expect(await balanceOf(treasury, usdc)).toBe(36n * ONE);
    expect(await planOf(merchant)).toMatchObject({ deposits: [], calls: [] });
    // Money that was swept off is neither a reorganisation nor a payment.
    await anvil.mine(1);
    await service.followed(anvil);
    expect(await merchant.read(inEther)).toMatchObject({ status: 'completed', exception: 'none' });
    expect(await merchant.read(inUsdc)).toMatchObject({ status: 'completed', exception: 'overpaid' });
  });

  it('leaves deposits below the project’s least amount until they hold enough, and empties others again', async () => {
    const treasury = freshAddress();
    const merchant = await service.shop(treasuryWallet(treasury));
    await service.command(`project set ${merchant.projectId} --sweep-min 40`);
    const [small, large] = [
      await merchant.order({ crypto_currency: 'USDC' }),
      await merchant.order({ crypto_currency: 'USDC', amount: 50 }),
    ];
    await mined(anvil, usdc.transfer(small.address, 30n * ONE));
    await mined(anvil, usdc.transfer(large.address, 50n * ONE));
    await service.followed(anvil);
    const plan = await planOf(merchant);
    expect(plan.deposits.map(({ amount }) => amount)).toEqual(['30', '50']);
    await send(plan);
    expect(await balanceOf(treasury, usdc)).toBe(50n * ONE);
    const rest = await planOf(merchant);
    expect(rest).toMatchObject({ deposits: [{ amount: '30' }], calls: [] });

    // One deposit holds enough by now; the other was emptied and has been paid again.
    await mined(anvil, usdc.transfer(small.address, 10n * ONE));
    await mined(anvil, usdc.transfer(large.address, 50n * ONE));
    await send(await planOf(merchant));
    expect(await balanceOf(treasury, usdc)).toBe(140n * ONE);
    await service.followed(anvil);
    expect(await merchant.read(large)).toMatchObject({ amount_received: 100, exception: 'overpaid' });
  });
});
