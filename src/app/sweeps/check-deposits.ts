import type { EvmReceipt } from '../../rails/evm/reader.ts';
import { depositFlows, saveDepositCheck, type DepositBalance, type DepositFlow } from '../../store/deposit-balances.ts';
import { paidDeposits } from '../../store/issued-addresses.ts';
import { deleteSweepTransfers, insertSweepTransfers, type NewTransfer } from '../../store/sweep-transfers.ts';
import {
  insertSweep,
  lockSweep,
  lockSweeps,
  notifySweeps,
  openSweeps,
  sweepByTransaction,
  updateSweep,
  type Sweep,
} from '../../store/sweeps.ts';
import type { Trx } from '../../store/database.ts';
import { newId, type App } from '../context.ts';
import { inTransaction } from '../in-transaction.ts';
import { deployedFactories, filledDeposits } from '../projects/sweep.ts';
import { isKnownBy, worthAt, type SweepChain } from './chain.ts';
import { findOutside, type OutsideTaking } from './find-outside.ts';
import { followSweep } from './follow-sweeps.ts';
import { withTransfers, type SweepWithTransfers } from './overview.ts';

/**
 * Asks a node what lies on a project's deposits on a network, and what gas costs, and keeps it. What left a deposit
 * since and was not sent here is recorded as a sweep of its own. Throws `ChainUnavailableError` when no node answers.
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
  const sweeps = await Promise.all(
    [...Map.groupBy(taken, ({ height: at, transactionHash }) => `${at} ${transactionHash}`).values()].map((takings) =>
      located(app, chain, projectId, takings),
    ),
  );
  const gasPrice = await caller.gasPrice();
  const factories = [...(await deployedFactories(filled, caller))];
  const at = app.clock();
  const unknown = sweeps.length === 0 ? [] : await unknownSweeps(app, chain, projectId);
  const recognized = await inTransaction(app, async (trx) => {
    await lockSweeps(trx, projectId);
    // Another check may have found the same meanwhile, or a sweep been mined: then the next check compares again.
    const isSame = sameFlows(flows, await depositFlows(trx, projectId, network));
    await saveDepositCheck(trx, { projectId, network, at, height, gasPrice, factories, balances });
    const followed: Sweep[] = [];
    for (const found of isSame ? sweeps : []) {
      const known = await saveOutside(app, trx, chain, found, unknown);
      if (known !== null) followed.push(known);
    }
    await notifySweeps(trx, projectId);
    return followed;
  });
  for (const sweep of recognized) await followSweep(app, chain, sweep);
}

/** Those that are said to be sent, of whose transaction no node has ever known, nor does now. */
async function unknownSweeps(app: App, chain: SweepChain, projectId: string): Promise<readonly SweepWithTransfers[]> {
  const sent = (await openSweeps(app.db, projectId)).filter(
    ({ network, state }) => network === chain.network && state === 'sent',
  );
  const unknown: Sweep[] = [];
  for (const sweep of sent) {
    const { transactionHash: hash } = sweep;
    if (hash === null || !(await isKnownBy(chain, hash))) unknown.push(sweep);
  }
  return withTransfers(app.db, unknown);
}

function sameFlows(some: readonly DepositFlow[], others: readonly DepositFlow[]): boolean {
  const text = (flows: readonly DepositFlow[]) =>
    flows.map(({ address, asset, steps }) => [address, asset, ...steps.map((step) => step.units)].join()).join(';');
  return text(some) === text(others);
}

interface Located {
  readonly sweep: Sweep;
  readonly takings: readonly OutsideTaking[];
}

/** The sweep that took these, as far as the chain tells. */
async function located(
  app: App,
  { network, caller }: SweepChain,
  projectId: string,
  takings: readonly OutsideTaking[],
): Promise<Located> {
  const [first] = takings;
  const height = first?.height ?? null;
  const hash = first?.transactionHash ?? null;
  const block = height === null ? null : await caller.block(height);
  const receipt: EvmReceipt | null = hash === null ? null : await caller.receipt(hash);
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
    // Its block may still be replaced.
    checkAt: hash === null ? null : now,
  };
  return { sweep, takings };
}

/**
 * Records what took these. A sweep that was sent here is returned, to be followed: its receipt says what it took. One
 * whose transaction nobody knows (its hash is wrong, or it was replaced) goes on with the one that took its deposits.
 */
async function saveOutside(
  app: App,
  trx: Trx,
  chain: SweepChain,
  { sweep, takings }: Located,
  unknown: readonly SweepWithTransfers[],
): Promise<Sweep | null> {
  const { projectId, network, transactionHash, minedAt } = sweep;
  const known =
    transactionHash === null ? null : await sweepByTransaction(trx, { projectId, network, transactionHash });
  const now = app.clock();
  const seen = { state: 'seen', transactionHash, problem: null, sentAt: now, checkAt: now } as const;
  if (known !== null && known.state !== 'mined') {
    // Sent here and given up, or still followed.
    await updateSweep(trx, known, seen);
    return { ...known, ...seen };
  }
  const replaced = known !== null || transactionHash === null ? null : await stillUnknown(trx, takings, unknown);
  if (replaced !== null) {
    await updateSweep(trx, replaced, { ...seen, sender: sweep.sender });
    await deleteSweepTransfers(trx, replaced);
    await insertSweepTransfers(trx, { ...replaced, ...seen }, takings.map(transferOf('open')));
    return { ...replaced, ...seen, sender: sweep.sender };
  }
  if (known === null) await insertSweep(trx, sweep);
  await insertSweepTransfers(
    trx,
    known ?? sweep,
    takings.map((taking) => ({
      ...transferOf('mined')(taking),
      usdCents: worthAt(app, chain, { asset: taking.asset, units: taking.units, at: minedAt }),
    })),
  );
  return null;
}

/** The first of these sweeps that was to take some of it, unless somebody gave another hash or gave it up meanwhile. */
async function stillUnknown(
  trx: Trx,
  takings: readonly OutsideTaking[],
  unknown: readonly SweepWithTransfers[],
): Promise<Sweep | null> {
  const taken = new Set(takings.map(({ deposit, token }) => `${deposit.address} ${token}`));
  for (const { sweep, transfers } of unknown) {
    if (!transfers.some(({ address, token }) => taken.has(`${address} ${token}`))) continue;
    const current = await lockSweep(trx, sweep.projectId, sweep.id);
    if (current?.state === 'sent' && current.transactionHash === sweep.transactionHash) return current;
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
