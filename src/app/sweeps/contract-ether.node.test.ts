import { sql } from 'kysely';
import { encodeFunctionData, toHex } from 'viem';
import { describe, expect, it } from 'vitest';
import { ANVIL_ACCOUNT } from '../../../test/anvil.ts';
import { STRANGER } from '../../../test/deposits/chain.ts';
import { contractOf, deployContract } from '../../../test/erc20.ts';
import { tokenOf } from '../../domain/asset.ts';
import { chainRail } from '../../modes/live-rail.ts';
import { ChainUnavailableError, type ChainSource, type NativeBalances } from '../../rails/chain.ts';
import { depositAddress } from '../../rails/evm/deposit.ts';
import { planSweep } from '../../rails/evm/sweep.ts';
import { MAIN_WALLETS } from '../../rails/wallet.fixture.ts';
import { fixedRates } from '../../rates/fixed.ts';
import type { Database } from '../../store/database.ts';
import { findTransfers } from '../../store/payments/transfers.ts';
import { createChainFollower } from '../chains/follow-chain.ts';
import { OWED_WEI, setWallet } from '../chains/follow-chain.fixture.ts';
import { networkStatus } from '../chains/network-status.ts';
import { makeStatement } from '../dashboard/export-report.ts';
import { checkDeposits } from './check-deposits.ts';
import { follow as followSweeps, sweepShop } from './sweep-shop.fixture.ts';

const HALF = OWED_WEI / 2n;
const PAYER = contractOf('Payers.sol', 'Payer');
const WALLET = contractOf('Payers.sol', 'Wallet');
const DAY_MS = 86_400_000;
const FLUSH = `0x79c76e1a${'0'.repeat(64)}`;

/** Ether, and USDT that no node follows. */
const rail = (db: Database) =>
  chainRail({
    db,
    rates: fixedRates(
      new Map([
        ['ETH', 300_000_000_000n],
        ['USDT', 100_000_000n],
      ]),
    ),
    tokens: (['ETH', 'USDT'] as const).flatMap((asset) => tokenOf(asset, 'ethereum') ?? []),
    ...MAIN_WALLETS,
    evmChain: () => null,
    payoutChain: () => 'main',
  });

/**
 * A shop with deposits whose blocks hold their transactions in the order in which they were sent, and one follower for
 * all of the test, so that addresses that wait for no ether are looked at every ten minutes alone.
 */
