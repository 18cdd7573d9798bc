import type { EvmBlockTransaction, EvmReceipt } from '../../rails/evm/reader.ts';
import { readCursor } from '../../store/chains/chain.ts';
import {
  depositFlows,
  saveDepositCheck,
  type DepositBalance,
  type DepositFlow,
} from '../../store/sweeps/deposit-balances.ts';
import { paidDeposits } from '../../store/wallets/issued-addresses.ts';
import { COIN } from '../../store/schema/sweeps.ts';
import { wake } from '../../store/wake.ts';
import {
  deleteSweepTransfers,
  setSweepTransfers,
  transfersOfSweeps,
  transfersUnderWay,
  type NewTransfer,
} from '../../store/sweeps/sweep-transfers.ts';
import { insertSweep, lockSweep, lockSweeps, openSweeps, updateSweep, type Sweep } from '../../store/sweeps/sweeps.ts';
import type { Trx } from '../../store/database.ts';
import { newId, type App } from '../context.ts';
import { inTransaction } from '../in-transaction.ts';
import { deployedFactories, filledDeposits } from '../projects/sweep.ts';
import { isCallOf, worthAt, type SweepChain } from './chain.ts';
import { findOutside, type OutsideTaking } from './find-outside.ts';
import { followSweep } from './follow-sweeps.ts';
import { withTransfers, type SweepWithTransfers } from './overview.ts';
import { transactionOf } from './send-sweep.ts';

/**
 * Saves a node's balances of a project's deposits on a network and its price of gas. Money that has left a deposit
 * since and was not sent from here is recorded as a sweep of its own. Throws `ChainUnavailableError` when no node
 * answers.
 */
export async function checkDeposits(app: App, chain: SweepChain, projectId: string): Promise<void> {
  const { network, tokens, caller } = chain;
  const deposits = await paidDeposits(app.db, projectId, network);
  const height = await caller.head();
  const flows = await depositFlows(app.db, projectId, network);
  const prices = async () => app.railFor('live').rates;
  const filled = await filledDeposits(deposits, { network, tokens, height }, caller, prices);
  const balances = filled.map((holding): DepositBalance => ({
    ...holding,
    token: holding.token?.toLowerCase() ?? null,
  }));
  const held = new Map(balances.map(({ address, asset, units }) => [`${address} ${asset}`, units]));
  const taken = await findOutside(
    chain,
    height,
    deposits,
    flows,
    (address, asset) => held.get(`${address} ${asset}`) ?? 0n,
  );
  const where = await chainOf(app, chain);
  // The balances belong to other blocks than those that this service has read.
  if (where === 'other') return;
  const placed = Map.groupBy(
    where === 'same' ? taken : [],
    ({ height: at, transactionHash }) => `${at} ${transactionHash}`,
  );
  const locatedSweeps = await Promise.all(
    [...placed.values()].map((takings) => located(app, chain, projectId, takings)),
  );
  const sweeps = locatedSweeps.filter((one) => one !== null);
  const gasPrice = await caller.gasPrice();
  const factories = [...(await deployedFactories(filled, caller))];
  const at = app.clock();
  const unknown = sweeps.length === 0 ? [] : await unknownSweeps(app, chain, projectId);
  const recognized = await inTransaction(app, async (trx) => {
    await lockSweeps(trx, projectId);
    // Another check may have found the same meanwhile, or a sweep may have been mined: then the next check compares
    // again.
    const isSame = sameFlows(flows, await depositFlows(trx, projectId, network));
    await saveDepositCheck(trx, { projectId, network, at, height, gasPrice, factories, balances });
    const followed: Sweep[] = [];
    for (const sweep of isSame ? sweeps : []) {
      const known = await saveOutside(app, trx, chain, sweep, unknown);
      if (known !== null) followed.push(known);
    }
    await wake(trx, ['sweeps', projectId]);
    return followed;
  });
  for (const sweep of recognized) await followSweep(app, chain, sweep);
}

/**
 * Whether the node has the blocks that were read here. With `other` blocks, the recorded arrivals may not have
 * happened; `unknown` means that the node is behind, and the next check compares.
 */
async function chainOf({ db }: App, { network, caller }: SweepChain): Promise<'same' | 'other' | 'unknown'> {
  const cursor = await readCursor(db, network);
  const block = cursor === null ? null : await caller.block(cursor.height);
  if (block === null) return 'unknown';
  return block.hash === cursor?.hash ? 'same' : 'other';
}

/** Open sweeps whose transaction no node has: a wallet was asked, or the hash is wrong or was replaced. */
async function unknownSweeps(app: App, chain: SweepChain, projectId: string): Promise<readonly SweepWithTransfers[]> {
  const open = (await openSweeps(app.db, projectId)).filter(({ network }) => network === chain.network);
  const unknown: Sweep[] = [];
  for (const sweep of open) {
    const { transactionHash: hash } = sweep;
    if (hash === null || !(await chain.caller.knows(hash))) unknown.push(sweep);
  }
  return withTransfers(app.db, unknown);
}

function sameFlows(some: readonly DepositFlow[], others: readonly DepositFlow[]): boolean {
  const text = (flows: readonly DepositFlow[]) =>
    flows
      .map(({ address, asset, steps }) =>
        [address, asset, ...steps.flatMap((step) => [step.height, step.units])].join(),
      )
      .join(';');
  return text(some) === text(others);
}

interface Located {
  readonly sweep: Sweep;
  /** The call that its transaction makes; null if unknown. */
  readonly call: EvmBlockTransaction | null;
  readonly takings: readonly OutsideTaking[];
}

/**
 * The sweep that took these deposits, as far as the chain tells; null if the nodes do not show its block and its
 * receipt now, or show those of two chains: the next check tries again.
 */
