import type { AssetCode } from '../../src/domain/asset-code.ts';
import type { Payment } from '../../src/domain/payment.ts';
import { acceptPayment, cancelPayment, selectToken } from '../../src/app/payments/payment-actions.ts';
import { cancelRefund } from '../../src/app/refunds/change-refund.ts';
import { createRefund } from '../../src/app/refunds/create-refund.ts';
import { createPaymentCreator } from '../../src/app/payments/create-payment.ts';
import type { NewPayment } from '../../src/app/payments/draft-payment.ts';
import { newPayment } from '../harness.ts';
import type { Interruption } from './await-points.ts';
import type { SimTransaction } from './chain.ts';
import type { AddressRow } from './snapshot.ts';
import { runnerOn } from './database.ts';
import { work, type Done } from './work.ts';
import { factsOf, NETWORKS, SIM_NETWORKS, type Life, type SimNetwork, type World } from './world.ts';

const MINUTE_MS = 60_000;

/** Calls of the merchant's shop and of the customer's browser. */

/** One to three payments at once, of which each may be repeated with its idempotency key until it is answered. */
export async function createPayments(world: World, interruption: Interruption | null): Promise<void> {
  const { random } = world;
  // Statements take turns here, so one that waits for a lock of what happens meanwhile would wait without end.
  const mostlyOne = [
    [5, 1],
    [1, 2],
    [1, 3],
  ] as const;
  const count = interruption?.kind === 'meanwhile' ? 1 : random.weighted(mostlyOne);
  const requests = Array.from({ length: count }, () => draft(world));
  const done = await work(world, `create ${requests.map(told).join(' and ')}`, interruption, (life) =>
    createAll(world, life, requests),
  );
  for (const request of requests) {
    const tag = request.merchantOrderId ?? '';
    for (let again = done === null ? 1 : 0; again > 0 && !world.answered.has(tag) && isRepeatable(tag); again += 1) {
      if (again > 5) throw new Error('A request is never answered.');
      await work(world, `create again ${told(request)}`, null, (life) => createAll(world, life, [request]));
    }
  }
}

function draft({ random, projectId, story }: World): NewPayment {
  const api = random.pick(['order', 'order', 'order', 'transaction'] as const);
  const isShort = random.chance(30);
  return newPayment(projectId, {
    mode: 'live',
    api,
    amountMinor: BigInt(random.pick([3_000, 3_000, 1_999, 120_000])),
    token: api === 'order' ? { asset: random.pick(['LTC', 'LTC', 'ETH', 'ETH', 'USDT']), network: null } : null,
    merchantOrderId: `${random.chance(60) ? 'once' : 'maybe'} ${story.length} ${random.below(1_000_000)}`,
    lifetimeMs: isShort ? random.between(1, 10) * MINUTE_MS : random.pick([30, 60, 240]) * MINUTE_MS,
  });
}

function told({ api, token, lifetimeMs, merchantOrderId }: NewPayment): string {
  return `${api} "${merchantOrderId}" in ${token?.asset ?? 'no token yet'} for ${lifetimeMs / MINUTE_MS} min`;
}

function isRepeatable(tag: string): boolean {
  return tag.startsWith('once');
}

