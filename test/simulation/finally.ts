import { runDue } from '../../src/app/payments/run-due.ts';
import { runDueRefunds } from '../../src/app/refunds/end-refunds.ts';
import type { Payment } from '../../src/domain/payment.ts';
import { requiredUnits } from '../../src/domain/payment.ts';
import type { Database } from '../../src/store/database.ts';
import { holds, type Watch } from './always.ts';
import type { SimChain, SimTransfer } from './chain.ts';
import { transitionsOf, transferKey, type Snapshot } from './snapshot.ts';
import { accept, refund } from './customers.ts';
import { follow, work } from './work.ts';
import { SIM_NETWORKS, type SimNetwork, type World } from './world.ts';

const DAY_MS = 24 * 60 * 60_000;
/** Past the most confirmations that a wallet of the simulation asks for. */
const DEEP = 40;

/** Everything mends, and all time runs out: nodes are honest, what waits is mined, every deadline passes. */
export async function mend(world: World): Promise<void> {
  world.log('mend');
  for (const network of SIM_NETWORKS) {
    const node = world.nodes[network];
    const { chain } = node;
    node.change({ kind: 'honest' }, 'whole');
    world.clock.advance(60_000);
    // Payments still waiting here stay so until the monitoring window has passed.
    chain.mine(world.clock(), 1, world.random.pick([100, 100, 40]));
    chain.mine(world.clock(), DEEP, 0);
    // A transaction is believed to be gone from the mempool only the second time.
    await catchUp(world, network, 3);
  }
  checkBalances(await world.look(), chainsOf(world), world.watch);
  // Expiry and grace; then the monitoring window of the slowest payment.
  for (const [days, percent] of [
    [1, 0],
    [10, 0],
    [1, 100],
  ] as const) {
    world.clock.advance(days * DAY_MS);
    for (const network of SIM_NETWORKS) {
      world.nodes[network].chain.mine(world.clock(), 1, percent);
      world.nodes[network].chain.mine(world.clock(), DEEP, 0);
      await catchUp(world, network, 1);
    }
    world.clock.advance(1_000);
    await work(world, 'draw deadlines', null, ({ app }) => runDue(app, 100));
    if (world.random.chance(30)) await accept(world, null);
    if (world.random.chance(30)) await refund(world, null);
    await work(world, 'end refunds', null, ({ app }) => runDueRefunds(app, 100));
  }
}

function chainsOf({ nodes }: World): readonly SimChain[] {
  return SIM_NETWORKS.map((network) => nodes[network].chain);
}

/** Follows to the head, where it looks so many times. */
async function catchUp(world: World, network: SimNetwork, looks: number): Promise<void> {
  let steps = 0;
  for (let quiet = 0; quiet < looks; steps += 1) {
    holds('a follower of an honest node reaches its head', steps < 100, () => network);
    quiet = (await follow(world, network)) === 'at_head' ? quiet + 1 : 0;
    world.clock.advance(2_000);
  }
  const cursor = (await world.look()).cursors.get(network);
  const tip = world.nodes[network].chain.tip();
  holds(
    'at the head the cursor is on the honest branch',
    cursor?.hash === tip.hash,
    () => `${network}: ${cursor?.height}, tip ${tip.height}`,
  );
}

/** Checks what must hold when everything has mended. */
export async function checkEnd(world: World, db: Database): Promise<void> {
  const snapshot = await world.look();
  checkSatoshis(snapshot, chainsOf(world));
  checkBalances(snapshot, chainsOf(world), world.watch);
  for (const payment of snapshot.payments) checkVerdict(payment);
  await checkEvents(snapshot, db);
  await checkCounters(snapshot, db);
  checkRequests(snapshot, world);
}

/** All payments to issued addresses on the honest branches, with whose they are. */
function honestMoney(
  snapshot: Snapshot,
  chains: readonly SimChain[],
): ReadonlyMap<string, SimTransfer & { readonly paymentId: string }> {
  const money = new Map<string, SimTransfer & { readonly paymentId: string }>();
  for (const chain of chains) {
    const { network } = chain;
    const issued = new Map(
      snapshot.addresses
        .filter((row) => row.network === network)
        .map((row) => [row.address.toLowerCase(), row.payment_id]),
    );
    for (const transfer of chain.path(chain.tip()).flatMap((block) => block.transfers)) {
      const paymentId = issued.get(transfer.address.toLowerCase());
      if (paymentId === undefined || transfer.failed) continue;
      money.set(transferKey({ ...transfer, network, hash: transfer.transactionHash }), { ...transfer, paymentId });
    }
  }
  return money;
}