async function located(
  app: App,
  { network, caller }: SweepChain,
  projectId: string,
  takings: readonly OutsideTaking[],
): Promise<Located | null> {
  const [first] = takings;
  const height = first?.height ?? null;
  const hash = first?.transactionHash ?? null;
  const block = height === null ? null : await caller.block(height);
  const receipt: EvmReceipt | null = hash === null ? null : await caller.receipt(hash);
  if (height !== null && block === null) return null;
  if (hash !== null && receipt?.blockHash !== block?.hash) return null;
  const now = app.clock();
  const sweep: Sweep = {
    id: newId(app, now),
    projectId,
    network,
    purpose: 'sweep',
    source: 'chain',
    state: 'mined',
    treasury: first?.deposit.treasury ?? null,
    personId: null,
    sender: receipt?.sender ?? null,
    callTo: null,
    callData: null,
    transactionHash: hash,
    problem: null,
    createdAt: block?.at ?? now,
    sentAt: null,
    height,
    blockHash: block?.hash ?? null,
    minedAt: block?.at ?? null,
    gasUsed: receipt?.gasUsed ?? null,
    feeUnits: receipt?.feeUnits ?? null,
    feeUsdCents: null,
    finalAt: hash === null ? now : null,
    // Its block may still be replaced; without a transaction, the nodes may tell more later.
    checkAt: now,
  };
  return { sweep, call: block?.transactions.find((one) => one.hash === hash) ?? null, takings };
}

/**
 * Records which sweep took these deposits. A sweep that was sent here is returned, to be followed: its receipt lists
 * its transfers. A sweep whose transaction no node has (its hash is missing or wrong, or it was replaced) continues
 * with the transaction that took its deposits.
 */
async function saveOutside(
  app: App,
  trx: Trx,
  chain: SweepChain,
  located: Located,
  unknown: readonly SweepWithTransfers[],
): Promise<Sweep | null> {
  const { sweep, takings } = located;
  const { projectId, network, transactionHash } = sweep;
  if (transactionHash === null) {
    const underWay = await transfersUnderWay(trx, projectId);
    // A followed sweep may have taken these deposits; they are compared again once it has ended.
    const left = takings.filter(
      ({ deposit, token }) => !underWay.has(`${network} ${deposit.address} ${token ?? COIN}`),
    );
    if (left.length > 0 && (await insertSweep(trx, sweep))) await saveTakings(app, trx, chain, sweep, left);
    return null;
  }
  const existing = await transactionOf(app, trx, { projectId, network, transactionHash });
  // Its block was replaced.
  if (existing?.state === 'mined' && existing.blockHash !== sweep.blockHash) return existing;
  const now = app.clock();
  const seen = { state: 'seen', transactionHash, problem: null, sentAt: now, checkAt: now } as const;
  if (existing !== null && existing.state !== 'mined') {
    // The sweep was sent here and given up, or is still followed.
    await updateSweep(trx, existing, seen);
    return { ...existing, ...seen };
  }
  const replaced = existing === null ? await stillUnknown(trx, located, unknown) : null;
  if (replaced !== null) {
    await updateSweep(trx, replaced, { ...seen, sender: sweep.sender });
    await deleteSweepTransfers(trx, replaced);
    await setSweepTransfers(trx, { ...replaced, ...seen }, takings.map(transferOf('open')));
    return { ...replaced, ...seen, sender: sweep.sender };
  }
  if (existing === null) await insertSweep(trx, sweep);
  await saveTakings(app, trx, chain, existing ?? sweep, takings);
  return null;
}

/**
 * Saves the transfers of a transaction: the amounts missing in the comparison, plus its recorded ones, which the
 * comparison had deducted.
 */
async function saveTakings(
  app: App,
  trx: Trx,
  chain: SweepChain,
  sweep: Sweep,
  takings: readonly OutsideTaking[],
): Promise<void> {
  const recorded = (await transfersOfSweeps(trx, [sweep.id])).get(sweep.id) ?? [];
  const isMined = recorded.filter(({ state }) => state === 'mined');
  const transfers = takings.map((taking): NewTransfer => {
    const { deposit, token, asset } = taking;
    const before = isMined.find((one) => one.address === deposit.address && one.token === token);
    const units = taking.units + (before?.units ?? 0n);
    const usdCents = worthAt(app, chain, { asset, units, at: sweep.minedAt });
    return { ...transferOf('mined')({ ...taking, units }), usdCents };
  });
  await setSweepTransfers(trx, sweep, transfers);
}

/**
 * The first of these sweeps that is exactly this call, or that was sent to take some of these deposits, unless somebody
 * gave another hash or gave the sweep up meanwhile.
 */
async function stillUnknown(
  trx: Trx,
  { sweep: found, call, takings }: Located,
  unknown: readonly SweepWithTransfers[],
): Promise<Sweep | null> {
  const taken = new Set(takings.map(({ deposit, token }) => `${deposit.address} ${token}`));
  for (const { sweep, transfers } of unknown) {
    const { state, sender, transactionHash } = sweep;
    const isSent = state === 'sent' && transfers.some(({ address, token }) => taken.has(`${address} ${token}`));
    const isSame = isCallOf(sweep, call) && (sender === null || sender === found.sender);
    if (!isSent && !isSame) continue;
    const current = await lockSweep(trx, sweep.projectId, sweep.id);
    if (current?.state === state && current.transactionHash === transactionHash) return current;
  }
  return null;
}

const transferOf =
  (state: 'open' | 'mined') =>
  ({ deposit, token, asset, units }: OutsideTaking): NewTransfer => ({
    address: deposit.address,
    index: deposit.index,
    paymentId: deposit.paymentId,
    token,
    asset,
    state,
    units,
  });
