import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { emptyDatabase } from '../../test/database.ts';
import { newPayment, type TestApp } from '../../test/harness.ts';
import { contractOf, deployContract } from '../../test/erc20.ts';
import { responseFaults } from '../../test/response-shape.ts';
import { eventShape } from '../http/openapi/webhook-schema.ts';
import { makeBackup } from './make-backup.ts';
import { restoreBackup } from './restore-backup.ts';
import { readConfig } from '../config/config.ts';
import { tokenOf, type AssetCode } from '../domain/asset.ts';
import type { Network } from '../domain/networks.ts';
import { MIN_SKIP } from '../domain/recovery.ts';
import type { Payment } from '../domain/payment.ts';
import type { ChainSource } from '../rails/chain.ts';
import type { WalletSource } from '../rails/family.ts';
import type { UtxoChains } from '../rails/utxo/params.ts';
import { createWalletOpener } from '../rails/wallet.ts';
import { fixedRates } from '../rates/fixed.ts';
import { openDatabase } from '../store/database.ts';
import { onConnection } from '../store/one-connection.ts';
import { findPayments } from '../store/payments.ts';
import { bookLost } from '../app/chains/book-lost.ts';
import { chainRail } from '../modes/live-rail.ts';
import type { App } from '../app/context.ts';
import { createPaymentCreator } from '../app/payments/create-payment.ts';
import { account, etherShop, xpubOf } from '../app/chains/follow-chain.fixture.ts';
import { createChainFollower } from '../app/chains/follow-chain.ts';
import { coinShop, REGTEST } from '../app/chains/follow-utxo.fixture.ts';
import { networkStatus } from '../app/chains/network-status.ts';
import { passOver, recover } from '../app/chains/recover.ts';
import { setProjectWallet } from '../app/projects/wallets.ts';
import { inTransaction } from '../app/in-transaction.ts';

const DAY_MS = 86_400_000;
const log = pino({ level: 'silent' });

/** A shop on a real chain of which copies can be made. */
interface Scene {
  readonly app: TestApp;
  readonly source: ChainSource;
  readonly network: Network;
  readonly asset: AssetCode;
  readonly chains: UtxoChains;
  /** Pays what an order owes, and mines it with one block more. */
  pay(address: string, units: bigint): Promise<void>;
  /** Takes the blocks off again that come after this; only where the chain can. */
  readonly checkpoint?: () => Promise<() => Promise<void>>;
  readonly payByContract?: (address: string, units: bigint) => Promise<void>;
}

async function ether(source: WalletSource): Promise<Scene> {
  const shop = await etherShop({ wallet: false });
  const request = {
    projectId: shop.app.projectId,
    network: 'ethereum',
    source,
    confirmations: 2,
    toleranceBasisPoints: null,
  };
  const set = await setProjectWallet(shop.app, request, REGTEST);
  if (set.kind !== 'done') throw new Error(set.message);
  return {
    app: shop.app,
    source: shop.source,
    network: 'ethereum',
    asset: 'ETH',
    chains: REGTEST,
    checkpoint: () => shop.checkpoint(),
    payByContract: async (address, units) => {
      const contract = contractOf('Payers.sol', 'Payer');
      const payer = await deployContract(shop.anvil, contract);
      await payer.send('pay', [address], { valueWei: units });
      await shop.mine(1);
    },
    pay: async (address, units) => {
      await shop.anvil.transfer(address, units);
      await shop.mine(2);
    },
  };
}

async function litecoin(): Promise<Scene> {
  const shop = await coinShop('litecoin');
  return {
    app: shop.app,
    source: shop.source,
    network: 'litecoin',
    asset: 'LTC',
    chains: REGTEST,
    pay: async (address, units) => {
      await shop.node.send(address, (Number(units) / 1e8).toFixed(8));
      shop.app.clock.advance(60_000);
      await shop.setNodeClock(0);
      await shop.node.mine(2);
    },
  };
}