/** All at once, so that they are saved in one batch; one that fails takes no other along. */
async function createAll(world: World, { app }: Life, requests: readonly NewPayment[]): Promise<void> {
  // One of its own each time, like another process: what comes meanwhile must not wait for this one's batch.
  const creator = createPaymentCreator(app, runnerOn(app.db));
  const outcomes = await Promise.allSettled(
    requests.map(async (request) => {
      const tag = request.merchantOrderId ?? '';
      const { projectId, mode } = request;
      const key = { projectId, mode, route: 'POST /v1/orders', key: tag, bodyHash: Buffer.from(tag) };
      const outcome = await creator.create(request, (payment) => payment.id, isRepeatable(tag) ? key : null);
      if (outcome.kind !== 'done' && outcome.kind !== 'replayed') throw new Error(JSON.stringify(outcome));
      if (outcome.kind === 'replayed') world.reached.add('replayed');
      world.answered.set(tag, (world.answered.get(tag) ?? 0) + 1);
    }),
  );
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** A payment that fits, now and then any. */
async function somePayment(world: World, wanted: (payment: Payment) => boolean): Promise<Payment | null> {
  const { payments } = await world.look();
  const fitting = payments.filter(wanted);
  const from = world.random.chance(90) ? fitting : payments;
  return from.length === 0 ? null : world.random.pick(from);
}

const OPEN = new Set<Payment['status']>(['created', 'prepared', 'pending']);
const ENDED = new Set<Payment['status']>(['completed', 'expired', 'failed', 'cancelled']);

/** Chooses a token, or another one. */
export async function chooseToken(world: World, interruption: Interruption | null): Promise<void> {
  const payment = await somePayment(
    world,
    ({ status, quote }) => OPEN.has(status) && (quote === null || world.random.chance(50)),
  );
  if (payment === null) return;
  // Who paid in another asset than was asked for then names that one.
  const { transfers } = await world.look();
  const other = transfers.find((row) => row.payment_id === payment.id && row.asset !== payment.quote?.asset);
  const asset =
    other !== undefined && world.random.chance(50) ? other.asset : world.random.pick(['LTC', 'ETH', 'USDT']);
  const done = await work(
    world,
    `choose ${asset} for ${payment.merchantOrderId} (${payment.status})`,
    interruption,
    ({ app }) => selectToken(app, { id: payment.id }, { asset, network: null }),
  );
  logOutcome(world, 'chosen', done);
}

export async function cancel(world: World, interruption: Interruption | null): Promise<void> {
  const payment = await somePayment(world, ({ status }) => OPEN.has(status));
  if (payment === null) return;
  const done = await work(world, `cancel ${payment.merchantOrderId} (${payment.status})`, interruption, ({ app }) =>
    cancelPayment(app, { id: payment.id }),
  );
  logOutcome(world, 'cancelled', done);
}

export async function accept(world: World, interruption: Interruption | null): Promise<void> {
  const payment = await somePayment(
    world,
    ({ status, exception, received }) =>
      received.all.confirmedUnits > 0n && status !== 'completed' && (ENDED.has(status) || exception === 'underpaid'),
  );
  if (payment === null) return;
  const done = await work(world, `accept ${payment.merchantOrderId} (${payment.status})`, interruption, ({ app }) =>
    acceptPayment(app, { id: payment.id }),
  );
  logOutcome(world, 'accepted', done);
}

/** Promises some money back, or withdraws such a promise. */
export async function refund(world: World, interruption: Interruption | null): Promise<void> {
  const { refunds } = await world.look();
  if (refunds.length > 0 && world.random.chance(30)) {
    const { id } = world.random.pick(refunds);
    const done = await work(world, `cancel refund ${id}`, interruption, ({ app }) => cancelRefund(app, { id }));
    return logOutcome(world, 'refund cancelled', done);
  }
  const payment = await somePayment(
    world,
    ({ status, received }) => ENDED.has(status) && received.all.confirmedUnits > 0n,
  );
  if (payment === null) return;
  const { id: paymentId, api, projectId } = payment;
  const wanted = world.random.pick([
    null,
    { amountMinor: 100n },
    { amountMinor: 1_500n },
    { cryptoAmount: '0.00000001' },
  ]);
  const request = { projectId, mode: 'live' as const, api, paymentId, wanted, address: null, reason: null };
  const done = await work(world, `refund ${payment.merchantOrderId} (${payment.status})`, interruption, ({ app }) =>
    createRefund(app, request, null),
  );
  logOutcome(world, 'refunded', done);
}

function logOutcome(world: World, name: string, done: Done<{ readonly kind: string; readonly reason?: string }>): void {
  if (done === null) return;
  const { kind, reason } = done.result;
  world.log(`  ${kind} ${reason ?? ''}`);
  if (kind === 'changed' || kind === 'done') world.reached.add(name);
}

/**
 * Broadcasts a payment: to one address or several, of one payment or several, exact or not, in the right asset or not.
 */
export async function pay(world: World): Promise<void> {
  const { addresses } = await world.look();
  if (addresses.length === 0) return;
  const { random } = world;
  const { network } = random.pick(addresses);
  const sim = SIM_NETWORKS.find((each) => each === network);
  if (sim === undefined) return;
  const outputs = outputsFor(world, sim, addresses);
  const { chain } = world.nodes[sim];
  const rivals = chain.waiting();
  // Sometimes instead of one that waits: a higher fee, or a double spend.
  const rival = rivals.length > 0 && random.chance(15) ? random.pick(rivals) : null;
  const { hash } = chain.send(outputs, rival?.coin);
  if (rival !== null) world.reached.add('replaced');
  world.log(
    `pay ${hash.slice(0, 8)}${rival === null ? '' : ` instead of ${rival.hash.slice(0, 8)}`}: ${outputs.map((each) => `${each.amount} ${each.asset} to ${each.address.slice(-6)}`).join(', ')}`,
  );
}

/** A transaction's payments to addresses that were issued, and to others. */
export function outputsFor(
  world: World,
  network: SimNetwork,
  addresses: readonly AddressRow[],
): SimTransaction['outputs'] {
  const { random } = world;
  const { nativeAsset, assets } = NETWORKS[network];
  const here = addresses.filter((row) => row.network === network);
  // New addresses are paid most, old ones now and then.
  const pickRow = (): AddressRow => (random.chance(60) ? random.pick(here.slice(-3)) : random.pick(here));
  const count = random.weighted([
    [6, 1],
    [2, 2],
    [1, 3],
  ] as const);
  const outputs: { address: string; asset: AssetCode; amount: bigint }[] = [];
  for (let number = 0; number < count && here.length > 0; number += 1) {
    const row = pickRow();
    const asset = random.chance(15) ? random.pick<AssetCode>(assets) : row.asset;
    const amount = asset === row.asset ? amountFor(world, row) : 10n ** BigInt(factsOf(network, asset).decimals);
    outputs.push({ address: row.address, asset, amount });
  }
  if (random.chance(30))
    outputs.push({ address: `0x${random.bytes(20).toString('hex')}`, asset: nativeAsset, amount: 12_345n });
  // A transaction of EVM pays its own coin to one address; tokens go out of contracts to any number.
  let natives = 0;
  return outputs.filter(({ asset }) => network === 'litecoin' || asset !== nativeAsset || natives++ === 0);
}

function amountFor({ random, reached }: World, { owed_units: owed, tolerance_units: tolerance }: AddressRow): bigint {
  const [name, amount] = random.weighted<readonly [string, bigint]>([
    [10, ['exact', owed]],
    [4, ['half', owed / 2n]],
    [1, ['just enough', owed - tolerance]],
    [1, ['just too little', owed - tolerance - 1n]],
    [2, ['too much', owed + owed / 2n]],
    [1, ['dust', 1n]],
    [1, ['nothing', 0n]],
  ]);
  reached.add(`paid ${name}`);
  return amount;
}