/**
 * Every satoshi is on exactly one payment: what the honest branches pay counts, all of it once, and nothing else does.
 */
function checkSatoshis(snapshot: Snapshot, chains: readonly SimChain[]): void {
  const money = honestMoney(snapshot, chains);
  const counted = snapshot.transfers.filter((row) => row.state !== 'dropped');
  for (const row of counted) {
    const key = transferKey({
      network: row.network,
      hash: row.transaction_hash,
      asset: row.asset,
      index: row.output_index,
    });
    const transfer = money.get(key);
    const isSame =
      transfer?.paymentId === row.payment_id && transfer.amount === row.amount_units && row.state === 'confirmed';
    holds(
      'what counts is on the honest branch',
      isSame,
      () => `${key}: ${row.state} ${row.amount_units}, there ${transfer?.amount}`,
    );
  }
  holds(
    'every satoshi seen is on exactly one payment',
    counted.length === money.size,
    () => `${counted.length} rows, ${money.size} transfers`,
  );
}

/**
 * The money of a payment balances: received = applied + excess + refunded, none of them below zero. Only money that a
 * reorganisation took away after a refund was promised may be missing.
 */
function checkBalances(snapshot: Snapshot, chains: readonly SimChain[], watch: Watch): void {
  const money = [...honestMoney(snapshot, chains)];
  for (const payment of snapshot.payments) {
    const { quote } = payment;
    const { confirmedUnits } = payment.received.all;
    if (quote === null) continue;
    const received = money
      .filter(
        ([key, each]) =>
          each.paymentId === payment.id && each.asset === quote.asset && key.startsWith(`${quote.network} `),
      )
      .reduce((sum, [, each]) => sum + each.amount, 0n);
    const refunded = snapshot.refunds
      .filter(
        (row) =>
          row.payment_id === payment.id &&
          row.status !== 'failed' &&
          row.asset === quote.asset &&
          row.network === quote.network,
      )
      .reduce((sum, row) => sum + row.units, 0n);
    const facts = (): string =>
      `${payment.id}: received ${received}, as the payment says ${confirmedUnits}, refunded ${refunded}, owed ${quote.owedUnits}`;
    holds('a payment knows what was received', confirmedUnits === received, facts);
    const peak = watch.peakOf({ paymentId: payment.id, network: quote.network, asset: quote.asset });
    const kept = received - refunded;
    holds('only a reorganisation makes money miss', kept >= 0n || peak > received, facts);
    const applied = kept < 0n ? 0n : kept < quote.owedUnits ? kept : quote.owedUnits;
    const excess = kept < 0n ? 0n : kept - applied;
    const missing = kept < 0n ? -kept : 0n;
    holds('the money balances', received + missing === applied + excess + refunded, facts);
  }
}

/** Nothing stays open for ever, and money that is there is never silently lost. */
function checkVerdict(payment: Payment): void {
  const { status, exception, quote, received, completedOnUnits } = payment;
  const facts = (): string =>
    `${payment.id} is ${status}, ${exception}, holds ${received.all.confirmedUnits} of ${quote?.owedUnits}`;
  const isFinal = status === 'completed' || status === 'expired' || status === 'failed' || status === 'cancelled';
  holds('nothing stays open for ever', isFinal, facts);
  if (quote === null) return;
  const isEnough = received.all.confirmedUnits >= requiredUnits(quote);
  holds('money that was not taken is told of', status === 'completed' || !isEnough || exception === 'paid_late', facts);
  const isGone = completedOnUnits !== null && received.all.confirmedUnits < completedOnUnits;
  holds('money that was taken back is told of', isGone === (exception === 'reorged'), facts);
}

const ENDS = ['order.completed', 'order.expired', 'order.failed', 'order.cancelled'];

