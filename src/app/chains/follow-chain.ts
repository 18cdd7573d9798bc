import { NETWORK_FACTS, type Network } from '../../domain/networks.ts';
import type {
  BlockHeader,
  ChainBlock,
  ChainSource,
  ChainTransfer,
  NodeReport,
  WaitingTransactions,
} from '../../rails/chain.ts';
import type { DeriveAddresses } from '../../rails/derive-addresses.ts';
import { dropChangeAbove, saveChangeOutputs } from '../../store/refunds/change.ts';
import {
  lockCursor,
  moveCursor,
  readCursor,
  saveAtHead,
  startCursor,
  type Cursor,
  saveRawTransactions,
} from '../../store/chains/chain.ts';
import { dropOutflowsAbove, saveOutflows } from '../../store/chains/coin-outflows.ts';
import {
  confirmTransfers,
  takeBackTransfersAbove,
  type ConfirmedTransfer,
  saveTransfers,
} from '../../store/payments/transfers.ts';
import { dropLostAbove } from '../../store/chains/lost-transfers.ts';
import { purgeBalanceChecksAbove, saveBalanceChecks } from '../../store/refunds/refund-balances.ts';
import { takeBackPayoutsAbove } from '../../store/refunds/refund-payouts.ts';
import type { UnissuedAddress } from '../../store/wallets/unissued.ts';
import { arrival, distinct, observeMoney, paymentsWatching, type FoundTransfer } from '../payments/chain-money.ts';
import { receiptPrices } from '../payments/receipt-prices.ts';
import { changeOutputs, changeWatching } from '../refunds/change-watch.ts';
import type { App } from '../context.ts';
import { createContractWatch, type ContractWatch } from './contract-payments.ts';
import { createContractPayoutWatch, type ContractPayoutWatch } from '../refunds/contract-payouts.ts';
import { findFork, linked } from './find-fork.ts';
import { firstBlock } from './first-block.ts';
import { takeInLostMoney } from './lost-money.ts';
import { createMempoolWatch, type MempoolProof } from './mempool.ts';
import { createRequestedPolls } from './requested-poll.ts';
import { createPayoutWatch, keepPayouts, refundsWatching, spendsOf } from '../refunds/refund-payouts.ts';
import { sendAgain } from '../refunds/keep-sent.ts';
import { reopenRefunds, completePaidRefunds } from '../refunds/end-refunds.ts';
import { createUnissuedWatch, type UnissuedWatch } from './unissued-watch.ts';
import { inTransaction, emitAfterCommit, type ObservedTrx } from '../in-transaction.ts';

/** How many blocks are taken in together while catching up. */
const MAX_BLOCKS = 100;
/** How often the time of the last read of the node's newest block is saved while no newer block arrives. */
const AT_HEAD_STEP_MS = 5_000;
const NO_UNISSUED: ReadonlyMap<string, UnissuedAddress> = new Map();
export type Followed = 'advanced' | 'rolled_back' | 'at_head';

/** The node's head is below the blocks that were already read. */
export class NodeBehindError extends Error {
  override readonly name = 'NodeBehindError';

  constructor(network: Network, blocks: number) {
    super(
      `The ${network} node is ${blocks} blocks behind the last block that was read. Until the node has caught up, no new block is read and no payment expires.`,
    );
  }
}

/**
 * Follows one chain, one step at a time. Its memory only saves repeated queries; everything that matters is in the
 * database.
 */
export interface ChainFollower {
  /**
   * Takes in the next blocks, or rolls back to the fork if the chain was reorganised. All changes are saved in one
   * transaction with the cursor, so that a crash neither skips nor repeats a block. No network call happens inside the
   * transaction. At the head, the mempool is read. Throws if the node follows another chain, and whatever the source
   * throws.
   */
  follow(): Promise<Followed>;
  /** Takes in what a survey of the nodes reported. */
  heard(reports: readonly NodeReport[]): void;
}

/**
 * Without `derive`, only addresses that were handed out are watched. `monotonic` measures in ms how long reads take.
 */
