import { ASSETS, tokenOf } from '../../src/domain/asset.ts';
import type { AssetCode } from '../../src/domain/asset-code.ts';
import type { Network } from '../../src/domain/networks.ts';
import { EVENT_TYPES } from '../../src/domain/event-type.ts';
import { DEFAULT_POLICY } from '../../src/domain/transition.ts';
import { chainRail } from '../../src/modes/live-rail.ts';
import { newProcessMemory, type App } from '../../src/app/context.ts';
import { createChainFollower, type ChainFollower } from '../../src/app/chains/follow-chain.ts';
import { createProject } from '../../src/app/projects/projects.ts';
import { toChecksumAddress } from '../../src/rails/evm/address.ts';
import type { WalletOpener } from '../../src/rails/wallet.ts';
import { fixedRates } from '../../src/rates/fixed.ts';
import { setWallet } from '../../src/store/wallets/wallets.ts';
import { manualClock, type ManualClock } from '../harness.ts';
import type { TestDatabase } from '../database.ts';
import { createAwaitPoints, type AwaitPoints } from './await-points.ts';
import { createSimChain, type SimChain } from './chain.ts';
import { openLife, type Connections } from './database.ts';
import { createSimNode, type SimNode } from './node.ts';
import { createRandom, type Random } from './random.ts';
import { createWatch, type Watch } from './always.ts';
import { takeSnapshot, type Snapshot } from './snapshot.ts';

/** The networks of the simulation: one whose mempool is read, one that is read from its blocks alone. */
export const NETWORKS = {
  litecoin: { family: 'utxo', nativeAsset: 'LTC', blockMs: 150_000, failing: 0, assets: ['LTC'] },
  ethereum: { family: 'evm', nativeAsset: 'ETH', blockMs: 12_000, failing: 8, assets: ['ETH', 'USDT', 'USDC'] },
} as const satisfies Partial<Record<Network, object>>;
export type SimNetwork = keyof typeof NETWORKS;
export const SIM_NETWORKS = ['litecoin', 'ethereum'] as const satisfies readonly SimNetwork[];

/** The tokens that can be paid with. USDC exists on the chain, but nobody is asked for it. */
const TOKENS = [tokenOf('LTC'), tokenOf('ETH'), tokenOf('USDT')].filter((token) => token !== null);
const RATES = fixedRates(
  new Map<AssetCode, bigint>([
    ['LTC', 8_000_000_000n],
    ['ETH', 300_000_000_000n],
    ['USDT', 100_000_000n],
  ]),
);

/** The process from its start to its end; what follows a chain remembers things, and forgets them with it. */
export interface Life {
  readonly app: App;
  readonly points: AwaitPoints;
  /** Two workers on each network, of which one should be enough. */
  readonly followers: Readonly<Record<SimNetwork, readonly ChainFollower[]>>;
}

/** Everything that one seed makes. */
export interface World {
  readonly random: Random;
  readonly clock: ManualClock;
  readonly nodes: Readonly<Record<SimNetwork, SimNode>>;
  readonly projectId: string;
  readonly watch: Watch;
  readonly story: string[];
  /** The situations that occurred, so that a run can show that it tried everything. */
  readonly reached: Set<string>;
  /** How often each request for a payment was answered with one, by its tag. */
  readonly answered: Map<string, number>;
  life(): Life;
  /** Ends the process and starts it again. */
  restart(): void;
  /** The database as it is now, with everything checked that must always hold. */
  look(): Promise<Snapshot>;
  log(line: string): void;
}

/** Deletes instead of truncating, which takes ten times as long on tables this small. */
const CLEARED = [
  'deliveries',
  'events',
  'refunds',
  'transfers',
  'payment_addresses',
  'payment_arrows',
  'payments',
  'payment_day_counts',
  'transaction_counters',
  'idempotency_keys',
  'chain_cursors',
  'chain_blocks',
  'address_indexes',
  'wallets',
  'webhook_endpoints',
  'projects',
] as const;

function addressAt(network: SimNetwork, index: number): string {
  const digits = index.toString(16).padStart(6, '0');
  return network === 'ethereum' ? toChecksumAddress(`0x${'5a'.repeat(17)}${digits}`) : `ltc1sim${digits}`;
}

