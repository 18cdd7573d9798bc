import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { contractOf, deployContract, type DeployedContract } from '../../../test/erc20.ts';
import { tokenOf } from '../../domain/asset.ts';
import { otherMoney } from '../../domain/other-money.ts';
import { ChainUnavailableError } from '../../rails/chain.ts';
import { createEvmCaller } from '../../rails/evm/caller.ts';
import { depositAddress } from '../../rails/evm/deposit.ts';
import { MAIN_CHAINS } from '../../rails/utxo/params.ts';
import { createWalletOpener } from '../../rails/wallet.ts';
import { fixedRates } from '../../rates/fixed.ts';
import { findTransfers } from '../../store/payments/transfers.ts';
import { chainRail } from '../../modes/live-rail.ts';
import type { Activity } from '../observer.ts';
import { CHAIN_ID, CONFIRMATIONS, eventsOf, etherShop, OWED_WEI, type EtherShop } from './follow-chain.fixture.ts';
import { createChainFollower } from './follow-chain.ts';
import { cancelPayment } from '../payments/payment-actions.ts';
import { createRefund } from '../refunds/create-refund.ts';
import { runDue } from '../payments/run-due.ts';
import { sweepOverview } from '../projects/sweep.ts';
import { setProjectWallet } from '../projects/wallets.ts';
import { NO_REPORTS } from '../../domain/problems.ts';

const RATES = fixedRates(
  new Map([
    ['ETH', 300_000_000_000n],
    ['USDT', 100_000_000n],
  ]),
);
const PART = 10n ** 15n;

interface DepositShop extends EtherShop {
  readonly treasury: string;
  readonly payer: DeployedContract;
  /** An order in USDT, on a deposit contract. */
  dollarOrder(): ReturnType<EtherShop['order']>;
  /** The ether that an order received although it asked for another token. */
  otherEther(id: string): Promise<bigint>;
  /** The ether on an address that a sweep would move. */
  planned(address: string): Promise<bigint>;
  /** The activities about sweeps. */
  readonly told: readonly Activity[];
}

async function depositShop(): Promise<DepositShop> {
  const shop = await etherShop({
    wallet: false,
    rail: (db) => {
      const tokens = (['ETH', 'USDT'] as const).flatMap((asset) => tokenOf(asset, 'ethereum') ?? []);
      const openWallet = createWalletOpener(MAIN_CHAINS);
      return chainRail({ db, rates: RATES, tokens, openWallet, evmChain: () => null, payoutChain: () => 'main' });
    },
  });
  const source = { kind: 'treasury', text: `0x${randomBytes(20).toString('hex')}` } as const;
  const terms = { confirmations: CONFIRMATIONS, toleranceBasisPoints: null };
  const { app, anvil } = shop;
  const wallet = { projectId: app.projectId, network: 'ethereum' as const, source, ...terms };
  expect(await setProjectWallet(app, wallet, MAIN_CHAINS)).toMatchObject({ kind: 'done' });
  const deployed = deployContract(anvil, contractOf('Payers.sol', 'Payer'));
  await anvil.mine(1);
  const payer = await deployed;
  await shop.advance();
  const told: Activity[] = [];
  return {
    ...shop,
    treasury: source.text,
    payer,
    told,
    dollarOrder: () => shop.order({ token: { asset: 'USDT', network: null } }),
    otherEther: async (id) => {
      const transfers = (await findTransfers(app.db, [id])).get(id) ?? [];
      const others = otherMoney(await app.read(id), transfers);
      return others.find(({ asset }) => asset === 'ETH')?.seenUnits ?? 0n;
    },
    planned: async (address) => {
      const caller = createEvmCaller({
        network: 'ethereum',
        urls: [anvil.url],
        chainId: CHAIN_ID,
        timeoutMs: 5_000,
        problems: NO_REPORTS,
      });
      const request = { projectId: app.projectId, network: 'ethereum', tokens: new Map() } as const;
      const plan = await sweepOverview({ ...app, observer: (one) => told.push(one) }, request, caller, () =>
        Promise.resolve(RATES),
      );
      await caller.close();
      if (plan.kind !== 'done') throw new Error(plan.code);
      return plan.holdings.find((held) => held.address === address.toLowerCase())?.units ?? 0n;
    },
  };
}

it('planning the next sweep emits how many deposits the previous one swept', async () => {
  const shop = await depositShop();
  const sweep = { kind: 'sweep_planned', projectId: shop.app.projectId, network: 'ethereum' };
  const [first, second] = [await shop.dollarOrder(), await shop.dollarOrder()];
  for (const { address } of [first, second]) {
    await shop.payer.send('pay', [address], { valueWei: 2n * PART });
    await shop.mine();
    await shop.follow();
  }
  expect(await shop.planned(first.address)).toBe(2n * PART);
  expect(shop.told).toEqual([{ ...sweep, deposits: 2, calls: 2, swept: 0 }]);
  await shop.anvil.rpc('anvil_setBalance', [first.address, '0x0']);
  expect(await shop.planned(first.address)).toBe(0n);
  expect(shop.told.at(-1)).toEqual({ ...sweep, deposits: 1, calls: 2, swept: 1 });
});

