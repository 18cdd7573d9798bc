import { nativeAsset, NETWORK_FACTS } from '../../domain/networks.ts';
import type { EvmReceipt } from '../../rails/evm/reader.ts';
import { deployedBy } from '../../rails/evm/sweep.ts';
import { addFactory, arrivalsInBlock, setDepositBalance } from '../../store/sweeps/deposit-balances.ts';
import {
  deleteUnlocated,
  transfersOfSweeps,
  updateSweepTransfer,
  type SweepTransfer,
} from '../../store/sweeps/sweep-transfers.ts';
import type { Trx } from '../../store/database.ts';
import { claimDueSweeps, lockSweep, lockSweeps, updateSweep, type Sweep } from '../../store/sweeps/sweeps.ts';
import type { App } from '../context.ts';
import { inTransaction } from '../in-transaction.ts';
import { askAgain, askAgainAt } from './ask-again.ts';
import { isCallOf, worthAt, type SweepChain, type SweepChains } from './chain.ts';
import { rememberingBlocks, takersOf } from './find-outside.ts';

/** A sweep may be sent again if the wallet that was asked for it has not answered for this long. */
export const ASKED_MS = 15 * 60_000;
/** A hash that no node has ever had is wrong after this time: a private relay may keep a transaction for minutes. */
export const LOST_MS = 10 * 60_000;
/** A transaction that a node had, and that none has had for this long, was replaced or dropped. */
export const GONE_MS = 2 * 60_000;
/** Other processes follow the sweeps of a dead process after this time. */
const CLAIM_MS = 60_000;
const MIN_REST_MS = 2_000;
const MAX_REST_MS = 15_000;
/** A network without a node is asked again after this time. */
const NO_NODE_MS = 10 * 60_000;

/**
 * Follows sweeps that are due: sent ones until they are mined, mined ones until their block is final, also when the
 * chain takes that block back. Returns how many were followed. `onLost` is called for projects and networks whose
 * transaction was replaced or dropped, so that its replacement is found. Throws `ChainUnavailableError` after the
 * others were followed.
 */
export async function followSweeps(
  app: App,
  chains: SweepChains,
  options: {
    readonly limit: number;
    readonly projectId?: string;
    readonly onLost?: (projectId: string, chain: SweepChain) => Promise<void>;
  },
): Promise<number> {
  const now = app.clock();
  const { limit, projectId = null, onLost } = options;
  const due = await claimDueSweeps(app.db, { now, until: now + CLAIM_MS, limit, projectId });
  const faults: unknown[] = [];
  for (const sweep of due) {
    const chain = chains(sweep.network);
    try {
      const ended = chain === null ? await rest(app, sweep, NO_NODE_MS) : await followSweep(app, chain, sweep);
      if (ended === 'lost' && chain !== null) await onLost?.(sweep.projectId, chain);
    } catch (error) {
      faults.push(error);
    }
  }
  if (faults.length > 0) throw faults[0];
  return due.length;
}

async function rest(app: App, sweep: Sweep, ms: number): Promise<null> {
  await inTransaction(app, (trx) => updateSweep(trx, sweep, { checkAt: app.clock() + ms }));
  return null;
}

/**
 * Asks the nodes for the state of one sweep; `lost` if no node has its transaction any more, or if the nodes can tell
 * by now which transaction took its deposits: then a check finds the replacement.
 */
export async function followSweep(app: App, chain: SweepChain, sweep: Sweep): Promise<'lost' | null> {
  const now = app.clock();
  const { transactionHash: hash, state } = sweep;
  if (hash === null && state === 'mined') return (await askAgain(app, chain, sweep)) === 'told' ? 'lost' : null;
  if (hash === null) {
    if (state !== 'asked' && state !== 'sent') return null;
    const since = sweep.sentAt ?? sweep.createdAt;
    const isOver = now - since >= ASKED_MS;
    await changeAs(app, sweep, isOver ? ended('silent') : { checkAt: since + ASKED_MS });
    return isOver ? 'lost' : null;
  }
  const receipt = await chain.caller.receipt(hash);
  if (receipt !== null) return mined(app, chain, sweep, receipt);
  // A node may forget transactions of long ago.
  if (sweep.finalAt !== null) return rest(app, sweep, askAgainAt(sweep, now) - now);
  if (state === 'mined' || state === 'failed') return takenBack(app, chain, sweep);
  const restMs = restOf(chain);
  if (await chain.caller.knows(hash)) {
    // The transaction is lost once no node has had it for a while, however long it waits.
    await changeAs(app, sweep, { ...(state !== 'seen' && { state: 'seen' }), sentAt: now, checkAt: now + restMs });
    return null;
  }
  // A transaction that a node had stays `seen`: `sent` says that no node has ever had this hash.
  const isLost = now - (sweep.sentAt ?? sweep.createdAt) >= (state === 'seen' ? GONE_MS : LOST_MS);
  await changeAs(app, sweep, isLost ? ended('lost') : { checkAt: now + restMs });
  return isLost ? 'lost' : null;
}

