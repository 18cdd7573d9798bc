import type { Network } from '../../src/domain/networks.ts';
import { inTimeUntil, requiredUnits, type Payment, type Sums } from '../../src/domain/payment.ts';
import { TRANSITIONS, DEFAULT_POLICY } from '../../src/domain/transition.ts';
import { creationTransitions } from '../../src/domain/creation.ts';
import { exceptionOf } from '../../src/domain/exception.ts';
import type { SimBlock, SimChain } from './chain.ts';
import {
  transitionsOf,
  transferKey,
  type AddressRow,
  type Snapshot,
  type TransferRow,
  type Walked,
} from './snapshot.ts';

/** A guarantee that did not hold. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

/** Throws a violation of the guarantee unless it holds. */
export function holds(guarantee: string, isTrue: boolean, facts: () => string): void {
  if (!isTrue) throw new Violation(`${guarantee}: ${facts()}`);
}

/** Looks on at every moment at which something was saved, and remembers what the database need not. */
export interface Watch {
  look(snapshot: Snapshot, now: number): void;
  /** The most confirmed money that a payment ever had in an asset. */
  peakOf(money: MoneyKey): bigint;
}

/** The owner and token of money. */
export interface MoneyKey {
  readonly paymentId: string;
  readonly network: Network;
  readonly asset: string;
}

function moneyKey({ paymentId, network, asset }: MoneyKey): string {
  return `${paymentId} ${network} ${asset}`;
}

/** A transfer that the process has taken in with a block, by the block itself. */
interface TakenIn {
  readonly paymentId: string;
  readonly amount: bigint;
  readonly block: SimBlock;
  readonly isDeep: boolean;
  readonly address: string;
  readonly asset: string;
}

/** Checks everything that must hold at every moment, by the blocks themselves, not by what was kept of them. */
export function createWatch(chains: readonly SimChain[]): Watch {
  const startedAt = new Map<Network, number>();
  /**
   * The highest that the cursor was above each block since it was taken in: confirmed money stays so until its block
   * goes.
   */
  const tops = new Map<Network, ReadonlyMap<string, number>>();
  const walked = new Map<string, number>();
  const peaks = new Map<string, bigint>();

  const takenIn = (chain: SimChain, snapshot: Snapshot): ReadonlyMap<string, TakenIn> => {
    const { network } = chain;
    const cursor = snapshot.cursors.get(network);
    const found = new Map<string, TakenIn>();
    if (cursor === undefined) return found;
    const tip = chain.blockOf(cursor.hash);
    holds('a cursor is on a block that was mined', tip?.height === cursor.height, () => `${network} ${cursor.height}`);
    if (tip === null) return found;
    const start = startedAt.get(network) ?? tip.height;
    startedAt.set(network, start);
    const before = tops.get(network);
    const path = chain.path(tip);
    const paying = path.filter(({ transfers }) => transfers.length > 0);
    const now = new Map(paying.map(({ hash }) => [hash, Math.max(before?.get(hash) ?? 0, tip.height)]));
    tops.set(network, now);
    const issued = new Map(
      snapshot.addresses.filter((row) => row.network === network).map((row) => [row.address, row]),
    );
    for (const block of paying.filter(({ height }) => height > start)) {
      for (const { failed, transactionHash, index, address, asset, amount } of block.transfers) {
        const row = issued.get(address);
        if (failed || row === undefined) continue;
        const isDeep = (now.get(block.hash) ?? 0) - block.height + 1 >= row.confirmations;
        const key = transferKey({ network, hash: transactionHash, asset, index });
        found.set(key, { paymentId: row.payment_id, amount, block, isDeep, address, asset });
      }
    }
    return found;
  };

  return {
    peakOf: (money) => peaks.get(moneyKey(money)) ?? 0n,
    look: (snapshot, now) => {
      const chainMoney = new Map(chains.flatMap((chain) => [...takenIn(chain, snapshot)]));
      checkTransfers(snapshot, chainMoney);
      checkIndexes(snapshot);
      const groups = Map.groupBy(snapshot.transfers, (row) => row.payment_id);
      for (const payment of snapshot.payments) {
        const rows = groups.get(payment.id) ?? [];
        checkReceived(payment, rows);
        checkStatus(payment);
        const transitions = transitionsOf(snapshot, payment);
        checkWalk(payment, transitions);
        for (const transition of transitions.slice(walked.get(payment.id) ?? 0)) {
          if (transition.to === 'completed') checkCompletion(payment, transition, rows, chainMoney);
          if (transition.cause === 'deadline') checkDeadline(payment, snapshot, transition, now);
        }
        walked.set(payment.id, transitions.length);
        if (payment.quote === null) continue;
        const key = moneyKey({ paymentId: payment.id, ...payment.quote });
        const confirmed = payment.received.all.confirmedUnits;
        if (confirmed > (peaks.get(key) ?? 0n)) peaks.set(key, confirmed);
      }
      checkRefunds(snapshot, peaks);
    },
  };
}