export function createChainFollower(
  app: App,
  source: ChainSource,
  derive: DeriveAddresses | null = null,
  monotonic: () => number = () => performance.now(),
): ChainFollower {
  const mempool = createMempoolWatch(app, source, monotonic);
  let saved = { hash: '', at: 0 };
  const contracts = createContractWatch(app, source);
  const contractPayouts = createContractPayoutWatch(app, source);
  const payouts = createPayoutWatch(app, source);
  const polls = createRequestedPolls(app, source);
  const unissued = derive === null ? null : createUnissuedWatch(app, source, derive);

  async function step(): Promise<Followed> {
    const followed = await followBlocks(app, source, { contracts, contractPayouts, unissued });
    if (followed === 'rolled_back') {
      mempool.forget();
      polls.rolledBack();
    }
    if (followed === 'advanced') await completePaidRefunds(app, source.network);
    return followed;
  }

  return {
    heard: polls.heard,
    follow: async () => {
      // Before anything is read, so that a later request waits for the next round.
      const poll = await polls.next();
      const followed = await step();
      if (poll !== null && source.mempool === null) {
        const compared = await contractPayouts.comparedUpTo();
        if (compared !== null) await polls.end(poll, compared);
      }
      if (followed !== 'at_head') return followed;
      const askedAt = app.clock();
      const view = await mempool.read(poll);
      // A second step: a transaction that is missing from the mempool is then in a block taken in by now, or gone.
      const again = view === null ? followed : await step();
      if (again !== 'at_head') return again;
      const head = await source.head();
      const cursor = await readCursor(app.db, source.network);
      const isAtHead = head.hash === cursor?.hash;
      const isWhole =
        view !== null && (await mempool.takeIn(view.hashes, isAtHead ? proofOf(view, cursor, askedAt) : null, poll));
      if (isAtHead) {
        await payouts.dropGone(cursor);
        const isNew = cursor.hash !== saved.hash || Math.abs(askedAt - saved.at) >= AT_HEAD_STEP_MS;
        // If the source lists a mempool, the chain is read up to the head only together with all of it.
        if (isNew && (isWhole || source.mempool === null)) {
          await saveAtHead(app.db, source.network, cursor.hash, askedAt);
          saved = { hash: cursor.hash, at: askedAt };
        }
        // A node with `-blocksonly` lists none of the transactions that wait.
        if (poll !== null && isWhole && view.proof === 'mempool') await polls.end(poll, cursor);
      }
      // A transfer of the new chain that pays one may be deep enough already.
      if (await reopenRefunds(app, source.network)) await completePaidRefunds(app, source.network);
      if (view !== null && isAtHead) await sendAgain(app, source, new Set(view.hashes));
      const behind = cursor === null ? 0 : cursor.height - head.height;
      if (behind > maxBehind(source.network)) throw new NodeBehindError(source.network, behind);
      return again;
    },
  };
}

/** The proof of a mempool read at `askedAt`, given that the cursor is at the node's newest block. */
function proofOf({ proof }: WaitingTransactions, cursor: Cursor, askedAt: number): MempoolProof | null {
  if (proof === 'nothing') return null;
  return { kind: proof, upTo: proof === 'mempool' ? askedAt : Math.min(cursor.blockAt, askedAt) };
}

/** The watches beside the one of payments' addresses. */
interface Watches {
  readonly contracts: ContractWatch;
  readonly contractPayouts: ContractPayoutWatch;
  readonly unissued: UnissuedWatch | null;
}

/** Takes in the next blocks of a chain, or rolls back to the fork. */
async function followBlocks(app: App, source: ChainSource, watches: Watches): Promise<Followed> {
  const cursor = await readCursor(app.db, source.network);
  if (cursor === null) return start(app, source);
  const blocks = await source.blocks(cursor.height + 1, MAX_BLOCKS);
  const [next] = blocks;
  if (next !== undefined && next.parentHash === cursor.hash)
    return takeIn(app, source, watches, cursor, linked(blocks));
  const fork = await findFork(app, source, cursor, next ?? null);
  if (fork === null) return 'at_head';
  const state = source.mempool === null ? 'dropped' : 'seen';
  return changeChain(app, source, cursor, [fork], 'rolled_back', async (trx, now) => {
    await takeBackPayoutsAbove(trx, source.network, fork.height, now);
    await purgeBalanceChecksAbove(trx, source.network, fork.height);
    await dropChangeAbove(trx, source.network, fork.height);
    await dropLostAbove(trx, source.network, fork.height);
    await dropOutflowsAbove(trx, source.network, fork.height);
    const touched = await takeBackTransfersAbove(trx, source.network, fork.height, state);
    const [fromHeight, toHeight] = [cursor.height, fork.height];
    const payments = new Set(touched).size;
    emitAfterCommit(trx, { kind: 'chain_rolled_back', network: source.network, fromHeight, toHeight, payments });
    return { touched, confirmed: [] };
  });
}

async function start(app: App, source: ChainSource): Promise<Followed> {
  const block = await firstBlock(app, source);
  if (block === null) return 'at_head';
  const started = await app.db
    .transaction()
    .execute((trx) => startCursor(trx, source.network, cursorOf(block), app.clock()));
  return started ? 'advanced' : 'at_head';
}

