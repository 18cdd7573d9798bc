import { formatUnits, parseUnits } from 'viem';
import type { NodeAnswer, NodeCall } from '../rpc-node.ts';
import { createRandom, type Random } from '../simulation/random.ts';
import { DECIMALS, patiently, type Asset, type Order, type Refund, type Shop } from './shop.ts';

/** Money that moved on the chain as it stands now. */
export interface Movement {
  readonly asset: Asset;
  /** Null where nobody follows what paid, as on Bitcoin. */
  readonly from: string | null;
  readonly to: string;
  readonly units: bigint;
  readonly hash: string;
}

/** Sends money to an address and answers with the transaction's hash. */
export type Pay = (address: string, asset: Asset, units: bigint) => Promise<string>;

/** A node, what the accountant does there, and the door through which the program reaches the node. */
export interface Chain {
  readonly network: 'ethereum' | 'bitcoin';
  /** The program's settings for the chain, and the arguments after `wallet set --network NETWORK`. */
  readonly env: Readonly<Record<string, string>>;
  readonly wallet: string;
  readonly assets: readonly Asset[];
  /** Answers the program's requests instead of the node; null: the node answers. */
  intercept(instead: (call: NodeCall) => NodeAnswer | null): void;
  readonly pay: Pay;
  /** Mines blocks with all that waits. */
  mine(count: number): Promise<void>;
  /** Replaces the newest blocks by others. */
  reorganise(random: Random, depth: number): Promise<void>;
  /** Takes a payment back that was mined lately, for good, and pays the same again by another transaction. */
  payAnew(order: Order, hash: string): Promise<void>;
  /** Whether a transaction is in a block, or may still get into one. */
  isKnown(hash: string): Promise<boolean>;
  newAddress(): Promise<string>;
  head(): Promise<number>;
  /** All that moved on the chain as it stands; what lies on these addresses is held against it. */
  read(addresses: readonly string[]): Promise<readonly Movement[]>;
  stop(): Promise<void>;
}

/** One run: what happened so far, and what decides how it goes on. */
export interface Scene {
  readonly random: Random;
  readonly shop: Shop;
  readonly chain: Chain;
  readonly orders: Order[];
  readonly refunds: Refund[];
  step: number;
}

export type Move = (scene: Scene) => Promise<void>;
export type WeightedMove = readonly [weight: number, name: string, move: Move];

/** How deep money has to be for these shops. */
export const CONFIRMATIONS = 3;
/** Over two minutes: a block may be dated that long before a refund, and a reported payout holds its refund so long. */
const CLOCK_AHEAD_MS = 200_000;

/** An amount for which an order can be made that owes exactly as much. */
export const REFUNDED_USD = '5.25';

/** Moves of both families. */
export const COMMON_MOVES: readonly WeightedMove[] = [
  [6, 'order', async (scene) => void (await newOrder(scene))],
  [8, 'pay', payOrder],
  [4, 'mine', async ({ chain, random }) => chain.mine(random.between(1, 4))],
  [3, 'refund', newRefund],
  [4, 'pay refund', payRefund],
  [1, 'cancel', cancelAndPay],
  [2, 'cancel refund', cancelPaidRefund],
  [2, 'reorganise', ({ chain, random }) => chain.reorganise(random, random.between(1, CONFIRMATIONS + 2))],
  [1, 'pay anew', payAnew],
  [1, 'clock ahead', clockAhead],
  [2, 'kill', kill],
  [2, 'refusing node', refusingNode],
];

/** Remembers what was done to an order or a refund. */
export function tell(scene: Scene, subject: Pick<Order, 'story'>, text: string): void {
  subject.story.push(`${scene.step}: ${text}`);
}

export function shown(units: bigint, asset: Asset): string {
  return `${formatUnits(units, DECIMALS[asset])} ${asset}`;
}

export async function newOrder(scene: Scene, asset = scene.random.pick(scene.chain.assets)): Promise<Order | null> {
  const usd = `${scene.random.between(10, 50)}.${scene.random.between(10, 99)}`;
  const order = await scene.shop.order(asset, usd);
  if (order === null) return null;
  scene.orders.push(order);
  tell(scene, order, `ordered ${shown(order.owed, asset)} at ${order.address}`);
  return order;
}

