import { runDue } from '../../src/app/payments/run-due.ts';
import type { Interruption } from './await-points.ts';
import { accept, cancel, chooseToken, createPayments, outputsFor, pay, refund } from './customers.ts';
import type { MempoolMood, Mood } from './node.ts';
import { follow, work } from './work.ts';
import { NETWORKS, SIM_NETWORKS, type SimNetwork, type World } from './world.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A step of a history; what interrupts the process in its midst, if anything does, is part of it. */
type Step = (world: World, interruption: Interruption | null) => Promise<void>;

const STEPS: readonly (readonly [weight: number, step: Step])[] = [
  [8, createPayments],
  [6, chooseToken],
  [2, cancel],
  [5, accept],
  [5, refund],
  [20, (world) => pay(world)],
  [2, forget],
  [18, (world) => mine(world)],
  [9, (world) => reorganise(world)],
  [4, (world) => branchOff(world)],
  [7, changeMood],
  [5, wait],
  [6, draw],
  [32, followSome],
  [2, restart],
];

/** Steps that may happen within another step: short, and never interrupted themselves. */
const MEANWHILE: readonly (readonly [weight: number, step: Step])[] = [
  [3, createPayments],
  [3, chooseToken],
  [3, cancel],
  [2, accept],
  [2, refund],
  [4, (world) => pay(world)],
  [6, (world) => mine(world)],
  [4, (world) => reorganise(world)],
  [4, draw],
  [12, overtake],
];

/** Lives through the history of a seed. */
export async function liveThrough(world: World): Promise<void> {
  const { random } = world;
  const count = random.between(22, 50);
  await createPayments(world, null);
  for (let number = 0; number < count; number += 1) {
    const step = random.weighted(STEPS);
    await step(world, interruption(world));
    world.clock.advance(random.between(1_000, 20_000));
    await world.look();
  }
}

function interruption(world: World): Interruption | null {
  const { random } = world;
  if (!random.chance(35)) return null;
  const at = random.between(1, 14);
  const kind = random.pick(['death', 'death', 'loss', 'meanwhile', 'meanwhile'] as const);
  if (kind !== 'meanwhile') return { kind, at, when: random.pick(['before', 'after']) };
  return {
    kind,
    at,
    work: async () => {
      world.log('  meanwhile:');
      world.reached.add('meanwhile');
      await world.look();
      await random.weighted(MEANWHILE)(world, null);
      await world.look();
    },
  };
}

function someNetwork({ random }: World): SimNetwork {
  return random.pick(SIM_NETWORKS);
}

/** Blocks come: a few, or after a long downtime more than are taken in at once. */
async function mine(world: World, network = someNetwork(world)): Promise<void> {
  const { random, clock } = world;
  const count = random.weighted<() => number>([
    [30, () => random.between(1, 4)],
    [2, () => random.between(60, 130)],
  ])();
  const { blockMs } = NETWORKS[network];
  clock.advance(Math.round((blockMs * count) / random.between(1, 3)));
  const { chain } = world.nodes[network];
  chain.mine(clock(), count, random.pick([100, 100, 60, 0]));
  world.log(`mine ${count} on ${network}: ${chain.tip().height} at ${isoTime(clock())}`);
}

function isoTime(at: number): string {
  return new Date(at).toISOString();
}

async function reorganise(world: World, network = someNetwork(world)): Promise<void> {
  const { random, clock } = world;
  const { chain } = world.nodes[network];
  const depth = reorganisedDepth(world, network);
  const isEmpty = random.chance(25);
  chain.reorganise(clock(), depth, isEmpty);
  world.log(`reorganise ${network} by ${depth}${isEmpty ? ', all transactions wait' : ''}: ${chain.tip().height}`);
}

const DEEPEST = 8;

/** Any depth, or the one that takes back the newest payments. */
function reorganisedDepth({ random, nodes }: World, network: SimNetwork): number {
  const { chain } = nodes[network];
  const tip = chain.tip();
  const paying = chain.path(tip).findLast((block) => block.transfers.length > 0);
  const wanted = paying === undefined ? DEEPEST : tip.height - paying.height + 1;
  return wanted <= DEEPEST && random.chance(50) ? wanted : random.between(1, DEEPEST);
}