/** Whatever dies: no address of a wallet is handed out twice, none is skipped, and its next index is the next one. */
function checkIndexes({ indexes, addresses }: Snapshot): void {
  for (const { network, next_index: next } of indexes) {
    const taken = addresses.filter((row) => row.network === network).map((row) => row.address_index ?? -1);
    const isWhole = taken.length === next && taken.toSorted((a, b) => a - b).every((index, place) => index === place);
    if (!isWhole) throw new Violation(`${network} has handed out ${taken.join(', ')} and goes on with ${next}`);
  }
}

/** Every satoshi in the blocks taken in is on exactly one payment, and nothing else counts as mined. */
function checkTransfers(snapshot: Snapshot, chainMoney: ReadonlyMap<string, TakenIn>): void {
  const mined = new Map<string, TransferRow>();
  for (const row of snapshot.transfers) {
    const key = transferKey({
      network: row.network,
      hash: row.transaction_hash,
      asset: row.asset,
      index: row.output_index,
    });
    if (row.state === 'mined' || row.state === 'confirmed') mined.set(key, row);
    else holds('what is in no block has no block', row.block_height === null && row.block_hash === null, () => key);
  }
  for (const [key, row] of mined) {
    holds(
      'what counts as mined is in a block that was taken in',
      chainMoney.has(key),
      () => `${key} at ${row.block_height}`,
    );
  }
  for (const [key, taken] of chainMoney) {
    const row = mined.get(key);
    holds(
      'what a block taken in pays to an issued address is known',
      row !== undefined,
      () => `${key} at ${taken.block.height}`,
    );
    if (row === undefined) continue;
    const facts = (): string =>
      `${key}: ${row.state} ${row.amount_units} for ${row.payment_id} in ${row.block_height}, but ${taken.amount} for ${taken.paymentId} in ${taken.block.height}`;
    holds('a transfer is on the payment that its address was issued to', row.payment_id === taken.paymentId, facts);
    holds('a transfer keeps its amount', row.amount_units === taken.amount && row.address === taken.address, facts);
    const inBlock = row.block_height === taken.block.height && row.block_hash === taken.block.hash;
    holds('a transfer knows its block', inBlock && row.block_at === taken.block.timeMs, facts);
    holds(
      'a transfer is confirmed when it is deep enough, and only then',
      (row.state === 'confirmed') === taken.isDeep,
      facts,
    );
  }
}

function earliest(row: TransferRow): number {
  return Math.min(row.first_seen_at, row.block_at ?? Infinity);
}

/** The payment's sums are those of its transfers on the quote: nothing is lost, nothing counted twice. */
function checkReceived(payment: Payment, rows: readonly TransferRow[]): void {
  const { quote, received } = payment;
  const counted = rows.filter(
    (row) => row.state !== 'dropped' && row.asset === quote?.asset && row.network === quote.network,
  );
  const sum = (part: readonly TransferRow[]): bigint => part.reduce((total, row) => total + row.amount_units, 0n);
  const sums = (part: readonly TransferRow[]): Sums => ({
    seenUnits: sum(part),
    minedUnits: sum(part.filter((row) => row.state !== 'seen')),
    confirmedUnits: sum(part.filter((row) => row.state === 'confirmed')),
  });
  const same = (a: Sums, b: Sums): boolean =>
    a.seenUnits === b.seenUnits && a.minedUnits === b.minedUnits && a.confirmedUnits === b.confirmedUnits;
  const all = sums(counted);
  const text = ({ seenUnits, minedUnits, confirmedUnits }: Sums): string =>
    `${seenUnits}/${minedUnits}/${confirmedUnits}`;
  const facts = (): string =>
    `${payment.id} (${payment.status}, ${quote?.asset}) has seen/mined/confirmed ${text(received.all)}, its transfers ${text(all)}`;
  holds('what was received is the sum of its transfers', same(received.all, all), facts);
  const inTime = sums(counted.filter((row) => earliest(row) < inTimeUntil(payment)));
  holds(
    'money in time is what came in time',
    same(received.inTime, inTime),
    () => `${facts()}, in time ${text(received.inTime)}, ${text(inTime)}`,
  );
}

