import { parseUnits } from 'viem';
import type { Movement, Scene } from './scene.ts';
import { DECIMALS, type Asset, type Fields, type Order, type Refund, type Told } from './shop.ts';
import { sum } from './ledger.ts';
import { shown } from './scene.ts';

/** Where the program says something else than the chain, or contradicts itself. */
export interface Contradiction {
  /** An order's or refund's id, or a report. */
  readonly subject: string;
  readonly about: string;
  readonly program: string;
  readonly chain: string;
  readonly story: readonly string[];
}

type Add = (subject: string, about: string, program: unknown, chain: unknown, story?: readonly string[]) => void;

/** The chain as it stands, by where its money went. */
interface Index {
  readonly movements: readonly Movement[];
  readonly to: ReadonlyMap<string, readonly Movement[]>;
  readonly hashes: ReadonlySet<string>;
}

/** Compares all that the program says with the chain. Nothing may happen meanwhile. */
export async function contradictions(scene: Scene): Promise<readonly Contradiction[]> {
  const { shop, chain, orders, refunds } = scene;
  const found: Contradiction[] = [];
  const add: Add = (subject, about, program, real, story = []) => {
    if (text(program) !== text(real)) found.push({ subject, about, program: text(program), chain: text(real), story });
  };
  const [movements, readOrders, readRefunds] = await Promise.all([
    chain.read(orders.map(({ address }) => address)),
    shop.readOrders(),
    shop.readRefunds(),
  ]);
  const index: Index = {
    movements,
    to: Map.groupBy(movements, ({ to }) => to),
    hashes: new Set(movements.map(({ hash }) => hash)),
  };
  for (const order of orders) {
    const said = readOrders.get(order.id) ?? {};
    compareOrder(index, order, said, add);
    const ofRefunds = refunds.filter((refund) => refund.order === order).flatMap(({ id }) => shop.told(id));
    compareEvents(order, said, shop.told(order.id), ofRefunds, add);
  }
  for (const refund of refunds) {
    const said = readRefunds.get(refund.id) ?? {};
    compareRefund(index, refund, orders, said, add);
    const told = shop.told(refund.id).at(-1)?.data;
    add(refund.id, 'status in its last event', told?.status, said['status'], refund.story);
    add(refund.id, 'hash in its last event', told?.['transaction_hash'], said['transaction_hash'], refund.story);
  }
  await compareReports(scene, index, readOrders, readRefunds, add);
  return found;
}

function text(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? 'nothing');
}

function arrivals({ to }: Index, { address, asset }: Pick<Order, 'address' | 'asset'>): readonly Movement[] {
  return (to.get(address) ?? []).filter((one) => one.asset === asset);
}

/** Compares an order with its expected state; in `or`, both words are right. */
function compareOrder(index: Index, order: Order, said: Fields, add: Add): void {
  const { id, asset, owed, isCancelled, sent, story } = order;
  const came = arrivals(index, order);
  const arrived = sum(came);
  add(id, 'amount_received', shown(unitsOf(said['amount_received'], asset), asset), shown(arrived, asset), story);
  const { status, exception, transaction_hash: hash } = said;
  const isReorged = status === 'completed' && exception === 'reorged';
  // Something that was sent is not on the chain any more: what completed the order may have been more.
  if (isReorged && arrived < sent) return;
  const state = isCancelled ? 'cancelled' : arrived >= owed ? 'completed' : 'pending';
  add(id, 'status', status, state, story);
  add(id, 'exception', exception, exceptionOf(order, arrived), story);
  if (status === 'completed' && typeof hash === 'string') {
    const pays = came.some((one) => one.hash === hash);
    add(id, 'transaction_hash', hash, pays ? hash : `paid by ${came.map((one) => one.hash).join(', ')}`, story);
  }
}

function exceptionOf({ owed, isCancelled }: Order, arrived: bigint): string {
  if (isCancelled) return arrived > 0n ? 'paid_late' : 'none';
  if (arrived > owed) return 'overpaid';
  return arrived > 0n && arrived < owed ? 'underpaid' : 'none';
}

function compareRefund(index: Index, refund: Refund, orders: readonly Order[], said: Fields, add: Add): void {
  const { id, payouts, story, address, isCancelled } = refund;
  const paidBy = payouts.filter((hash) => index.hashes.has(hash));
  const { status, transaction_hash: hash } = said;
  const unpaid = isCancelled ? 'failed' : 'pending';
  add(id, 'status', status, paidBy.length > 0 ? 'completed' : unpaid, story);
  add(id, 'cancelled while this pays it', isCancelled ? paidBy.join() : '', '', story);
  if (status === 'completed')
    add(id, 'transaction_hash', hash, paidBy.find((one) => one === hash) ?? paidBy.join(), story);
  const order = orders.find((one) => one.address === address);
  const takes = order === undefined ? 'nobody' : `${order.id}, which was ordered there`;
  add(id, 'pays for', takes, 'nobody', [...story, ...(order?.story ?? [])]);
}

/**
 * A payment's events and those of its refunds are numbered together, without a gap; the last says what is read. None
 * says that a reorganisation took the money back before it was confirmed.
 */