describe('ether that lay on an address before it was handed out', () => {
  it.each(['an account', 'a contract'] as const)('paid by %s counts for no payment', async (from) => {
    const shop = await depositShop();
    const { app, payer, source } = shop;
    const pay = async (address: string, valueWei: bigint): Promise<string> => {
      if (from === 'a contract') return payer.send('pay', [address], { valueWei });
      return shop.anvil.transfer(address, valueWei);
    };
    const follower = createChainFollower(app, source);
    const step = async (apartMs?: number): Promise<void> => {
      await shop.mine(1, apartMs);
      while ((await follower.follow()) !== 'at_head');
      await runDue(app, 10);
    };
    const received = async (id: string) =>
      ((await findTransfers(app.db, [id])).get(id) ?? []).map((t) => t.amountUnits);
    await pay(depositAddress(shop.treasury, 0), OWED_WEI);
    await pay(depositAddress(shop.treasury, 1), OWED_WEI);
    await step();
    await step();
    const [order, dollars] = [await shop.order(), await shop.dollarOrder()];
    expect(order.address).toBe(depositAddress(shop.treasury, 0));
    for (const apartMs of [12_000, 12_000, 600_000]) await step(apartMs);
    for (const { id } of [order, dollars]) {
      expect(await received(id)).toEqual([]);
      expect(await app.read(id)).toMatchObject({ status: 'pending', exception: 'none' });
    }
    await payer.send('pay', [order.address], { valueWei: OWED_WEI });
    await payer.send('pay', [dollars.address], { valueWei: PART });
    for (const apartMs of [12_000, 12_000, 12_000, 600_000]) await step(apartMs);
    expect(await received(order.id)).toEqual([OWED_WEI]);
    expect(await app.read(order.id)).toMatchObject({ status: 'completed', exception: 'none' });
    expect(await received(dollars.id)).toEqual([PART]);
  });

  it('is not what a reorganisation moves to a block of a lower height', async () => {
    const shop = await depositShop();
    const { app, payer } = shop;
    const follower = createChainFollower(app, shop.source);
    const step = async (count: number): Promise<void> => {
      await shop.mine(count);
      while ((await follower.follow()) !== 'at_head');
    };
    await step(2);
    const back = await shop.checkpoint();
    await step(3);
    const order = await shop.order();
    await payer.send('pay', [order.address], { valueWei: OWED_WEI });
    await step(1);
    await back();
    const hash = await payer.send('pay', [order.address], { valueWei: OWED_WEI });
    await step(8);
    await step(1);
    await runDue(app, 10);
    expect(await app.read(order.id)).toMatchObject({ status: 'completed', exception: 'none' });
    const transfers = (await findTransfers(app.db, [order.id])).get(order.id) ?? [];
    expect(transfers.filter(({ state }) => state !== 'dropped')).toMatchObject([{ transactionHash: hash }]);
  });

  it('is never traced for a payment when no node has the balance of that time', async () => {
    const shop = await depositShop();
    const { app, payer, source } = shop;
    const { native } = source;
    if (!native) throw new Error('the source has no native asset');
    const hash = await payer.send('pay', [depositAddress(shop.treasury, 0)], { valueWei: OWED_WEI });
    const handedOutAt = { height: Number.MAX_SAFE_INTEGER };
    const forgetful: typeof source = {
      ...source,
      native: {
        ...native,
        balancesAt: (addresses, block) =>
          block.height <= handedOutAt.height
            ? Promise.reject(new ChainUnavailableError('ethereum', 'eth_getBalance', []))
            : native.balancesAt(addresses, block),
      },
    };
    const follower = createChainFollower(app, forgetful);
    const step = async (): Promise<void> => {
      await shop.mine(1);
      while ((await follower.follow()) !== 'at_head');
      await runDue(app, 10);
    };
    await step();
    const order = await shop.order();
    handedOutAt.height = (await shop.cursorHeight()) ?? 0;
    for (let block = 0; block < CONFIRMATIONS + 1; block += 1) await step();
    const transfers = (await findTransfers(app.db, [order.id])).get(order.id) ?? [];
    expect(transfers).toMatchObject([{ amountUnits: OWED_WEI }]);
    expect(transfers[0]?.transactionHash).not.toBe(hash);
    expect((await app.read(order.id)).status).toBe('pending');
  });
});