async function etherOfContracts() {
  const shop = await sweepShop(new Map(), rail);
  const { app, anvil, chain, treasury } = shop;
  const payer = await deployContract(anvil, PAYER);
  const wallet = await deployContract(anvil, WALLET);
  let gwei = 100;
  const send = async (call: { from: string; to?: string; data?: string; value?: bigint; gas?: bigint }) => {
    const { value = 0n, gas = 2_000_000n } = call;
    gwei -= 1;
    const price = toHex(BigInt(gwei) * 10n ** 9n);
    return String(
      await anvil.rpc('eth_sendTransaction', [{ ...call, value: toHex(value), gas: toHex(gas), gasPrice: price }]),
    );
  };
  const indexOf = async (address: string) => {
    const { address_index: index } = await app.db
      .selectFrom('payment_addresses')
      .select('address_index')
      .where('address', '=', address.toLowerCase())
      .executeTakeFirstOrThrow();
    return index ?? 0;
  };
  const sweepOf = async (...addresses: readonly string[]) => {
    const deposits = [];
    for (const address of addresses) {
      deposits.push({ index: await indexOf(address), address, balances: [{ token: null, units: 1n }] });
    }
    const { calls } = planSweep({ treasury, deposits, factoryDeployed: true });
    return { to: calls[0]?.to ?? '', data: calls[0]?.data ?? '' };
  };
  const follower = (source: ChainSource) => {
    const one = createChainFollower(app, source);
    return async () => {
      while ((await one.follow()) !== 'at_head');
    };
  };
  const take = follower(shop.source);
  const block = async (count = 1) => {
    await shop.mine(count);
    gwei = 100;
  };
  const [{ to, data } = { to: '', data: '' }] = planSweep({
    treasury,
    deposits: [{ index: 0, address: (await shop.order()).address, balances: [{ token: null, units: 1n }] }],
    factoryDeployed: false,
  }).calls;
  await send({ from: STRANGER, to, data });
  await block();
  await take();
  return {
    ...shop,
    follower,
    take,
    block,
    mined: async () => {
      await block();
      await take();
    },
    plain: (to: string, value: bigint) => send({ from: ANVIL_ACCOUNT, to, value }),
    byContract: (to: string, value: bigint) =>
      send({
        from: ANVIL_ACCOUNT,
        to: payer.address,
        data: encodeFunctionData({ abi: PAYER.abi, functionName: 'pay', args: [to] }),
        value,
      }),
    sweep: async (...addresses: readonly string[]) => send({ from: STRANGER, ...(await sweepOf(...addresses)) }),
    sweepByWallet: async (address: string) => {
      const call = await sweepOf(address);
      const data = encodeFunctionData({ abi: WALLET.abi, functionName: 'execute', args: [call.to, call.data] });
      return send({ from: STRANGER, to: wallet.address, data });
    },
    /** By the deposit's own function, which anybody may call. */
    flush: (address: string) => send({ from: STRANGER, to: address, data: FLUSH }),
    flushByWallet: (address: string) => {
      const data = encodeFunctionData({ abi: WALLET.abi, functionName: 'execute', args: [address, FLUSH] });
      return send({ from: STRANGER, to: wallet.address, data });
    },
    /** A contract that flushes the address when it is called, which names it in no call. */
    flusher: async (address: string) => {
      const call = `63${FLUSH.slice(2, 10)}60e01b6000526000600060246000600073${address.slice(2)}5af100`;
      const hash = await send({ from: STRANGER, data: `0x602d8060093d393df3${call}` });
      await block();
      const receipt = Object(await anvil.rpc('eth_getTransactionReceipt', [hash]));
      const at = String(Object.fromEntries(Object.entries(receipt))['contractAddress']);
      return () => send({ from: STRANGER, to: at });
    },
    /** From an address itself, of which anvil needs no key; all but what gas may cost. */
    spend: async (from: string) => {
      await anvil.rpc('anvil_impersonateAccount', [from]);
      const lies = BigInt(String(await anvil.rpc('eth_getBalance', [from, 'latest'])));
      return send({ from, to: treasury, value: lies - 21_000n * 10n ** 11n, gas: 21_000n });
    },
    dollarOrder: () => shop.order({ token: { asset: 'USDT', network: null } }),
    /** The recorded money of an order, and its status. */
    outcome: async (id: string) => {
      const payment = await app.read(id);
      const transfers = ((await findTransfers(app.db, [id])).get(id) ?? []).filter(
        ({ state }) => state === 'confirmed',
      );
      return {
        came: transfers.reduce((sum, { amountUnits }) => sum + amountUnits, 0n),
        untraced: transfers.filter(({ transactionHash }) => !transactionHash.startsWith('0x')).length,
        status: `${payment.status}/${payment.exception}`,
      };
    },
    statement: async () => {
      const client = await app.database.connect();
      try {
        const scope = { projectId: app.projectId, mode: 'live', withSweeps: true } as const;
        const [from, to] = [-10, 10].map((days) => new Date(app.clock() + days * DAY_MS).toISOString().slice(0, 10));
        const days = { from: from ?? '', to: to ?? '', zone: 'UTC' };
        return await makeStatement(app, client, { scope, days }, () => Promise.resolve());
      } finally {
        await client.end();
      }
    },
    check: () => checkDeposits(app, chain, app.projectId),
    native: nativeOf(shop.source),
    unclear: async () => {
      const [status] = await networkStatus(app, ['ethereum']);
      return status?.warnings.filter((warning) => warning.startsWith('money left')) ?? [];
    },
  };
}

it('what lay on an address before it was handed out is swept with the payment, and the statement says so', async () => {
  const shop = await etherOfContracts();
  const former = depositAddress(shop.treasury, 1);
  await shop.plain(former, HALF);
  await shop.mined();
  const order = await shop.order();
  expect(order.address).toBe(former);
  await shop.plain(former, OWED_WEI);
  await shop.mined();
  await shop.check();
  const lies = await shop.statement();
  expect(lies).toMatchObject({ verdict: 'balanced', books: { deposits: [{ received: OWED_WEI + HALF, swept: 0n }] } });
  await shop.sweep(former);
  await shop.mined();
  await shop.mined();
  await shop.check();
  await followSweeps(shop);
  const paid = { came: OWED_WEI, untraced: 0, status: 'completed/none' };
  expect(await shop.outcome(order.id)).toEqual(paid);
  const swept = await shop.statement();
  expect(swept).toMatchObject({
    verdict: 'balanced',
    books: { deposits: [{ received: OWED_WEI + HALF, swept: OWED_WEI + HALF, there: 0n }] },
  });
});