const SCENES: readonly (readonly [string, () => Promise<Scene>])[] = [
  ['an extended public key', () => ether({ kind: 'xpub', text: xpubOf(account(3)) })],
  ['deposit contracts', () => ether({ kind: 'treasury', text: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' })],
  ['a descriptor', litecoin],
];

/** One installation: the original, or what was made of its backup. */
function installation(scene: Scene, app: App, creator: TestApp['creator']) {
  const openWallet = createWalletOpener(scene.chains);
  const read = async (id: string): Promise<Payment> => {
    const [payment] = await findPayments(app.db, [id]);
    if (payment === undefined) throw new Error(`There is no payment ${id}`);
    return payment;
  };
  return {
    app,
    read,
    follow: async (): Promise<void> => {
      const follower = createChainFollower(app, scene.source, openWallet);
      while ((await follower.follow()) !== 'at_head');
    },
    /** The order's address and what it owes, or why there is none. */
    order: async () => {
      const overrides = { mode: 'live', amountMinor: 3_000n, token: { asset: scene.asset, network: null } } as const;
      let id = '';
      const request = newPayment(scene.app.projectId, overrides);
      const outcome = await creator.create(request, (payment) => ((id = payment.id), id), null);
      if (outcome.kind === 'refused') return { id: '', address: '', owed: 0n, refused: outcome.message };
      const { quote } = await read(id);
      return { id, address: quote?.address ?? '', owed: quote?.owedUnits ?? 0n, refused: null };
    },
    status: async () => {
      const status = (await networkStatus(app, [scene.network])).find(({ network }) => network === scene.network);
      if (status === undefined) throw new Error('no status');
      return status;
    },
    toldLost: async (): Promise<readonly { readonly index: number }[]> => {
      const rows = await app.db
        .selectFrom('events')
        .select('body')
        .where('type', '=', 'payment.lost')
        .orderBy('id')
        .execute();
      return rows
        .map(({ body }) => {
          expect(responseFaults({ 200: eventShape('payment.lost') }, 200, body)).toEqual([]);
          return body;
        })
        .map((body) => (JSON.parse(body) as { data: { index: number } }).data)
        .toSorted((a, b) => a.index - b.index);
    },
  };
}

/** Backs up the original, in a file; restoring makes an installation of its own of it, as the command does. */
async function backedUp(scene: Scene) {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'cointill-backups-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const file = path.join(dir, 'yesterday.backup');
  const { app } = scene;
  const config = readConfig({ DATABASE_URL: app.database.url, DATA_DIR: dir }, dir);
  const target = { kind: 'file', file } as const;
  await makeBackup({ config, log, target, passphrase: null, clock: app.clock, onProgress: () => {} });
  return async (skip: number | null = null) => {
    const url = await emptyDatabase();
    const options = { file, passphrase: async () => null, secretKey: null, log, onProgress: () => {} };
    const to = { kind: 'postgres', url, keyDir: dir } as const;
    const { result } = await restoreBackup(options, to, (client, manifest) =>
      passOver(onConnection(client), { lostSince: manifest.takenAt, now: app.clock(), skip }),
    );
    const handle = openDatabase({ connectionString: url }, { maxConnections: 4, onError: () => {} });
    onTestFinished(() => handle.close());
    const rail = chainRail({
      db: handle.db,
      rates: fixedRates(new Map([[scene.asset, scene.asset === 'LTC' ? 10_000_000_000n : 300_000_000_000n]])),
      tokens: [tokenOf(scene.asset, scene.network)].filter((token) => token !== null),
      openWallet: createWalletOpener(scene.chains),
      evmChain: () => null,
      payoutChain: () => 'regtest',
    });
    const copy: App = { ...app, db: handle.db, railFor: () => rail };
    return { recovery: result, ...installation(scene, copy, createPaymentCreator(copy, handle.pipeline)) };
  };
}

describe.each(SCENES)('yesterday’s copy of a shop with %s, while trade went on', (name, open) => {
  const isTreasury = name === 'deposit contracts';
  /** Of a wallet of which nothing was paid here yet; deposits are in none. */
  const limit = (nextIndex: number): number | null => (isTreasury ? null : nextIndex + 20);

  it('hands out no address twice, completes nobody else’s payment, and finds, tells and books the money of the lost day', async () => {
    const scene = await open();
    const { app } = scene;
    const original = installation(scene, app, app.creator);
    await original.follow();
    const known = [await original.order(), await original.order(), await original.order()];
    const restore = await backedUp(scene);

    // The lost day: a known order is paid, and so are two of five new ones.
    const unknown = [];
    for (let made = 0; made < 5; made += 1) unknown.push(await original.order());
    for (const { address, owed } of [known[1], unknown[1], unknown[3]].filter((one) => one !== undefined)) {
      await scene.pay(address, owed);
    }
    await original.follow();
    app.clock.advance(DAY_MS);
    await app.database.close();

    const copy = await restore();
    expect(copy.recovery.wallets).toMatchObject([
      { network: scene.network, from: 3, to: 3 + MIN_SKIP, gapLimit: limit(3 + MIN_SKIP) },
    ]);
    // It sells at once, before it has read a block.
    const sold = [await copy.order(), await copy.order()];
    const given = [...known, ...unknown, ...sold].map(({ address }) => address);
    expect(new Set(given).size).toBe(10);
    await copy.follow();
    expect((await copy.read(known[1]?.id ?? '')).status).toBe('completed');
    for (const { id } of [known[0], known[2], ...sold].filter((one) => one !== undefined)) {
      expect((await copy.read(id)).status).toBe('pending');
    }
    const lost = (await copy.status()).lost;
    expect(lost.map(({ address, index }) => [address, index])).toEqual([
      [unknown[1]?.address, 4],
      [unknown[3]?.address, 6],
    ]);
    expect(lost.map(({ amountUnits }) => amountUnits)).toEqual([unknown[1]?.owed, unknown[3]?.owed]);
    expect(await copy.toldLost()).toMatchObject([{ index: 4 }, { index: 6, address: unknown[3]?.address }]);

    // Who pays only now is found as well, and stops nothing.
    await scene.pay(unknown[4]?.address ?? '', unknown[4]?.owed ?? 0n);
    await copy.follow();
    expect((await copy.status()).lost.map(({ index }) => index)).toEqual([4, 6, 7]);
    expect((await copy.order()).refused).toBeNull();

    const booking = { amountMinor: 3_000n, currency: 'USD', merchantOrderId: 'A-17', projectId: null } as const;
    const booked = await bookLost(copy.app, { ...booking, address: unknown[1]?.address ?? '' });
    expect(booked).toMatchObject({
      kind: 'done',
      payment: { status: 'completed', merchantOrderId: 'A-17', amountMinor: 3_000n, exception: 'none' },
    });
    expect(await bookLost(copy.app, { ...booking, address: unknown[1]?.address ?? '' })).toMatchObject({
      kind: 'rejected',
    });
    expect((await copy.status()).lost.map(({ index }) => index)).toEqual([6, 7]);
    // Nothing is told twice.
    await copy.follow();
    expect(await copy.toldLost()).toHaveLength(3);
  });

  it('is noticed by the original that is still at work, which hands out nothing more until recover, or warns', async () => {
    const scene = await open();
    const { app } = scene;
    const original = installation(scene, app, app.creator);
    await original.follow();
    await original.order();
    const restore = await backedUp(scene);
    app.clock.advance(60_000);
    const copy = await restore();
    const { address, owed } = await copy.order();
    const before = await original.order();
    expect(before.refused).toBeNull();
    await scene.pay(address, owed);
    await original.follow();

    const next = await original.order();
    // Anybody can reckon a treasury's deposits: a stranger must not be able to stop the shop by a coin to one.
    expect(next.refused ?? '').toMatch(isTreasury ? /^$/ : /are paused: no new addresses/);
    expect((await original.status()).warnings.join()).toMatch(/address number 1001 .*another copy.*cointill recover/);
    expect((await original.status()).lost).toEqual([]);

    const request = { lostSince: app.clock() - 60_000, now: app.clock(), skip: null };
    const recovery = await inTransaction(app, (trx) => recover(app, trx, request));
    // Beyond what the other copy was seen to sell; what was unpaid and passed over before counts for the limit.
    expect(recovery.wallets).toMatchObject([
      { from: isTreasury ? 3 : 2, to: 1_002 + MIN_SKIP, gapLimit: limit(1_002 + MIN_SKIP) },
    ]);
    const after = await original.order();
    expect(after.refused).toBeNull();
    expect([address, before.address]).not.toContain(after.address);
    // What stopped it lies on an address that was passed over by now.
    expect((await original.status()).lost.map(({ index }) => index)).toEqual([1001]);
    expect(await original.toldLost()).toMatchObject([{ index: 1001 }]);
  });
});

describe('money of lost hours', () => {
  const start = async () => {
    const scene = await ether({ kind: 'treasury', text: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' });
    const original = installation(scene, scene.app, scene.app.creator);
    await original.follow();
    return { scene, original, restore: await backedUp(scene) };
  };

  it('beyond what was reckoned with moves the next address beyond it, and is found all the same', async () => {
    const { scene, original, restore } = await start();
    const sold = [];
    for (let made = 0; made < 6; made += 1) sold.push(await original.order());
    const last = sold.at(-1);
    await scene.pay(last?.address ?? '', last?.owed ?? 0n);
    scene.app.clock.advance(DAY_MS);
    // As if twice the busiest day had been two.
    const copy = await restore(2);
    expect(copy.recovery.wallets).toMatchObject([{ from: 0, to: 2 }]);
    await copy.follow();
    expect((await copy.status()).lost.map(({ index }) => index)).toEqual([5]);
    expect((await copy.status()).warnings.join()).not.toMatch(/another copy/);
    const next = await copy.order();
    expect(next.refused).toBeNull();
    const { address_index } = await copy.app.db
      .selectFrom('payment_addresses')
      .select('address_index')
      .where('payment_id', '=', next.id)
      .executeTakeFirstOrThrow();
    expect(address_index).toBe(6 + MIN_SKIP);
  });

  it('that a contract passed on, as exchanges do, is found by the balance', async () => {
    const { scene, original, restore } = await start();
    const { address, owed } = await original.order();
    scene.app.clock.advance(60_000);
    const copy = await restore();
    await copy.follow();
    await scene.payByContract?.(address, owed);
    scene.app.clock.advance(11 * 60_000);
    await scene.pay(`0x${'ee'.repeat(20)}`, 1n);
    await copy.follow();
    expect((await copy.status()).lost).toMatchObject([
      { address, index: 0, amountUnits: owed, transactionHash: expect.stringMatching(/^0x[0-9a-f]{64}$/) },
    ]);
    scene.app.clock.advance(11 * 60_000);
    await scene.pay(`0x${'ee'.repeat(20)}`, 1n);
    await copy.follow();
    expect((await copy.status()).lost).toHaveLength(1);
    expect(await copy.toldLost()).toHaveLength(1);
  });

  it('that a reorganisation takes back is lost money no more, and is told once when it comes back', async () => {
    const { scene, original, restore } = await start();
    const { address, owed } = await original.order();
    const copy = await restore();
    await copy.follow();
    const takeOff = await scene.checkpoint?.();
    await scene.pay(address, owed);
    await copy.follow();
    expect((await copy.status()).lost).toHaveLength(1);
    await takeOff?.();
    await scene.pay(`0x${'ee'.repeat(20)}`, 1n);
    await scene.pay(`0x${'ee'.repeat(20)}`, 1n);
    await copy.follow();
    expect((await copy.status()).lost).toEqual([]);
    expect(
      await bookLost(copy.app, {
        address,
        amountMinor: 3_000n,
        currency: 'USD',
        merchantOrderId: null,
        projectId: null,
      }),
    ).toMatchObject({ kind: 'rejected' });
    await scene.pay(address, owed);
    await copy.follow();
    expect((await copy.status()).lost).toHaveLength(1);
  });
});
