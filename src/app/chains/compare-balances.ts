import { untracedHash } from '../../domain/payment.ts';
import type { BlockId, ChainBlock, ChainSource, ChainTransfer, NativeBalances } from '../../rails/chain.ts';
import { balancesOf } from '../../rails/native-balances.ts';
import { knownAround, type CoinOutflow, type TakenFrom } from '../../store/chains/coin-outflows.ts';
import { lostTransfers } from '../../store/chains/lost-transfers.ts';
import { findTransfers } from '../../store/payments/transfers.ts';
import type { App } from '../context.ts';
import type { FoundTransfer } from '../payments/chain-money.ts';

/** How many blocks are traced to find one transfer; an older transfer is recorded without its transaction. */
export const MAX_TRACED_BLOCKS = 64;
/** Larger than any index in a trace, so that an untraced transfer never collides with a traced one. */
const UNTRACED_INDEX = 2_000_000_000;

interface Step {
  readonly height: number;
  readonly units: bigint;
}

/** The recorded coins that arrived at an address (positive) and left it. */
export interface Account {
  /** Null for a skipped address, whose payment is unknown. */
  readonly paymentId: string | null;
  /** The hash of the block up to which the chain was read when the address was handed out; null if unknown. */
  readonly afterBlock: string | null;
  readonly steps: Step[];
}

/** Accounts keyed by address. */
export type Accounts = ReadonlyMap<string, Account>;

/** The transfers that comparisons of balances found, to be saved together. */
export interface ContractTransfers {
  readonly found: readonly FoundTransfer[];
  readonly outflows: readonly CoinOutflow[];
  /** Outflows of earlier blocks that a node can explain now, which no node could before. */
  readonly resolved: readonly { readonly address: string; readonly height: number }[];
}

/** Successive comparisons, and the transfers that they found so far. */
export interface Comparisons {
  readonly app: App;
  readonly source: ChainSource;
  readonly native: NativeBalances;
  /** The blocks that were read last. */
  readonly newest: readonly ChainBlock[];
  readonly known: KnownTransfers;
  readonly found: FoundTransfer[];
  readonly outflows: CoinOutflow[];
  readonly resolved: { readonly address: string; readonly height: number }[];
}

export function beginComparisons(
  app: App,
  source: ChainSource,
  native: NativeBalances,
  newest: readonly ChainBlock[],
): Comparisons {
  return { app, source, native, newest, known: knownTransfers(app), found: [], outflows: [], resolved: [] };
}

/**
 * Records coins that lay on an address before it was handed out, for example by another installation. If no node has
 * the balances, they show up later as money without a transaction.
 */
export async function noteFormerCoins(all: Comparisons, block: BlockId, everyone: Accounts): Promise<void> {
  const fresh = [...everyone].filter(([, { afterBlock }]) => afterBlock === block.hash);
  if (fresh.length === 0) return;
  const holders = fresh.map(([address]) => ({ address }));
  const balances = await balancesOf(all.native, holders, block);
  for (const [address, account] of fresh) {
    const units = (balances?.get(address) ?? 0n) - unitsAfter(account, block.height);
    if (units <= 0n) continue;
    all.outflows.push({ address, height: block.height, units: -units, state: 'before' });
    account.steps.push(stepOf(block, units));
  }
}

/** Compares all addresses after a block. Returns false if no node has the balances. */
export async function compareAfter(all: Comparisons, block: ChainBlock, accounts: Accounts): Promise<boolean> {
  const holders = [...accounts.keys()].map((address) => ({ address }));
  const balances = await balancesOf(all.native, holders, block);
  if (balances !== null) await compare(all, { block, balances, stateOf: () => 'missing' }, accounts);
  return balances !== null;
}

/**
 * Compares addresses before and after a block in which a transaction may have taken coins from them. Returns false if
 * no node has the balances of both blocks.
 */