describe('ether that a contract passes on to an order in another token', () => {
  it('is recorded with its hash, published once, refundable and part of a sweep', async () => {
    const shop = await depositShop();
    const { app, payer } = shop;
    const order = await shop.dollarOrder();
    const hash = await payer.send('pay', [order.address], { valueWei: 2n * PART });
    await shop.advance();
    expect(await shop.otherEther(order.id)).toBe(2n * PART);
    expect(await shop.planned(order.address)).toBe(2n * PART);
    await shop.advance(CONFIRMATIONS);
    await shop.follow();
    expect((await findTransfers(app.db, [order.id])).get(order.id)).toMatchObject([
      { transactionHash: hash, asset: 'ETH', amountUnits: 2n * PART, state: 'confirmed' },
    ]);
    expect(await app.read(order.id)).toMatchObject({ status: 'pending', exception: 'none' });
    expect((await eventsOf(app, order.id)).filter((type) => type === 'payment.wrong_asset')).toHaveLength(1);
    await shop.advance(1, 60 * 60_000);
    await runDue(app, 10);
    await runDue(app, 10);
    expect(await app.read(order.id)).toMatchObject({ status: 'expired', exception: 'none' });
    const address = `0x${randomBytes(20).toString('hex')}`;
    const { projectId, mode, api, id: paymentId } = order;
    const request = { projectId, mode, api, paymentId, wanted: null, address, reason: null };
    const refund = await createRefund(app, { ...request, token: { asset: 'ETH', network: null } }, null);
    expect(refund).toMatchObject({ kind: 'done', refund: { asset: 'ETH', units: 2n * PART } });
  });

  it('is published without a hash if no node traces', async () => {
    const shop = await depositShop();
    const { app, source } = shop;
    const { native } = source;
    if (!native) throw new Error('the source has no native asset');
    const traceless = { ...source, native: { ...native, internalTransfers: () => Promise.resolve(null) } };
    const order = await shop.dollarOrder();
    await shop.payer.send('pay', [order.address], { valueWei: PART });
    await shop.mine(CONFIRMATIONS);
    await shop.follow(traceless);
    await shop.mine(CONFIRMATIONS);
    await shop.follow(traceless);
    const events = await app.db.selectFrom('events').select('body').where('payment_id', '=', order.id).execute();
    const told = events.map(({ body }) => JSON.parse(body)).filter(({ type }) => type === 'payment.wrong_asset');
    expect(told).toMatchObject([{ data: { received: { amount: 0.001, transaction_hash: null } } }]);
  });

  it('is recorded with its hash by a process that began after it came', async () => {
    const shop = await depositShop();
    const order = await shop.dollarOrder();
    const before = createChainFollower(shop.app, shop.source);
    const step = async (follower: typeof before): Promise<void> => {
      await shop.mine();
      while ((await follower.follow()) !== 'at_head');
    };
    await step(before);
    const hash = await shop.payer.send('pay', [order.address], { valueWei: PART });
    await step(before);
    expect(await shop.otherEther(order.id)).toBe(0n);
    await step(createChainFollower(shop.app, shop.source));
    const transfers = (await findTransfers(shop.app.db, [order.id])).get(order.id);
    expect(transfers).toMatchObject([{ transactionHash: hash, amountUnits: PART }]);
  });

  it('adds up with what a plain account sent, before it and after it', async () => {
    const shop = await depositShop();
    const order = await shop.dollarOrder();
    await shop.pay(order.address, PART);
    await shop.payer.send('pay', [order.address], { valueWei: 2n * PART });
    await shop.advance();
    await shop.pay(order.address, PART);
    expect(await shop.otherEther(order.id)).toBe(4n * PART);
    expect(await shop.planned(order.address)).toBe(4n * PART);
  });

  it('is found after the order ended, as long as its address is watched', async () => {
    const shop = await depositShop();
    const order = await shop.dollarOrder();
    expect(await cancelPayment(shop.app, { id: order.id })).toMatchObject({ kind: 'changed' });
    await shop.payer.send('pay', [order.address], { valueWei: PART });
    await shop.advance();
    expect(await shop.otherEther(order.id)).toBe(PART);
  });

  it('is searched for every ten minutes, not with each block', async () => {
    const shop = await depositShop();
    const { app, source } = shop;
    // Each look asks for the treasury twice, before and after the block, and then for all addresses.
    const looks: number[] = [];
    const { native } = source;
    if (!native) throw new Error('the source has no native asset');
    const counting: typeof source = {
      ...source,
      native: {
        ...native,
        balancesAt: (addresses, block) => {
          looks.push(addresses.length);
          return native.balancesAt(addresses, block);
        },
      },
    };
    await Promise.all([shop.dollarOrder(), shop.dollarOrder()]);
    const follower = createChainFollower(app, counting);
    const step = async (apartMs: number): Promise<void> => {
      await shop.mine(1, apartMs);
      while ((await follower.follow()) !== 'at_head');
    };
    await step(12_000);
    for (let block = 0; block < 20; block += 1) await step(12_000);
    // The first look at an address is two: at what lay there before it was handed out, and after the newest block.
    expect(looks).toEqual([1, 1, 2, 2]);
    const order = await shop.dollarOrder();
    await step(12_000);
    expect(looks.slice(4)).toEqual([1, 1, 1, 1]);
    await shop.payer.send('pay', [order.address], { valueWei: PART });
    await step(12_000);
    expect(await shop.otherEther(order.id)).toBe(0n);
    await step(600_000);
    expect(await shop.otherEther(order.id)).toBe(PART);
    expect(looks.slice(8)).toEqual([1, 1, 3]);
  });
});
