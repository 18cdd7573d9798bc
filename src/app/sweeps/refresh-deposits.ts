import type { Problems } from '../../domain/problems.ts';
import { ChainUnavailableError } from '../../rails/chain.ts';
import { depositChecks, saveDepositProblem, type DepositCheck } from '../../store/sweeps/deposit-balances.ts';
import { holdLease, releaseLease } from '../../store/leases.ts';
import { hurrySweeps } from '../../store/sweeps/sweeps.ts';
import { newId, type App } from '../context.ts';
import { within } from '../within.ts';
import type { SweepChain, SweepChains } from './chain.ts';
import { checkDeposits } from './check-deposits.ts';
import { followSweeps } from './follow-sweeps.ts';
import { treasuryNetworks } from './overview.ts';

/**
 * How long nodes may take to tell the state of sweeps, and then each network's nodes the balances of deposits: together
 * less than the minute after which proxies give up.
 */
const SWEEPS_MS = 10_000;
const DEPOSITS_MS = 45_000;
/** One process reads a project's balances at a time; if it dies, others wait for this long. */
const LEASE_MS = 75_000;
/** Balances that were read this recently are not read again. */
const MIN_AGE_MS = 1_000;
const MAX_SWEEPS = 200;

/**
 * Reads the balances of a project's deposits from the nodes, on all its networks at once, and the state of its sweeps.
 * `busy`: another request is reading them. A network whose nodes do not answer keeps its last balances, and the reason
 * is saved.
 */
export async function refreshDeposits(
  app: App,
  chains: SweepChains,
  problems: Problems,
  projectId: string,
): Promise<'done' | 'busy'> {
  const lease = `deposits ${projectId}`;
  const holder = newId(app, app.clock());
  if (!(await holdLease(app.db, lease, holder, app.clock(), app.clock() + LEASE_MS))) return 'busy';
  try {
    await hurrySweeps(app.db, projectId, app.clock());
    await within(SWEEPS_MS, followSweeps(app, chains, { limit: MAX_SWEEPS, projectId })).catch((error: unknown) =>
      problems.happened('following sweeps', error),
    );
    // A check in the future was dated by a clock that was ahead.
    const isFresh = ({ checkedAt }: DepositCheck): boolean =>
      checkedAt !== null && Math.abs(app.clock() - checkedAt) < MIN_AGE_MS;
    const fresh = new Set((await depositChecks(app.db, projectId)).filter(isFresh).map(({ network }) => network));
    const networks = (await treasuryNetworks(app.db, projectId)).filter((network) => !fresh.has(network));
    await Promise.all(networks.map((network) => checkOne(app, chains(network), problems, { projectId, network })));
    return 'done';
  } finally {
    await releaseLease(app.db, lease, holder);
  }
}

async function checkOne(
  app: App,
  chain: SweepChain | null,
  problems: Problems,
  { projectId, network }: { readonly projectId: string; readonly network: SweepChain['network'] },
): Promise<void> {
  const failed = (problem: string) => saveDepositProblem(app.db, { projectId, network, at: app.clock(), problem });
  if (chain === null) return failed('no_node');
  try {
    await within(DEPOSITS_MS, checkDeposits(app, chain, projectId));
  } catch (error) {
    if (!(error instanceof ChainUnavailableError)) problems.happened('reading the balances of deposits', error);
    await failed('unavailable');
  }
}