/** A transaction that waits is dropped by every node. */
async function forget(world: World): Promise<void> {
  const { chain } = world.nodes[someNetwork(world)];
  const waiting = chain.waiting();
  if (waiting.length === 0) return;
  const transaction = world.random.pick(waiting);
  chain.forget(transaction);
  world.log(`drop ${transaction.hash.slice(0, 8)}`);
  world.reached.add('dropped');
}

/** The node follows a branch that the others abandon, on which somebody is paid who never was. */
async function branchOff(world: World, network = someNetwork(world)): Promise<void> {
  const { random, clock } = world;
  const { addresses } = await world.look();
  const payments = Array.from({ length: random.between(0, 2) }, () => outputsFor(world, network, addresses));
  const depth = random.between(0, 5);
  const tip = world.nodes[network].chain.branchOff(clock(), depth, depth + random.between(1, 4), payments);
  world.nodes[network].change({ kind: 'astray', tip }, 'whole');
  world.log(`${network} node goes astray from ${depth} below the head: ${tip.height}`);
}

async function changeMood(world: World): Promise<void> {
  const { random } = world;
  const network = someNetwork(world);
  const node = world.nodes[network];
  const tip = node.chain.tip();
  const path = node.chain.path(tip);
  const older = (): Mood => ({ kind: 'lagging', blocks: random.between(1, 9) });
  const mood = random.weighted<() => Mood>([
    [4, () => ({ kind: 'honest' })],
    [2, older],
    [1, () => ({ kind: 'silent' })],
    [2, () => ({ kind: 'lying' })],
    [1, () => ({ kind: 'stuttering' })],
    [
      2,
      () => {
        const other = node.chain.branchOff(world.clock(), random.between(1, 6), random.between(1, 8), []);
        return { kind: 'mixed', tips: [other, path[Math.max(0, tip.height - random.between(1, 6))] ?? tip] };
      },
    ],
  ])();
  const mempool = random.weighted<MempoolMood>([
    [6, 'whole'],
    [1, 'loading'],
    [1, 'empty'],
    [1, 'partial'],
    [1, 'syncing'],
  ]);
  node.change(mood, mempool);
  world.log(`${network} node is ${mood.kind}${network === 'litecoin' ? `, mempool ${mempool}` : ''}`);
  world.reached.add(mood.kind);
}

async function wait(world: World): Promise<void> {
  const { random, clock } = world;
  const ms = random.weighted<() => number>([
    [6, () => random.between(1, 15) * MINUTE_MS],
    [2, () => random.between(1, 4) * HOUR_MS],
    [1, () => random.between(1, 8) * 24 * HOUR_MS],
  ])();
  clock.advance(ms);
  world.log(`wait ${Math.round(ms / MINUTE_MS)} min: ${isoTime(clock())}`);
}

/** Deadlines are drawn. */
async function draw(world: World, interruption: Interruption | null): Promise<void> {
  // The rail believes a cursor's time for half a second.
  world.clock.advance(1_000);
  const done = await work(world, 'draw deadlines', interruption, ({ app }) => runDue(app, 100));
  if (done !== null) world.log(`  ${done.result} due`);
}

/** The chain goes on, and the second worker is quicker. */
async function overtake(world: World): Promise<void> {
  const { random } = world;
  const network = someNetwork(world);
  await random.weighted([
    [2, mine],
    [2, reorganise],
    [1, branchOff],
    [2, async () => {}],
  ] as const)(world, network);
  for (let number = random.between(1, 3); number > 0; number -= 1) await follow(world, network, 1);
}

/** To the head or not quite; the first step may be interrupted. */
async function followSome(world: World, interruption: Interruption | null): Promise<void> {
  const { random } = world;
  const network = someNetwork(world);
  // Each worker does one thing at a time.
  const worker = interruption?.kind === 'meanwhile' ? 0 : random.pick([0, 0, 0, 1] as const);
  const most = random.between(1, 6);
  let followed = await follow(world, network, worker, interruption);
  for (let number = 1; number < most && followed !== 'at_head'; number += 1) {
    followed = await follow(world, network, worker);
  }
}

async function restart(world: World): Promise<void> {
  world.restart();
  world.log('restart');
}