/** Sends money for an order. `how` pays it; the chain's usual way unless said otherwise. */
export async function send(
  scene: Scene,
  order: Order,
  units: bigint,
  how: Pay = scene.chain.pay,
  way = 'paid',
): Promise<string> {
  order.sent += units;
  const hash = await how(order.address, order.asset, units);
  tell(scene, order, `${way} ${shown(units, order.asset)} by ${hash}`);
  return hash;
}

/** A share of what an order owes: mostly all of what is left. */
export function amountFor({ random }: Scene, { owed, sent, asset }: Order): bigint {
  const left = owed > sent ? owed - sent : owed;
  const kind = random.weighted([
    [6, 'all'],
    [2, 'part'],
    [1, 'more'],
  ] as const);
  if (kind === 'all') return left;
  const dust = asset === 'BTC' ? 10_000n : 1n;
  if (kind === 'part') return (left * BigInt(random.between(1, 99))) / 100n + dust;
  return left + parseUnits('0.001', DECIMALS[asset]) * BigInt(random.between(1, 9));
}

export function openOrders({ orders }: Scene): readonly Order[] {
  return orders.filter(({ owed, sent, isCancelled }) => sent < owed && !isCancelled);
}

async function payOrder(scene: Scene): Promise<void> {
  const open = openOrders(scene);
  const order = open.length > 0 ? scene.random.pick(open) : await newOrder(scene);
  if (order !== null) await send(scene, order, amountFor(scene, order));
}

/** An order that was paid in full and completed; null: it was not completed, for which the books will say why. */
export async function completedOrder(
  scene: Scene,
  asset?: Asset,
  how?: Pay,
): Promise<{ readonly order: Order; readonly hash: string } | null> {
  const order = await newOrder(scene, asset);
  if (order === null) return null;
  const hash = await send(scene, order, order.owed, how);
  await scene.chain.mine(CONFIRMATIONS);
  const isCompleted = async () => ((await scene.shop.read(order))['status'] === 'completed' ? true : null);
  return (await patiently(isCompleted)) === null ? null : { order, hash };
}

/** Until the program has taken in the newest block. */
export async function followed({ shop, chain }: Scene): Promise<void> {
  const head = await chain.head();
  await patiently(async () => (((await shop.cursor()) ?? 0) >= head ? true : null));
}

async function newRefund(scene: Scene): Promise<void> {
  const { random, chain, orders } = scene;
  const paid = orders.filter(({ owed, sent, isCancelled }) => sent >= owed && !isCancelled);
  if (paid.length === 0) return;
  const address = random.chance(50) ? await chain.newAddress() : null;
  await refundOf(scene, random.pick(paid), address, `${random.between(1, 9)}.${random.between(10, 99)}`);
}

/** A refund to an address that nobody else is paid at, or to one that the customer is asked for; null where refused. */
export async function refundOf(
  scene: Scene,
  order: Order,
  address: string | null,
  usd = REFUNDED_USD,
): Promise<Refund | null> {
  const refund = await scene.shop.refund(order, usd, address);
  if (refund === null) return null;
  scene.refunds.push(refund);
  tell(scene, refund, `refund of ${shown(refund.units, refund.asset)} of ${order.id} to ${address ?? 'be claimed'}`);
  return refund;
}

/** Whether it was taken; the refund goes there then. */
export async function claim(scene: Scene, refund: Refund, address: string): Promise<boolean> {
  const isTaken = await scene.shop.claim(refund, address);
  tell(scene, refund, `the customer entered ${address}, which was ${isTaken ? 'taken' : 'refused'}`);
  if (isTaken) refund.address = address;
  return isTaken;
}

/** Pays a refund that has an address, and answers with the transaction's hash. */
export async function payOut(scene: Scene, refund: Refund): Promise<string | null> {
  if (refund.address === null) return null;
  const hash = await scene.chain.pay(refund.address, refund.asset, refund.units);
  refund.payouts.push(hash);
  tell(scene, refund, `paid by ${hash}`);
  return hash;
}