const ended = (problem: 'silent' | 'lost') => ({ state: 'ended', problem, checkAt: null }) as const;

function restOf({ network }: SweepChain): number {
  return Math.min(MAX_REST_MS, Math.max(MIN_REST_MS, NETWORK_FACTS[network].blockMs));
}

/** Changes a sweep unless it changed meanwhile. */
async function changeAs(app: App, sweep: Sweep, change: Parameters<typeof updateSweep>[2]): Promise<void> {
  await inTransaction(app, async (trx) => {
    const current = await lockSweep(trx, sweep.projectId, sweep.id);
    if (current?.state !== sweep.state || current.transactionHash !== sweep.transactionHash) return;
    await updateSweep(trx, sweep, change);
  });
}

/** Handles the replacement of a sweep's block: the transaction waits again, and its deposits are back. */
async function takenBack(app: App, chain: SweepChain, sweep: Sweep): Promise<null> {
  await inTransaction(app, async (trx) => {
    if (!(await lockFollowed(trx, sweep))) return;
    const transfers = (await transfersOfSweeps(trx, [sweep.id])).get(sweep.id) ?? [];
    const unknown = { height: null, blockHash: null, minedAt: null, gasUsed: null, feeUnits: null, feeUsdCents: null };
    await updateSweep(trx, sweep, {
      ...unknown,
      state: 'seen',
      problem: null,
      finalAt: null,
      // The time counts from now until a node has the transaction again: it may have been in that block only.
      sentAt: app.clock(),
      checkAt: app.clock() + restOf(chain),
    });
    for (const transfer of transfers) {
      const { transactionHash } = sweep;
      const change = { state: 'open', transactionHash, height: null, minedAt: null, usdCents: null } as const;
      await updateSweepTransfer(trx, transfer, { ...change, units: transfer.units });
      if (transfer.state !== 'mined' || sweep.height === null) continue;
      const { address, token, units } = transfer;
      const place = { network: sweep.network, address, token, height: sweep.height, at: app.clock() };
      await setDepositBalance(trx, { ...place, units });
    }
  });
  return null;
}

/**
 * Locks a sweep, and its project against checks of deposits, which compare all sweeps; false if the sweep has another
 * transaction meanwhile.
 */
async function lockFollowed(trx: Trx, { id, projectId, transactionHash }: Sweep): Promise<boolean> {
  await lockSweeps(trx, projectId);
  return (await lockSweep(trx, projectId, id))?.transactionHash === transactionHash;
}

async function mined(app: App, chain: SweepChain, sweep: Sweep, receipt: EvmReceipt): Promise<'lost' | null> {
  const { network } = chain;
  const isKnown = sweep.blockHash === receipt.blockHash && (sweep.state === 'mined' || sweep.state === 'failed');
  const { confirmations = 1 } = NETWORK_FACTS[network].confirmations.at(-1) ?? {};
  const isFinal = (await chain.caller.head()) - receipt.height + 1 >= confirmations;
  const following = isFinal
    ? { finalAt: app.clock(), checkAt: null }
    : { finalAt: null, checkAt: app.clock() + restOf(chain) };
  if (isKnown) {
    const { sender, gasUsed, feeUnits } = receipt;
    const asset = nativeAsset(network);
    // The node did not show the receipt when the sweep was recorded.
    const fee = {
      sender,
      gasUsed,
      feeUnits,
      feeUsdCents: worthAt(app, chain, { asset, units: feeUnits, at: sweep.minedAt }),
    };
    const isUnknown = sweep.state === 'mined' && sweep.feeUnits === null;
    await changeAs(app, sweep, { ...(isUnknown && fee), ...following });
    return null;
  }
  const caller = rememberingBlocks(chain.caller);
  const block = await caller.block(receipt.height);
  // The block was replaced between the two answers: the next round reads the new one.
  if (block?.hash !== receipt.blockHash) return null;
  const factory = sweep.callData === null ? null : deployedBy(sweep.callData);
  const isCall = isCallOf(sweep, block.transactions.find((one) => one.hash === sweep.transactionHash) ?? null);
  // A wallet may have wrapped the call; the factory's code exists in that case.
  if (receipt.succeeded && factory !== null && !isCall && !(await caller.hasCode(factory))) {
    await changeAs(app, sweep, ended('lost'));
    return 'lost';
  }
  const transfers = (await transfersOfSweeps(app.db, [sweep.id])).get(sweep.id) ?? [];
  const takings: Taking[] = [];
  for (const transfer of transfers) {
    const taken = receipt.succeeded ? await takenFrom(app, { ...chain, caller }, sweep, transfer, receipt) : NOTHING;
    takings.push({ transfer, ...taken });
  }
  await inTransaction(app, async (trx) => {
    if (!(await lockFollowed(trx, sweep))) return;
    await saveMined(app, trx, chain, { sweep, receipt, at: block.at, isCall, takings, following });
    if (receipt.succeeded && factory !== null) await addFactory(trx, sweep, factory);
  });
  return null;
}