/** Each event once, numbered without a gap, in a legal order, and once to the endpoint that asked for it. */
async function checkEvents(snapshot: Snapshot, db: Database): Promise<void> {
  const rows = await db.selectFrom('events').select(['id', 'payment_id', 'type', 'body']).execute();
  const deliveries = await db.selectFrom('deliveries').select('event_id').execute();
  const ids = new Set(deliveries.map((row) => row.event_id));
  const once = ids.size === deliveries.length && ids.size === rows.length && rows.every((row) => ids.has(row.id));
  holds('each event is delivered once', once, () => `${rows.length} events, ${deliveries.length} deliveries`);
  for (const payment of snapshot.payments) {
    const events = rows
      .filter((row) => row.payment_id === payment.id)
      .map((row) => ({
        ...row,
        ...(JSON.parse(row.body) as { readonly sequence: number; readonly data: { readonly id: string } }),
      }))
      .toSorted((a, b) => a.sequence - b.sequence);
    const types = events.map(({ type }) => type);
    const reached = transitionsOf(snapshot, payment).map(({ to }) => to);
    const facts = (): string => `${payment.id}: ${types.join(', ')}; reached ${reached.join(', ')}`;
    const numbered =
      events.every(({ sequence }, index) => sequence === index + 1) && payment.lastSequence === events.length;
    holds('events are numbered 1, 2, …', numbered, facts);
    holds(
      'order.created comes first, once',
      types.indexOf('order.created') === 0 && types.lastIndexOf('order.created') === 0,
      facts,
    );
    const ends = types.filter((type) => ENDS.includes(type));
    const ended = reached.map((status) => `order.${status}`).filter((type) => ENDS.includes(type));
    holds('an end is told of once, when it is reached', ends.join() === ended.join(), facts);
    const confirming = types.filter((type) => type === 'order.confirming').length;
    const detected = reached.some((status) => status === 'processing' || status === 'confirming');
    holds('order.confirming is told of once', confirming === (detected ? 1 : 0), facts);
    const refunds = snapshot.refunds.filter((row) => row.payment_id === payment.id);
    const told = (type: string): number => types.filter((each) => each === type).length;
    const settled = refunds.filter((row) => row.status !== 'pending').length;
    const refundEvents =
      told('refund.created') === refunds.length && told('refund.failed') + told('refund.completed') === settled;
    holds('each refund is told of once', refundEvents, facts);
  }
}

/** The day counters and the transactions' numbers are those of the payments that exist. */
async function checkCounters(snapshot: Snapshot, db: Database): Promise<void> {
  const counts = await db.selectFrom('payment_day_counts').selectAll().execute();
  const counted = new Map<string, bigint>();
  const add = (key: string, count: bigint): void => void counted.set(key, (counted.get(key) ?? 0n) + count);
  for (const row of counts) {
    add(`${row.day} ${row.surface} ${row.status} payments`, row.payments);
    add(`${row.day} ${row.surface} ${row.status} cents`, row.usd_cents);
  }
  for (const { createdAt, api, status, amountUsdCents } of snapshot.payments) {
    const day = new Date(createdAt).toISOString().slice(0, 10);
    add(`${day} ${api} ${status} payments`, -1n);
    add(`${day} ${api} ${status} cents`, -amountUsdCents);
  }
  const wrong = [...counted].filter(([, count]) => count !== 0n);
  holds('day counters count the payments', wrong.length === 0, () =>
    wrong.map(([key, count]) => `${key} off by ${count}`).join(', '),
  );
  const numbers = snapshot.payments.flatMap((payment) => payment.transactionNumber ?? []).toSorted();
  const year = snapshot.payments[0] === undefined ? 0 : new Date(snapshot.payments[0].createdAt).getUTCFullYear();
  const gapless = numbers.every((number, index) => number === `TXN-${year}-${String(index + 1).padStart(6, '0')}`);
  holds('transactions are numbered without a gap', gapless, () => numbers.join(', '));
}

/** A request that was answered made one payment; one that was not answered made one at most. */
function checkRequests(snapshot: Snapshot, { answered }: World): void {
  const made = Map.groupBy(snapshot.payments, (payment) => payment.merchantOrderId ?? '');
  for (const [tag, payments] of made) holds('a request makes one payment', payments.length === 1, () => tag);
  for (const tag of answered.keys()) holds('an answered request made a payment', made.has(tag), () => tag);
}