/** Pays a refund that nothing pays: a merchant who waits until a payout is gone for good pays once. */
async function payRefund(scene: Scene): Promise<void> {
  const { random, chain } = scene;
  const unpaid: Refund[] = [];
  for (const refund of scene.refunds) {
    if (refund.isCancelled) continue;
    const known = await Promise.all(refund.payouts.map((hash) => chain.isKnown(hash)));
    if (!known.includes(true)) unpaid.push(refund);
  }
  if (unpaid.length === 0) return;
  const refund = random.pick(unpaid);
  if (refund.address === null && !(await claim(scene, refund, await chain.newAddress()))) return;
  await payOut(scene, refund);
}

/** Whether it was cancelled. */
export async function cancelRefund(scene: Scene, refund: Refund): Promise<boolean> {
  if (!(await scene.shop.cancelRefund(refund))) return false;
  refund.isCancelled = true;
  tell(scene, refund, 'cancelled');
  return true;
}

/**
 * A refund is paid without a word to the program, and cancelled at the same moment: at times while the node hangs, or
 * right after a kill.
 */
async function cancelPaidRefund(scene: Scene): Promise<void> {
  const { random, chain, shop } = scene;
  const paid = await completedOrder(scene);
  const refund = paid === null ? null : await refundOf(scene, paid.order, await chain.newAddress());
  if (refund === null) return;
  await followed(scene);
  const fault = random.pick(['none', 'hang', 'kill'] as const);
  if (fault === 'hang') chain.intercept(() => ({ stall: true }));
  await payOut(scene, refund);
  if (fault === 'kill') {
    await shop.service.kill();
    await shop.service.start();
  }
  tell(scene, refund, `asked to cancel it at once (${fault})`);
  await cancelRefund(scene, refund);
  chain.intercept(() => null);
}

async function cancelAndPay(scene: Scene): Promise<void> {
  const order = await newOrder(scene);
  if (order === null || !(await scene.shop.cancel(order))) return;
  order.isCancelled = true;
  tell(scene, order, 'cancelled');
  await send(scene, order, order.owed, scene.chain.pay, 'paid all the same');
}

/** Completed, taken back by a reorganisation, and paid by another transaction. */
async function payAnew(scene: Scene): Promise<void> {
  const paid = await completedOrder(scene);
  if (paid === null) return;
  const { order, hash } = paid;
  order.sent += order.owed;
  tell(scene, order, `the chain is reorganised without ${hash}, and another transaction pays`);
  await scene.chain.payAnew(order, hash);
}

/** A refund that is made and paid while the program's clock is ahead of the chain's. */
async function clockAhead(scene: Scene): Promise<void> {
  const { chain } = scene;
  const paid = await completedOrder(scene);
  if (paid === null) return;
  await withClockAhead(scene, async () => {
    const refund = await refundOf(scene, paid.order, await chain.newAddress());
    if (refund === null) return;
    tell(scene, refund, `made while the clock is ${CLOCK_AHEAD_MS / 1000} s ahead`);
    await payOut(scene, refund);
    await chain.mine(CONFIRMATIONS);
    await followed(scene);
  });
}

/** Sets the program's clock ahead meanwhile. A running program does not follow such a step: it is started anew. */
export async function withClockAhead({ shop }: Scene, work: () => Promise<void>): Promise<void> {
  const setClock = async (stepMs: number): Promise<void> => {
    await shop.service.stop();
    await shop.clock.advance(stepMs);
    await shop.service.start();
  };
  await setClock(CLOCK_AHEAD_MS);
  try {
    await work();
  } finally {
    await setClock(-CLOCK_AHEAD_MS);
  }
}

async function kill({ shop, random, chain }: Scene): Promise<void> {
  await (random.chance(60) ? shop.service.kill() : shop.service.stop());
  if (random.chance(50)) await chain.mine(random.between(1, 5));
  await shop.service.start();
}

/** For the moves that follow, until the next quiet point or the next such move. */
async function refusingNode({ random, chain }: Scene): Promise<void> {
  const percent = random.pick([0, 5, 15, 30]);
  const own = createRandom(`refusals ${random.below(1_000_000)}`);
  const refusal = random.pick([
    { status: 503, text: 'busy' },
    { error: { code: -32005, message: 'too many requests' } },
  ]);
  chain.intercept(() => (own.chance(percent) ? refusal : null));
}