/** Clears the database and makes the world of a seed in it. */
export async function createWorld(seed: number, database: TestDatabase, connections: Connections): Promise<World> {
  const { db } = database;
  for (const table of CLEARED) await db.deleteFrom(table).execute();
  const random = createRandom(String(seed));
  const clock = manualClock();
  const story: string[] = [];
  let snapshot: Snapshot | null = null;
  const nodeOf = (network: SimNetwork): SimNode => {
    const chain = createSimChain({ network, ...NETWORKS[network] }, random, clock(), random.between(12, 90));
    return createSimNode(chain, network === 'litecoin', random, () => bait(network, snapshot, random));
  };
  const nodes = { litecoin: nodeOf('litecoin'), ethereum: nodeOf('ethereum') };
  let isStale = true;
  const begin = (): Life => {
    const points = createAwaitPoints();
    const lifeDb = openLife(connections, points, () => (isStale = true));
    const app = appOn(lifeDb.db, clock, random);
    const follow = (network: SimNetwork): readonly ChainFollower[] => {
      const source = nodes[network].source(points, lifeDb.isFree);
      // Reads take no time here: how long the machine really took for one would decide how often a mempool is read.
      const follower = (): ChainFollower => createChainFollower(app, source, null, () => 0);
      return [follower(), follower()];
    };
    const followers = { litecoin: follow('litecoin'), ethereum: follow('ethereum') };
    return { app, points, followers };
  };
  let life = begin();
  const projectId = await createShop(life.app, random);
  const chains: readonly SimChain[] = SIM_NETWORKS.map((network) => nodes[network].chain);
  const watch = createWatch(chains);
  return {
    random,
    clock,
    nodes,
    projectId,
    watch,
    story,
    reached: new Set(),
    answered: new Map(),
    life: () => life,
    restart: () => {
      life = begin();
    },
    look: async () => {
      if (snapshot !== null && !isStale) return snapshot;
      isStale = false;
      snapshot = await takeSnapshot(db);
      watch.look(snapshot, clock());
      return snapshot;
    },
    log: (line) => void story.push(line),
  };
}

const openWallet: WalletOpener = (network) =>
  network === 'litecoin' || network === 'ethereum' ? { addressAt: (index) => addressAt(network, index) } : null;

function appOn(db: App['db'], clock: ManualClock, random: Random): App {
  const rail = chainRail({
    db,
    rates: RATES,
    tokens: TOKENS,
    openWallet,
    evmChain: () => null,
    payoutChain: () => 'main',
  });
  return {
    db,
    clock,
    random: (length) => random.bytes(length),
    railFor: () => rail,
    links: { checkoutUrl: { live: 'https://pay.example', test: 'https://sandbox.pay.example' } },
    policy: DEFAULT_POLICY,
    memory: newProcessMemory(),
  };
}

/** A project with a wallet on each network, and an endpoint that gets every event. */
async function createShop(app: App, random: Random): Promise<string> {
  const created = await createProject(app, 'Shop');
  if (created.kind !== 'done') throw new Error(created.code);
  const projectId = created.project.id;
  const createdAt = app.clock();
  const id = (): string => random.bytes(16).toString('hex');
  await app.db.transaction().execute(async (trx) => {
    for (const network of SIM_NETWORKS) {
      await setWallet(trx, {
        id: id(),
        projectId,
        network,
        kind: 'xpub',
        source: 'sim',
        firstAddress: addressAt(network, 0),
        confirmations: random.pick([null, 1, 2, 3, 3, 4]),
        toleranceBasisPoints: random.pick([null, null, 0, 100]),
        createdAt,
      });
    }
  });
  await app.db
    .insertInto('webhook_endpoints')
    .values({
      id: id(),
      project_id: projectId,
      mode: 'live',
      url: 'https://shop.example/hook',
      events: [...EVENT_TYPES],
      secret: Buffer.alloc(0),
      previous_secret: null,
      previous_secret_until: null,
      disabled_at: null,
      disabled_reason: null,
      deleted_at: null,
      created_at: new Date(createdAt),
    })
    .execute();
  return projectId;
}

/** The content of a lie: money for somebody who waits for it. */
function bait(network: SimNetwork, snapshot: Snapshot | null, random: Random) {
  const rows = (snapshot?.addresses ?? []).filter((row) => row.network === network);
  if (rows.length === 0) return [];
  const { address, asset, owed_units } = random.pick(rows);
  return [{ transactionHash: random.bytes(32).toString('hex'), index: 0, address, asset, amount: owed_units }];
}

/** Decimals and dust of an asset, where it is paid on one of the simulated networks. */
export function factsOf(network: SimNetwork, asset: AssetCode) {
  const facts = ASSETS[asset].networks.get(network);
  if (facts === undefined) throw new Error(`${asset} does not live on ${network}.`);
  return facts;
}