it('ether of contracts is counted whatever leaves the address in the same stride', async () => {
  const shop = await etherOfContracts();
  const { take, block, mined, plain, byContract, sweep, outcome } = shop;
  const paid = { came: OWED_WEI, untraced: 0, status: 'completed/none' };
  const halfPaid = async () => {
    const order = await shop.order();
    await plain(order.address, HALF);
    await mined();
    return order;
  };

  const after = await halfPaid();
  await sweep(after.address);
  await byContract(after.address, HALF);
  await mined();
  expect.soft(await outcome(after.id), '(a) in the block of the sweep, after it').toEqual(paid);

  const before = await halfPaid();
  await byContract(before.address, HALF);
  await sweep(before.address);
  await mined();
  expect.soft(await outcome(before.id), '(a) in the block of the sweep, before it').toEqual(paid);

  for (const apart of [10, 98]) {
    const order = await halfPaid();
    await sweep(order.address);
    await block(apart);
    await byContract(order.address, HALF);
    await mined();
    expect.soft(await outcome(order.id), `(b) ${apart} blocks apart, in downtime`).toEqual(paid);
  }

  const wei = await shop.order();
  await plain(wei.address, 4_113_340_000_000_000n);
  await mined();
  await sweep(wei.address);
  await block();
  await byContract(wei.address, 4_113_340_000_000_001n);
  await mined();
  const most = { came: 8_226_680_000_000_001n, untraced: 0, status: 'pending/underpaid' };
  expect.soft(await outcome(wei.id), '(c) one wei more than was swept').toEqual(most);

  const rolledBack = await halfPaid();
  await sweep(rolledBack.address);
  await mined();
  const back = await shop.checkpoint();
  await byContract(rolledBack.address, HALF);
  await mined();
  await back();
  await block();
  await byContract(rolledBack.address, HALF);
  await block();
  await mined();
  expect.soft(await outcome(rolledBack.id), '(d) a reorganisation after the sweep').toEqual(paid);

  const orphaned = await shop.order();
  const orphan = await shop.checkpoint();
  await byContract(orphaned.address, OWED_WEI);
  await mined();
  await sweep(orphaned.address);
  await mined();
  await orphan();
  await byContract(orphaned.address, OWED_WEI);
  await block();
  await sweep(orphaned.address);
  await block(2);
  await mined();
  expect.soft(await outcome(orphaned.id), '(e) payment and sweep mined again').toEqual(paid);

  const many = await shop.order();
  await plain(many.address, 1n);
  await sweep(many.address);
  await byContract(many.address, 20n);
  await block();
  await sweep(many.address);
  await byContract(many.address, 300n);
  await plain(many.address, 4_000n);
  await block(3);
  await byContract(many.address, 50_000n);
  await sweep(many.address, after.address);
  await block();
  await byContract(many.address, 600_000n);
  await sweep(many.address);
  await byContract(many.address, 7_000_000n);
  await sweep(many.address);
  await block(40);
  await byContract(many.address, 80_000_000n);
  await mined();
  const sum = { came: 87_654_321n, untraced: 0, status: 'pending/underpaid' };
  expect.soft(await outcome(many.id), 'several payments and sweeps in one stride').toEqual(sum);

  const dollars = await shop.dollarOrder();
  await byContract(dollars.address, HALF);
  await block();
  await sweep(dollars.address);
  await block();
  await byContract(dollars.address, HALF);
  await mined();
  await block(51);
  await mined();
  const other = { came: OWED_WEI, untraced: 0, status: 'pending/none' };
  expect.soft(await outcome(dollars.id), 'an order in a token').toEqual(other);

  const wrapped = await halfPaid();
  const byWallet = await shop.sweepByWallet(wrapped.address);
  await block();
  await byContract(wrapped.address, HALF);
  await mined();
  expect.soft(await outcome(wrapped.id), 'a sweep that a contract wallet calls').toEqual(paid);

  const emptied = [
    ['a stranger calls the deposit', (address: string) => () => shop.flush(address)],
    ["a stranger's contract wallet calls it", (address: string) => () => shop.flushByWallet(address)],
    ['a contract calls it that nothing names', shop.flusher],
  ] as const;
  const flushes: { readonly address: string; readonly hash: string }[] = [];
  for (const [who, prepare] of emptied) {
    for (const apart of [0, 1]) {
      const order = await shop.order();
      const flush = await prepare(order.address);
      await sweep(order.address);
      await mined();
      await byContract(order.address, OWED_WEI);
      if (apart > 0) await block(apart);
      flushes.push({ address: order.address, hash: await flush() });
      await mined();
      expect.soft(await outcome(order.id), `${who}, ${apart} blocks after the payment`).toEqual(paid);
    }
  }

  const inOneBlock = await halfPaid();
  const firstHalf = await sweep(inOneBlock.address);
  await byContract(inOneBlock.address, HALF);
  const secondHalf = await shop.flush(inOneBlock.address);
  await mined();
  expect.soft(await outcome(inOneBlock.id), 'taken twice in one block').toEqual(paid);

  const inVain = await shop.order();
  await sweep(inVain.address);
  await byContract(inVain.address, OWED_WEI);
  const flushed = await shop.flush(inVain.address);
  await mined();
  expect.soft(await outcome(inVain.id), 'a sweep in vain before it').toEqual(paid);

  const twice = await shop.order();
  const payAll = () => byContract(twice.address, OWED_WEI);
  for (const act of [payAll, () => sweep(twice.address), payAll]) {
    await act();
    await mined();
  }
  await shop.check();
  expect.soft((await shop.statement()).verdict, '(f) before the second payment is seen').toBe('explained');
  await block(51);
  await take();
  const double = { came: 2n * OWED_WEI, untraced: 0, status: 'completed/overpaid' };
  expect.soft(await outcome(twice.id), '(f) a second payment within ten minutes').toMatchObject(double);
  await shop.check();
  await followSweeps(shop);
  expect.soft(await shop.statement(), '(f) all of it').toMatchObject({ verdict: 'balanced' });

  const takings = async (address: string) =>
    shop.app.db
      .selectFrom('sweep_transfers')
      .select('transaction_hash')
      .where('deposit_address', '=', address.toLowerCase())
      .execute();
  const wallets = [{ transaction_hash: byWallet }];
  expect.soft(await takings(wrapped.address), 'the hash of what a contract wallet took').toEqual(wallets);
  for (const [number, { address, hash }] of flushes.entries())
    expect.soft(await takings(address), `the hash of flush ${number}`).toEqual([{ transaction_hash: hash }]);

  const halves = [{ transaction_hash: firstHalf }, { transaction_hash: secondHalf }];
  expect.soft(await takings(inOneBlock.address), 'both that took something in a block').toEqual(halves);
  expect.soft(await takings(inVain.address), 'the one that took it').toEqual([{ transaction_hash: flushed }]);

  // A sweep that is recorded twice brings no money.
  await shop.app.db
    .updateTable('sweep_transfers')
    .set({ units: sql`2 * units` })
    .where('deposit_address', '=', twice.address.toLowerCase())
    .execute();
  expect
    .soft((await shop.statement()).books.depositDifferences.rows, 'a doubled sweep')
    .toMatchObject([{ received: 2n * OWED_WEI, swept: 2n * OWED_WEI, there: OWED_WEI, unseen: 0n }]);

  await setWallet(shop.app, shop.app.projectId, undefined, 1);
  const own = await shop.order();
  await plain(own.address, HALF);
  await mined();
  await shop.spend(own.address);
  await block();
  await byContract(own.address, HALF);
  await mined();
  expect.soft(await outcome(own.id), 'an address that its owner spends from').toEqual(paid);
});