export async function compareAround(
  all: Comparisons,
  { before, block }: { readonly before: ChainBlock | BlockId; readonly block: ChainBlock },
  taken: readonly TakenFrom[],
  everyone: Accounts,
): Promise<boolean> {
  const { native } = all;
  const accounts = new Map(
    taken.flatMap(({ address }) => {
      const account = everyone.get(address);
      return account === undefined ? [] : [[address, account] as const];
    }),
  );
  if (accounts.size === 0) return true;
  const treasuries = new Set(taken.flatMap(({ treasury }) => treasury ?? []));
  const holders = [...accounts.keys(), ...treasuries].map((address) => ({ address }));
  const parent = 'transfers' in before ? before : await blockOf(all, before);
  const was = parent === null ? null : await balancesOf(native, holders, parent);
  const is = await balancesOf(native, holders, block);
  if (parent === null || was === null || is === null) return false;
  await compare(all, { block: parent, balances: was, stateOf: () => 'missing' }, accounts);
  // A treasury receives what left its deposits: if the known transfers explain that, no contract paid to them in this
  // block.
  const unexplained = [...treasuries].map((treasury) => {
    const addresses = new Set(taken.flatMap((one) => (one.treasury === treasury ? one.address : [])));
    let units = (is.get(treasury) ?? 0n) - (was.get(treasury) ?? 0n);
    for (const [address, account] of accounts) {
      if (addresses.has(address)) units -= unitsAfter(account, block.height) - (is.get(address) ?? 0n);
    }
    return { addresses, units };
  });
  const isPlain = taken.every(({ treasury }) => treasury !== null) && unexplained.every(({ units }) => units === 0n);
  const paid = isPlain ? [] : await native.internalTransfers(block, new Set(accounts.keys()));
  if (paid !== null && paid.length > 0) await all.known.load([...accounts.values()]);
  for (const [address, transfers] of Map.groupBy(paid ?? [], (transfer) => transfer.address)) {
    const account = accounts.get(address);
    // The counted units include those recorded without a hash when no node traced the block.
    let counted = all.known.amountOf(untracedIn(block, address));
    for (const transfer of transfers) {
      if (account === undefined || all.known.has(transfer)) continue;
      const amount = transfer.amount - (counted < transfer.amount ? counted : transfer.amount);
      counted -= transfer.amount - amount;
      if (amount > 0n) arrived(all, block, { ...transfer, amount }, account);
    }
  }
  // A treasury that received less has paid something itself, such as gas.
  const doubtful = paid === null ? unexplained.filter(({ units }) => units > 0n) : [];
  const isOpen = (address: string): boolean => doubtful.some(({ addresses }) => addresses.has(address));
  await compare(all, { block, balances: is, stateOf: (address) => (isOpen(address) ? 'open' : 'taken') }, accounts);
  return true;
}

/** Keeps outflows that no node could explain, so that the nodes are asked again later. */
export function leaveOpen({ outflows }: Comparisons, taken: readonly TakenFrom[], accounts: Accounts): void {
  for (const { address, height } of taken) {
    if ((accounts.get(address)?.paymentId ?? null) === null) continue;
    outflows.push({ address, height, units: 0n, state: 'open' });
  }
}

/** Asks the nodes again about the transfers of an earlier block. */
export async function compareAgain(all: Comparisons, height: number, taken: readonly TakenFrom[]): Promise<void> {
  const { app, source, native, outflows, resolved } = all;
  const [before, block] = await source.blocks(height - 1, 2);
  if (before === undefined || block === undefined) return;
  const accounts = new Map<string, Account>();
  for (const one of taken) {
    const around = await knownAround(app.db, source.network, native.asset, one);
    if (around === null) continue;
    const steps = [stepOf(before, around.before), stepOf(block, around.arrived)];
    accounts.set(one.address, { paymentId: around.paymentId, afterBlock: around.afterBlock, steps });
  }
  if (!(await compareAround(all, { before, block }, taken, accounts))) return;
  // Coins that were missing later may have left in this block; any others are missing again at the next comparison.
  const kept = outflows.filter((one) => !(accounts.has(one.address) && one.state === 'missing' && one.height > height));
  outflows.splice(0, outflows.length, ...kept);
  for (const address of accounts.keys()) resolved.push({ address, height });
}

interface Look {
  readonly block: ChainBlock;
  readonly balances: ReadonlyMap<string, bigint>;
  /** The state to record for coins that are missing at an address. */
  readonly stateOf: (address: string) => CoinOutflow['state'];
}

/** Compares balances after a block: coins beyond the recorded ones came from contracts; missing coins have left. */
async function compare(all: Comparisons, { block, balances, stateOf }: Look, accounts: Accounts): Promise<void> {
  const surplus = new Map<string, bigint>();
  for (const [address, account] of accounts) {
    const units = (balances.get(address) ?? 0n) - unitsAfter(account, block.height);
    const state = stateOf(address);
    if (units > 0n) surplus.set(address, units);
    if (units >= 0n && state !== 'open') continue;
    const left = units < 0n ? -units : 0n;
    all.outflows.push({ address, height: block.height, units: left, state });
    account.steps.push(stepOf(block, -left));
  }
  if (surplus.size > 0) await explain(all, block, surplus, accounts);
}