interface Mined {
  readonly sweep: Sweep;
  readonly receipt: EvmReceipt;
  /** The time of its block. */
  readonly at: number;
  /** Whether it is exactly the call to be sent, rather than a call that wraps it or another one. */
  readonly isCall: boolean;
  readonly takings: readonly Taking[];
  readonly following: Pick<Sweep, 'finalAt' | 'checkAt'>;
}

async function saveMined(
  app: App,
  trx: Trx,
  chain: SweepChain,
  { sweep, receipt, at, isCall, takings, following }: Mined,
): Promise<void> {
  const { network } = chain;
  const { succeeded, height } = receipt;
  const paid = sweep.purpose === 'deploy_factory' || takings.some(({ units }) => units > 0n);
  // If it neither moved our deposits nor is our call, the gas was paid by somebody else: do not book it.
  const { gasUsed, feeUnits } = paid || isCall ? receipt : { gasUsed: null, feeUnits: null };
  const coin = nativeAsset(network);
  await updateSweep(trx, sweep, {
    state: succeeded && paid ? 'mined' : 'failed',
    problem: succeeded ? (paid ? null : 'paid_nothing') : 'reverted',
    sender: receipt.sender,
    height,
    blockHash: receipt.blockHash,
    minedAt: at,
    gasUsed,
    feeUnits,
    feeUsdCents: feeUnits === null ? null : worthAt(app, chain, { asset: coin, units: feeUnits, at }),
    ...following,
  });
  for (const { transfer, units, left } of takings) {
    const { asset, address, token } = transfer;
    if (units > 0n) await deleteUnlocated(trx, sweep, { address, token, units, height });
    await updateSweepTransfer(trx, transfer, {
      state: units > 0n ? 'mined' : 'failed',
      units: units > 0n ? units : transfer.units,
      usdCents: units > 0n ? worthAt(app, chain, { asset, units, at }) : null,
      transactionHash: sweep.transactionHash,
      height,
      minedAt: at,
    });
    if (left === null) continue;
    await setDepositBalance(trx, { network, address, token, units: left, height, at: app.clock() });
  }
}

interface Taking {
  readonly transfer: SweepTransfer;
  /** The units that left the deposit. */
  readonly units: bigint;
  /** The balance after the block; null if unknown. */
  readonly left: bigint | null;
}

const NOTHING = { units: 0n, left: null } as const;

/**
 * The units that a transaction took from a deposit: of a token by its logs; of the chain's own coin, whose transfers
 * leave no log, by the balances before and after the block and the arrivals in it, unless another call of the block
 * took them. If the node no longer has the balance before the block, it can still tell whether the deposit is empty
 * now; then the whole planned amount has left.
 */
async function takenFrom(
  app: App,
  { caller, network }: SweepChain,
  { treasury, transactionHash }: Sweep,
  { address, index, token, asset, units: planned }: SweepTransfer,
  { moves, height }: EvmReceipt,
): Promise<Omit<Taking, 'transfer'>> {
  const left = await caller.balanceAt(address, token, height);
  const logged = moves
    .filter((move) => move.token === token && move.from === address)
    .reduce((sum, { units }) => sum + units, 0n);
  if (logged > 0n) return { units: logged, left };
  const takers = treasury === null ? [] : await takersOf(caller, { address, index, treasury, token }, height);
  if (takers.length > 0) {
    const own = takers.find(({ hash }) => hash === transactionHash);
    if (own === undefined) return { units: 0n, left };
    if (own.units !== null) return { units: own.units, left };
  }
  const before = await caller.balanceAt(address, token, height - 1);
  if (before === null || left === null) {
    const now = (await caller.holdings([address], token === null ? [] : [token]))[0]?.at(-1)?.units;
    return { units: now === 0n ? planned : 0n, left: null };
  }
  const arrived = asset === null ? 0n : await arrivalsInBlock(app.db, { network, address, asset, height });
  const units = before + arrived - left;
  return { units: units > 0n ? units : 0n, left };
}