function cursorOf({ height, hash, timeMs }: BlockHeader): Cursor {
  return { height, hash, blockAt: timeMs };
}

async function takeIn(
  app: App,
  source: ChainSource,
  { contracts, contractPayouts, unissued: unissuedWatch }: Watches,
  cursor: Cursor,
  blocks: readonly ChainBlock[],
): Promise<Followed> {
  const { network } = source;
  const transfers = blocks.flatMap((block) => block.transfers);
  const unissued = (await unissuedWatch?.find(transfers)) ?? NO_UNISSUED;
  const watched = await paymentsWatching(app, network, transfers);
  const refunds = await refundsWatching(app, network, transfers);
  const change = await changeWatching(app, source, transfers);
  const taken: ChainBlock[] = [];
  const foundTransfers: FoundTransfer[] = [];
  const whole = new Map<string, Uint8Array>();
  for (const block of blocks) {
    const own = ({ address }: ChainTransfer): boolean =>
      watched.has(address) || change.has(address) || unissued.has(address);
    const ours = block.transfers.filter((transfer) => own(transfer) || refunds.has(transfer));
    const matched = distinct(ours);
    const moved = matched.length === 0 ? matched : await source.dropReverted(block, matched);
    // The node dropped the block between the two calls; the next round reads what it has now.
    if (moved === null) break;
    taken.push(block);
    for (const transfer of moved) foundTransfers.push({ block, transfer });
    // The node still has the block now; when a refund is paid later, a pruned node may not.
    for (const [hash, bytes] of (await source.spending?.wholeTransactions(block, moved.filter(own))) ?? []) {
      whole.set(hash, bytes);
    }
  }
  const top = taken.at(-1);
  if (top === undefined) return 'at_head';
  const byContracts = await contractPayouts.find(taken);
  const payouts = [...foundTransfers.filter(({ transfer }) => refunds.has(transfer)), ...byContracts.found];
  const spends = await spendsOf(source, payouts);
  const fromContracts = await contracts.find(taken, foundTransfers);
  foundTransfers.push(...fromContracts.found);
  const passedOn = fromContracts.found.flatMap(({ transfer, paymentId }) =>
    paymentId === undefined ? [transfer] : [],
  );
  const alsoUnissued = (await unissuedWatch?.find(passedOn)) ?? NO_UNISSUED;
  return changeChain(app, source, cursor, taken.map(cursorOf), 'advanced', async (trx, now) => {
    const arrived = foundTransfers.flatMap(({ block, transfer, paymentId }) =>
      arrival(network, block, transfer, paymentId ?? watched.get(transfer.address), now),
    );
    await saveTransfers(trx, arrived, receiptPrices(app.railFor('live'), now));
    const unknown = foundTransfers.filter(({ transfer }) => !watched.has(transfer.address));
    await takeInLostMoney(app, trx, network, new Map([...unissued, ...alsoUnissued]), unknown, now);
    await saveOutflows(trx, network, fromContracts.outflows, fromContracts.resolved);
    await keepPayouts(trx, network, payouts, spends, now);
    await saveBalanceChecks(trx, byContracts.checks);
    await saveChangeOutputs(trx, changeOutputs(network, change, foundTransfers));
    await saveRawTransactions(trx, network, whole);
    const confirmed = await confirmTransfers(trx, network, top.height);
    return { touched: [...arrived, ...confirmed].map(({ paymentId }) => paymentId), confirmed };
  });
}

/**
 * How many blocks a node may be behind without suspicion: a minute's worth, and at least two, because nodes receive
 * blocks at different times.
 */
function maxBehind(network: Network): number {
  return Math.max(2, Math.ceil(60_000 / NETWORK_FACTS[network].blockMs));
}

interface ChangedMoney {
  /** Ids of the payments whose transfers changed. */
  readonly touched: readonly string[];
  readonly confirmed: readonly ConfirmedTransfer[];
}

/** Moves the cursor and updates the payments affected by blocks or a rollback, all in one transaction. */
async function changeChain(
  app: App,
  { network }: ChainSource,
  expected: Cursor,
  next: readonly Cursor[],
  done: Followed,
  work: (trx: ObservedTrx, now: number) => Promise<ChangedMoney>,
): Promise<Followed> {
  return inTransaction(app, async (trx) => {
    const locked = await lockCursor(trx, network);
    // Another worker was faster: the blocks read here are outdated.
    if (locked === null || locked.height !== expected.height || locked.hash !== expected.hash) return 'at_head';
    const now = app.clock();
    await moveCursor(trx, network, next, now);
    const { touched, confirmed } = await work(trx, now);
    await observeMoney(app, trx, touched, now, confirmed);
    return done;
  });
}