/** Searches the newest blocks up to this one for the transfers behind unexplained coins. */
async function explain(
  all: Comparisons,
  at: ChainBlock,
  surplus: ReadonlyMap<string, bigint>,
  accounts: Accounts,
): Promise<void> {
  const { native, known } = all;
  const missing = new Map(surplus);
  const searched = new Set(surplus.keys());
  await known.load([...missing.keys()].flatMap((address) => accounts.get(address) ?? []));
  for await (const block of blocksBack(all, at)) {
    for (const address of searched) if (accounts.get(address)?.afterBlock === block.hash) searched.delete(address);
    if (searched.size === 0) break;
    const transfers = await native.internalTransfers(block, searched);
    // A node that does not trace this block will not trace older ones either.
    if (transfers === null) break;
    for (const transfer of transfers) {
      const { address, amount } = transfer;
      const [rest, account] = [missing.get(address), accounts.get(address)];
      if (rest === undefined || account === undefined || amount > rest || known.has(transfer)) continue;
      arrived(all, block, transfer, account);
      missing.set(address, rest - amount);
      if (amount < rest) continue;
      missing.delete(address);
      searched.delete(address);
    }
  }
  for (const [address, amount] of missing) {
    const account = accounts.get(address);
    const transfer = { ...untracedIn(at, address), address, asset: native.asset, amount };
    if (account !== undefined) arrived(all, at, transfer, account);
  }
}

/** The blocks to trace, newest first, starting at `at`; blocks read before this process began come last. */
async function* blocksBack({ newest, source }: Comparisons, at: BlockId): AsyncGenerator<ChainBlock> {
  yield* newest.filter(({ height }) => height <= at.height).toReversed();
  const first = newest[0]?.height ?? at.height + 1;
  const count = Math.min(MAX_TRACED_BLOCKS - newest.length, first);
  if (count > 0) yield* (await source.blocks(first - count, count)).toReversed();
}

/** Replaces the transfers to an address that were found after a block and could not be traced. */
function untracedIn({ hash }: BlockId, address: string): TransferKey {
  return { transactionHash: untracedHash(`${address}@${hash}`), index: UNTRACED_INDEX };
}

function arrived({ found, known }: Comparisons, block: ChainBlock, transfer: ChainTransfer, account: Account): void {
  const { paymentId, steps } = account;
  found.push({ block, transfer, ...(paymentId !== null && { paymentId }) });
  known.add(transfer);
  steps.push(stepOf(block, transfer.amount));
}

async function blockOf({ newest, source }: Comparisons, { height, hash }: BlockId): Promise<ChainBlock | null> {
  const block = newest.find((one) => one.height === height) ?? (await source.block(height));
  return block?.hash === hash ? block : null;
}

export function stepOf({ height }: BlockId, units: bigint): Step {
  return { height, units };
}

function unitsAfter({ steps }: Account, height: number): bigint {
  return steps.reduce((sum, step) => (step.height <= height ? sum + step.units : sum), 0n);
}

type TransferKey = Pick<ChainTransfer, 'transactionHash' | 'index'>;

type KnownTransfers = ReturnType<typeof knownTransfers>;

/** The transfers that are recorded or found already. A dropped one may come back. */
function knownTransfers({ db }: App) {
  const amounts = new Map<string, bigint>();
  const loaded = new Set<string | null>();
  const keyOf = ({ transactionHash, index }: TransferKey): string => `${transactionHash} ${index}`;
  const add = (transfer: Pick<ChainTransfer, 'transactionHash' | 'index' | 'amount'>): void =>
    void amounts.set(keyOf(transfer), transfer.amount);

  return {
    add,
    has: (transfer: TransferKey): boolean => amounts.has(keyOf(transfer)),
    /** 0 for an unknown transfer. */
    amountOf: (transfer: TransferKey): bigint => amounts.get(keyOf(transfer)) ?? 0n,
    load: async (accounts: readonly Account[]): Promise<void> => {
      const fresh = [...new Set(accounts.map(({ paymentId }) => paymentId))].filter((id) => !loaded.has(id));
      for (const id of fresh) loaded.add(id);
      const transfers = await findTransfers(
        db,
        fresh.filter((id) => id !== null),
      );
      for (const transfer of [...transfers.values()].flat()) {
        if (transfer.state !== 'dropped') add({ ...transfer, amount: transfer.amountUnits });
      }
      if (!fresh.includes(null)) return;
      for (const lost of await lostTransfers(db)) add({ ...lost, index: lost.outputIndex, amount: lost.amountUnits });
    },
  };
}
