import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, onTestFinished } from 'vitest';
import { emptyDatabase } from '../../test/database.ts';
import { newPayment, type TestApp } from '../../test/harness.ts';
import { contractOf, deployContract } from '../../test/erc20.ts';
import { responseFaults } from '../../test/response-shape.ts';
import { eventShape } from '../http/openapi/webhook-schema.ts';
import { makeBackup } from './make-backup.ts';
import { restoreApart } from './restore-apart.ts';
import { readConfig } from '../config/config.ts';
import { tokenOf } from '../domain/asset.ts';
import type { AssetCode } from '../domain/asset-code.ts';
import type { Network } from '../domain/networks.ts';
import type { Payment } from '../domain/payment.ts';
import type { ChainSource } from '../rails/chain.ts';
import type { UtxoChains, WalletSource } from '../rails/family.ts';
import { derivingWith } from '../rails/derive-addresses.ts';
import { createWalletOpener } from '../rails/wallet.ts';
import { fixedRates } from '../rates/fixed.ts';
import { openDatabase } from '../store/database.ts';
import { findPayments } from '../store/payments/payments.ts';
import { chainRail } from '../modes/live-rail.ts';
import type { App } from '../app/context.ts';
import { createPaymentCreator } from '../app/payments/create-payment.ts';
import { account, etherShop, xpubOf } from '../app/chains/follow-chain.fixture.ts';
import { createChainFollower } from '../app/chains/follow-chain.ts';
import { coinShop, REGTEST } from '../app/chains/follow-utxo.fixture.ts';
import { networkStatus } from '../app/chains/network-status.ts';
import { setProjectWallet } from '../app/projects/wallets.ts';

export const DAY_MS = 86_400_000;
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

export async function ether(source: WalletSource): Promise<Scene> {
  const shop = await etherShop({ wallet: false });
  const request = {
    projectId: shop.app.projectId,
    network: 'ethereum',
    source,
    confirmations: 2,
    toleranceBasisPoints: null,
  };
  const set = await setProjectWallet(shop.app, request, REGTEST);
  if (set.kind !== 'done') throw new Error(set.code);
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

export const SCENES: readonly (readonly [string, () => Promise<Scene>])[] = [
  ['an extended public key', () => ether({ kind: 'xpub', text: xpubOf(account(3)) })],
  ['deposit contracts', () => ether({ kind: 'treasury', text: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' })],
  ['a descriptor', litecoin],
];

/** One installation: the original, or what was made of its backup. */
export function installation(scene: Scene, app: App, creator: TestApp['creator']) {
  const derive = derivingWith(createWalletOpener(scene.chains));
  const read = async (id: string): Promise<Payment> => {
    const [payment] = await findPayments(app.db, [id]);
    if (payment === undefined) throw new Error(`There is no payment ${id}`);
    return payment;
  };
  return {
    app,
    read,
    follow: async (): Promise<void> => {
      const follower = createChainFollower(app, scene.source, derive);
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
    /** The number of a new transaction, as people see it. */
    transactionNumber: async (): Promise<string> => {
      let id = '';
      const request = newPayment(scene.app.projectId, { mode: 'live', api: 'transaction', token: null });
      await creator.create(request, (payment) => ((id = payment.id), id), null);
      return (await read(id)).transactionNumber ?? '';
    },
    status: async () => {
      const status = (await networkStatus(app, [scene.network])).find(({ network }) => network === scene.network);
      if (status === undefined) throw new Error('no status');
      return status;
    },
    reportedLost: async (): Promise<readonly { readonly index: number }[]> => {
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

/** The URL of a new schema in the original's database. */
export async function schemaBeside({ app }: Scene): Promise<string> {
  await sql`create schema copy`.execute(app.db);
  return `${app.database.url}?options=${encodeURIComponent('-c search_path=copy')}`;
}

/** Backs up an installation, in a file. */
export async function backUp(url: string, file: string, clock: () => number): Promise<void> {
  const dir = path.dirname(file);
  const config = readConfig({ DATABASE_URL: url, DATA_DIR: dir }, dir);
  const target = { kind: 'file', file } as const;
  await makeBackup({ config, log, target, passphrase: null, clock, onProgress: () => {} });
}

/** Backs up the original, in a file; restoring makes an installation of its own of it, as the command does. */
export async function backedUp(scene: Scene) {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'cointill-backups-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const file = path.join(dir, 'yesterday.backup');
  const { app } = scene;
  await backUp(app.database.url, file, app.clock);
  const restore = async (skip: number | null = null, random = 0, from = file, place?: string) => {
    const url = place ?? (await emptyDatabase());
    const options = {
      file: from,
      passphrase: async () => null,
      secretKey: null,
      secretKeyPrevious: null,
      log,
      onProgress: () => {},
    };
    const to = { kind: 'postgres', url, keyDir: dir } as const;
    const beginning = { now: app.clock(), skip, random: () => random, place: url };
    const { result } = await restoreApart(options, to, beginning);
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
    return { url, ...result, ...installation(scene, copy, createPaymentCreator(copy, handle.pipeline)) };
  };
  return { dir, file, restore };
}