function compareEvents(
  { id, story }: Order,
  said: Fields,
  told: readonly Told[],
  ofRefunds: readonly Told[],
  add: Add,
): void {
  const numbers = [...told, ...ofRefunds].map(({ sequence }) => sequence).toSorted((a, b) => a - b);
  add(id, 'numbers of its events', numbers.join(), numbers.map((_number, place) => place + 1).join(), story);
  const last = told.at(-1)?.data.status;
  const isTakenBack = last === 'confirming' && (said['status'] === 'pending' || said['status'] === 'processing');
  if (!isTakenBack) add(id, 'status in its last event', last, said['status'], story);
}

async function compareReports(
  { shop, chain, orders, refunds }: Scene,
  index: Index,
  readOrders: ReadonlyMap<string, Fields>,
  readRefunds: ReadonlyMap<string, Fields>,
  add: Add,
): Promise<void> {
  const [payments, transfers, paidRefunds, sweeps, statement] = [
    await shop.csv('payments'),
    await shop.csv('transfers'),
    await shop.csv('refunds'),
    await shop.csv('sweeps'),
    await shop.statement(),
  ];
  const said = (of: Order | Refund): Fields => readOrders.get(of.id) ?? readRefunds.get(of.id) ?? {};
  const isThere = (hash: string | undefined): string => (index.hashes.has(hash ?? '') ? 'on the chain' : 'on no chain');
  const transfersOf = Map.groupBy(transfers, (row) => row['payment']);
  for (const [report, subjects, rows] of [
    ['payments', orders, payments],
    ['refunds', refunds, paidRefunds],
  ] as const) {
    for (const one of subjects) {
      const row = rows.find(({ id }) => id === one.id);
      add(one.id, `status in the export of ${report}`, row?.['status'], said(one)['status'], one.story);
      const hash = said(one)['transaction_hash'] ?? '';
      add(one.id, `hash in the export of ${report}`, row?.['transaction hash'], hash, one.story);
    }
  }
  for (const { id, address, story } of orders) {
    const came = index.to.get(address) ?? [];
    const rows = (transfersOf.get(id) ?? []).map((row) => ({ row, asset: row['coin'] as Asset }));
    const exported = rows.map(({ row, asset }) => ({ asset, units: units(row['coin amount'], asset) }));
    add(id, 'transfers in their export', added(exported), added(came), story);
    for (const { row } of rows) {
      const hash = row['transaction hash'];
      add(id, `state of ${hash} in the export of transfers`, row['state'], 'confirmed', story);
      // A contract's payment may have been found without its transaction.
      if (hash !== '') add(id, `${hash} in the export of transfers`, isThere(hash), 'on the chain', story);
    }
  }
  const deposits = new Map(orders.map((order) => [order.address, order]));
  for (const row of sweeps) {
    const { story } = deposits.get((row['deposit'] ?? '').toLowerCase()) ?? {};
    const hash = row['transaction hash'];
    add(`sweep of ${row['deposit']}`, `hash ${hash} in the export`, isThere(hash), 'on the chain', story);
  }
  const tokens = new Map(statement.tokens.map((token) => [token.coin, token]));
  const isPaid = ({ payouts }: Refund): boolean => payouts.some((hash) => index.hashes.has(hash));
  for (const asset of new Set(chain.assets)) {
    const token = tokens.get(asset);
    const compare = (field: string, program: string | null | undefined, real: bigint): void =>
      add('statement', `${field}, ${asset}`, shown(units(program ?? '0', asset), asset), shown(real, asset));
    const moved = index.movements.filter((one) => one.asset === asset);
    const came = sum(moved.filter(({ to }) => deposits.has(to)));
    const swept = sum(moved.filter(({ from }) => from !== null && deposits.has(from)));
    compare('received', token?.received, came);
    compare('refunded', token?.refunded, sum(refunds.filter((one) => one.asset === asset && isPaid(one))));
    compare('unexplained', token?.unexplained, 0n);
    if (chain.network === 'bitcoin') continue;
    compare('swept', token?.swept, swept);
    compare('swept from deposits', token?.deposits?.swept, swept);
    compare('on deposits', token?.deposits?.there, came - swept);
    const exported = sweeps
      .filter((row) => row['coin'] === asset)
      .map((row) => ({ units: units(row['coin amount'], asset) }));
    add('export of sweeps', asset, shown(sum(exported), asset), shown(swept, asset));
  }
  // A reorganisation may take the money of an order off the chain after its refund was made, paid or not.
  const isOverRefunded = orders.some(
    (order) => sum(refunds.filter((one) => one.order === order && !one.isCancelled)) > sum(arrivals(index, order)),
  );
  const verdict = isOverRefunded ? 'explained' : 'balanced';
  const { differences, over_refunds: overRefunds, repeated_refunds: repeated } = statement;
  const depositDifferences = statement.deposit_differences;
  const named = JSON.stringify({ differences, overRefunds, repeated, depositDifferences });
  add('statement', 'verdict', statement.verdict === verdict ? verdict : `${statement.verdict} by ${named}`, verdict);
}

function unitsOf(value: unknown, asset: Asset): bigint {
  return units(typeof value === 'string' ? value : '0', asset);
}

function units(amount: string | undefined, asset: Asset): bigint {
  return parseUnits(amount === undefined || amount === '' ? '0' : amount, DECIMALS[asset]);
}

/** Amounts added up by coin, in one order. */
function added(amounts: readonly Pick<Movement, 'asset' | 'units'>[]): string {
  const byAsset = [...Map.groupBy(amounts, ({ asset }) => asset)];
  return byAsset
    .map(([asset, own]) => shown(sum(own), asset))
    .toSorted()
    .join(', ');
}
