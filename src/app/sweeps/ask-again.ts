import type { AssetCode } from '../../domain/asset-code.ts';
import { depositFlows, type DepositFlow } from '../../store/sweeps/deposit-balances.ts';
import { paidDeposits } from '../../store/wallets/issued-addresses.ts';
import { deleteSweepTransfers, transfersOfSweeps } from '../../store/sweeps/sweep-transfers.ts';
import { deleteSweep, lockSweep, lockSweeps, updateSweep, type Sweep } from '../../store/sweeps/sweeps.ts';
import type { App } from '../context.ts';
import { inTransaction } from '../in-transaction.ts';
import type { SweepChain } from './chain.ts';
import { findOutside } from './find-outside.ts';

const MIN_REST_MS = 60_000;
const MAX_REST_MS = 6 * 60 * 60_000;

/**
 * When to ask again for a sweep's missing facts: after as long as the sweep has been known, between a minute and six
 * hours.
 */
export function askAgainAt({ finalAt, createdAt }: Pick<Sweep, 'finalAt' | 'createdAt'>, now: number): number {
  return now + Math.min(MAX_REST_MS, Math.max(MIN_REST_MS, now - (finalAt ?? createdAt)));
}

/**
 * Asks again for the block and the transaction of a sweep that was recorded without them. `told` if the nodes name them
 * now: then the sweep is deleted, and the next check finds it anew. Throws `ChainUnavailableError` if no node answers.
 */
export async function askAgain(app: App, chain: SweepChain, sweep: Sweep): Promise<'told' | 'unknown'> {
  const { projectId, network } = sweep;
  const { caller } = chain;
  const transfers = (await transfersOfSweeps(app.db, [sweep.id])).get(sweep.id) ?? [];
  const deposits = await paidDeposits(app.db, projectId, network);
  const height = await caller.head();
  const held = new Map<string, bigint | null>();
  for (const { address, token, asset } of transfers) {
    held.set(`${address} ${asset}`, await caller.balanceAt(address, token, height));
  }
  const flows = (await depositFlows(app.db, projectId, network)).flatMap((flow) => {
    const own = transfers.find(({ address, asset }) => address === flow.address && asset === flow.asset);
    const isHeld = typeof held.get(`${flow.address} ${flow.asset}`) === 'bigint';
    return own === undefined || !isHeld ? [] : [without(flow, { height: sweep.height ?? 0, units: -own.units })];
  });
  const takings = await findOutside(
    chain,
    height,
    deposits,
    flows,
    (address, asset) => held.get(`${address} ${asset}`) ?? 0n,
  );
  const unitsOf = (address: string, asset: AssetCode | null): bigint =>
    takings
      .filter((one) => one.deposit.address === address && one.asset === asset)
      .filter((one) => one.height !== null && (one.transactionHash !== null || sweep.height === null))
      .reduce((sum, { units }) => sum + units, 0n);
  const isTold =
    transfers.length > 0 && transfers.every(({ address, asset, units }) => unitsOf(address, asset) >= units);
  return inTransaction(app, async (trx) => {
    await lockSweeps(trx, projectId);
    const current = await lockSweep(trx, projectId, sweep.id);
    if (current?.state !== 'mined' || current.transactionHash !== null) return 'unknown';
    if (!isTold) {
      await updateSweep(trx, sweep, { checkAt: askAgainAt(sweep, app.clock()) });
      return 'unknown';
    }
    await deleteSweepTransfers(trx, sweep);
    await deleteSweep(trx, sweep);
    return 'told';
  });
}

/** The flow without this step. */
function without(flow: DepositFlow, step: DepositFlow['steps'][number]): DepositFlow {
  const place = flow.steps.findIndex(({ height, units }) => height === step.height && units === step.units);
  return { ...flow, steps: flow.steps.filter((_, at) => at !== place) };
}