describe('a node that cannot say what a contract paid', () => {
  const paidTwice = { came: OWED_WEI, untraced: 1, status: 'pending/paid_late' };

  it('leaves nothing open about a sweep that took what was known, whether the node traces or not', async () => {
    const shop = await etherOfContracts();
    const { block, outcome } = shop;
    const take = shop.follower(changed(shop.source, { internalTransfers: () => Promise.resolve(null) }));
    const [order, other] = [await shop.order(), await shop.order()];
    await shop.plain(order.address, HALF);
    await shop.plain(other.address, OWED_WEI);
    await block();
    await shop.sweep(order.address, other.address);
    await block();
    await shop.byContract(order.address, HALF);
    await block();
    await take();
    expect(await outcome(order.id)).toEqual(paidTwice);
    expect(await shop.unclear()).toEqual([]);
  });

  it('leaves a block open in which a treasury got more than was known, until a node traces', async () => {
    const shop = await etherOfContracts();
    const { block, outcome, check } = shop;
    const [order, other] = [await shop.order(), await shop.order()];
    await shop.plain(order.address, HALF);
    await block();
    await Promise.all([shop.byContract(order.address, HALF), shop.sweep(order.address)]);
    // The node shows that 1 wei more lies there, and not that what was there before is gone.
    await shop.plain(other.address, 7n);
    await shop.sweep(other.address);
    await shop.byContract(other.address, 8n);
    await block();
    await shop.follower(changed(shop.source, { internalTransfers: () => Promise.resolve(null) }))();
    await check();
    expect(await outcome(order.id)).toMatchObject({ came: HALF });
    expect(await shop.unclear()).toEqual([expect.stringContaining('money left 2 of your addresses')]);
    const { verdict, books } = await shop.statement();
    expect(verdict).toBe('explained');
    expect(books.depositDifferences.rows).toMatchObject([{ isUnclear: true }, { isUnclear: true }]);
    await block();
    await shop.take();
    expect(await outcome(order.id)).toEqual({ came: OWED_WEI, untraced: 0, status: 'completed/none' });
    expect(await outcome(other.id)).toMatchObject({ came: 15n });
    await check();
    await followSweeps(shop);
    expect(await shop.unclear()).toEqual([]);
    expect((await shop.statement()).verdict).toBe('balanced');
  });

  it('leaves blocks open whose balances it has no more, and warns, until another node has them', async () => {
    const shop = await etherOfContracts();
    const { block, outcome, check } = shop;
    const order = await shop.order();
    await shop.plain(order.address, HALF);
    await shop.mined();
    await shop.sweep(order.address);
    await block();
    await shop.byContract(order.address, HALF);
    await block(150);
    const tip = (await shop.source.head()).height;
    const pruned = changed(shop.source, {
      balancesAt: async (addresses, at) => {
        if (at.height <= tip - 128) throw unavailable();
        return shop.native.balancesAt(addresses, at);
      },
    });
    await shop.follower(pruned)();
    await check();
    expect(await outcome(order.id)).toMatchObject({ came: HALF });
    expect(await shop.unclear()).toHaveLength(1);
    expect((await shop.statement()).verdict).toBe('explained');
    // The block is compared first, and then what came after it.
    for (let looks = 0; looks < 2; looks += 1) {
      await block(51);
      await shop.take();
    }
    expect(await outcome(order.id)).toEqual(paidTwice);
    expect(await shop.unclear()).toEqual([]);
    await check();
    expect((await shop.statement()).verdict).toBe('balanced');
  });

  it('counts each coin once when it refuses a call, or when the compared block is replaced meanwhile', async () => {
    const shop = await etherOfContracts();
    const { block, outcome } = shop;
    for (const fault of ['refusal', 'reorganisation'] as const) {
      const order = await shop.order();
      await shop.plain(order.address, HALF);
      await shop.mined();
      const back = await shop.checkpoint();
      const pay = async () => {
        await shop.sweep(order.address);
        await block(2);
        await shop.byContract(order.address, HALF);
        await block();
      };
      await pay();
      let calls = 0;
      const flawed = changed(shop.source, {
        balancesAt: async (addresses, at) => {
          calls += 1;
          if (calls !== 2) return shop.native.balancesAt(addresses, at);
          if (fault === 'refusal') throw unavailable();
          await back();
          await block();
          await pay();
          await block();
          return shop.native.balancesAt(addresses, at);
        },
      });
      const take = shop.follower(flawed);
      await take();
      for (let looks = 0; looks < 2; looks += 1) {
        await block();
        await take();
      }
      expect.soft(await outcome(order.id), fault).toMatchObject({ came: OWED_WEI });
      expect(await shop.unclear()).toEqual([]);
    }
  });
});

function changed(source: ChainSource, change: Partial<NativeBalances>): ChainSource {
  return { ...source, native: { ...nativeOf(source), ...change } };
}

function nativeOf({ native }: ChainSource): NativeBalances {
  if (!native) throw new Error('the source has no native asset');
  return native;
}

const unavailable = () =>
  new ChainUnavailableError('ethereum', 'eth_call', [{ node: 'a node', reason: 'missing trie node' }]);