/** The status is the one that the money in time leads to. */
function checkStatus(payment: Payment): void {
  const { status, quote, received } = payment;
  const facts = (): string =>
    `${payment.id} is ${status} with ${JSON.stringify(received, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))}`;
  holds(
    'an exception is true to the money',
    payment.exception === exceptionOf(payment),
    () => `${facts()}, ${payment.exception}`,
  );
  if (quote === null) return;
  const required = requiredUnits(quote);
  const { seenUnits, minedUnits, confirmedUnits } = received.inTime;
  const guarantee = 'a status is the one that the money leads to';
  if (status === 'pending' || status === 'prepared') holds(guarantee, seenUnits < required, facts);
  if (status === 'processing') holds(guarantee, seenUnits >= required && minedUnits < required, facts);
  if (status === 'confirming') holds(guarantee, minedUnits >= required && confirmedUnits < required, facts);
}

/** Only transitions of the table, each from where the last one led. */
function checkWalk(payment: Payment, transitions: readonly Walked[]): void {
  const text = (): string =>
    `${payment.id}: ${transitions.map(({ from, to }) => `${from} > ${to}`).join(', ')}; now ${payment.status}`;
  let status = 'created';
  for (const { from, to } of [...creationTransitions(payment), ...transitions]) {
    const drawn: readonly string[] = TRANSITIONS[from];
    holds('a payment walks only transitions of the table', from === status && drawn.includes(to), text);
    status = to;
  }
  holds('a payment is where its last transition led', status === payment.status, text);
}

/** Completed means confirmed at that time: by the blocks taken in, deep enough, in time, and all that is owed. */
function checkCompletion(
  payment: Payment,
  transition: Walked,
  rows: readonly TransferRow[],
  chainMoney: ReadonlyMap<string, TakenIn>,
): void {
  const { quote } = payment;
  if (quote === null) throw new Violation(`A payment without a quote was completed: ${payment.id}`);
  const deep = rows.filter((row) => {
    const taken = chainMoney.get(
      transferKey({ network: row.network, hash: row.transaction_hash, asset: row.asset, index: row.output_index }),
    );
    return row.network === quote.network && row.asset === quote.asset && taken?.isDeep === true;
  });
  const sum = (part: readonly TransferRow[]): bigint => part.reduce((total, row) => total + row.amount_units, 0n);
  const facts = (): string => `${payment.id} owes ${quote.owedUnits} ${quote.asset}, confirmed ${sum(deep)}`;
  if (transition.cause === 'accepted') holds('accepted money is confirmed', sum(deep) > 0n, facts);
  else {
    const inTime = deep.filter((row) => earliest(row) < inTimeUntil(payment));
    holds('completed means confirmed at that time', sum(inTime) >= requiredUnits(quote), facts);
  }
}

/** No deadline is drawn early, nor before every network that the payment has an address on was seen up to it. */
function checkDeadline(payment: Payment, snapshot: Snapshot, transition: Walked, now: number): void {
  const monitoring = transition.from === 'processing' ? DEFAULT_POLICY.monitoringMs : 0;
  const deadline = monitoring > 0 ? payment.expiresAt + monitoring : (payment.graceUntil ?? payment.expiresAt);
  holds('a deadline is not drawn early', now >= deadline, () => `${payment.id} at ${now}, due ${deadline}`);
  const networks = new Set(
    snapshot.addresses.filter((row: AddressRow) => row.payment_id === payment.id).map(({ network }) => network),
  );
  for (const network of networks) {
    const cursor = snapshot.cursors.get(network);
    const blocksUpTo = Math.min(cursor?.block_at ?? 0, cursor?.updated_at ?? 0);
    const seenUpTo = network === 'litecoin' ? (cursor?.looked_at ?? 0) : blocksUpTo;
    const guarantee = 'a deadline waits until every network of the payment was seen up to it';
    holds(guarantee, seenUpTo >= deadline, () => `${payment.id}: ${network} up to ${seenUpTo}, due ${deadline}`);
  }
}

/** Refunds never promise more than what was received. */
function checkRefunds(snapshot: Snapshot, peaks: ReadonlyMap<string, bigint>): void {
  const open = snapshot.refunds.filter((row) => row.status !== 'failed');
  for (const [key, rows] of Map.groupBy(open, (row) => moneyKey({ ...row, paymentId: row.payment_id }))) {
    const promised = rows.reduce((sum, row) => sum + row.units, 0n);
    const received = peaks.get(key) ?? 0n;
    holds('refunds stay within what was received', promised <= received, () => `${key}: ${promised} of ${received}`);
  }
}
