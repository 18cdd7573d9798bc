import { createHash } from 'node:crypto';
import { EVM_NETWORKS, isEvmNetwork, type EvmNetwork } from '../../domain/networks.ts';
import type { Database, Trx } from '../../store/database.ts';
import {
  depositBalances,
  depositChecks,
  type DepositBalance,
  type DepositCheck,
} from '../../store/sweeps/deposit-balances.ts';
import { COIN } from '../../store/schema/sweeps.ts';
import { transfersOfSweeps, transfersUnderWay, type SweepTransfer } from '../../store/sweeps/sweep-transfers.ts';
import { openSweeps, type Sweep } from '../../store/sweeps/sweeps.ts';
import { isWorthIt, planCalls, type PlannedCall } from '../projects/sweep.ts';

/** A call that may be sent now, with the balances that it takes. */
export interface OfferedCall {
  /** Identifies the call by all that it does, so that a page sends exactly the call that it showed. */
  readonly key: string;
  readonly call: PlannedCall;
  /** Whether its factory is deployed: otherwise the call would cost gas and do nothing. */
  readonly isReady: boolean;
  readonly takes: readonly DepositBalance[];
}

/** The last known state of a project's deposits on a network. */
export interface NetworkDeposits {
  readonly network: EvmNetwork;
  /** Null: the balances were never read. */
  readonly check: DepositCheck | null;
  /** The balances that no sweep under way takes. */
  readonly balances: readonly DepositBalance[];
  readonly underWay: readonly DepositBalance[];
  readonly calls: readonly OfferedCall[];
}

/** The networks where a project has deposits or a wallet, in the order of the registry, with the plan of each. */
export async function depositsOverview(
  db: Database | Trx,
  projectId: string,
  sweepMinUsdCents: bigint,
): Promise<readonly NetworkDeposits[]> {
  const [checks, balances, underWay] = await Promise.all([
    depositChecks(db, projectId),
    depositBalances(db, projectId),
    transfersUnderWay(db, projectId),
  ]);
  const open = await openSweeps(db, projectId);
  const networks = new Set<string>([
    ...checks.map(({ network }) => network),
    ...(await treasuryNetworks(db, projectId)),
  ]);
  return EVM_NETWORKS.filter((network) => networks.has(network)).map((network) => {
    const check = checks.find((one) => one.network === network) ?? null;
    const own = balances.filter((balance) => balance.network === network);
    const isUnderWay = ({ address, token }: DepositBalance) => underWay.has(`${network} ${address} ${token ?? COIN}`);
    const free = own.filter((balance) => !isUnderWay(balance));
    const worthIt = free.filter((balance) => isWorthIt(balance, sweepMinUsdCents));
    const isAsked = ({ to, data }: PlannedCall) =>
      open.some((one) => one.network === network && one.callTo === to && one.callData === data);
    // A factory whose deployment is under way needs no second deployment.
    const calls = offeredCalls(worthIt, new Set(check?.factories)).filter(({ call }) => !isAsked(call));
    return { network, check, balances: free, underWay: own.filter(isUnderWay), calls };
  });
}

/** The last known balances of a project's deposits that are worth a sweep and not under way. */
export async function balancesWorthIt(
  db: Database,
  projectId: string,
  sweepMinUsdCents: bigint,
): Promise<Awaited<ReturnType<typeof depositBalances>>> {
  const [balances, underWay] = await Promise.all([depositBalances(db, projectId), transfersUnderWay(db, projectId)]);
  return balances.filter(
    (balance) =>
      isWorthIt(balance, sweepMinUsdCents) &&
      !underWay.has(`${balance.network} ${balance.address} ${balance.token ?? COIN}`),
  );
}

function offeredCalls(worthIt: readonly DepositBalance[], deployed: ReadonlySet<string>): readonly OfferedCall[] {
  return planCalls(worthIt, deployed).map((call) => {
    const taken = new Set(call.indexes);
    const tokens = new Set(call.tokens.map((token) => token?.toLowerCase() ?? null));
    const takes = worthIt.filter(
      ({ treasury, index, token }) => treasury === call.treasury && taken.has(index) && tokens.has(token),
    );
    const isReady = call.purpose === 'deploy_factory' || deployed.has(call.factory);
    return { key: keyOf(call), call, isReady, takes: call.purpose === 'sweep' ? takes : [] };
  });
}

function keyOf({ to, data }: PlannedCall): string {
  return createHash('sha256').update(`${to} ${data}`).digest('base64url').slice(0, 22);
}

/** The EVM networks where a project has, or had, a treasury. */
export async function treasuryNetworks(db: Database | Trx, projectId: string): Promise<readonly EvmNetwork[]> {
  const rows = await db
    .selectFrom('wallets')
    .select('network')
    .distinct()
    .where('project_id', '=', projectId)
    .where('kind', '=', 'treasury')
    .execute();
  return rows.flatMap(({ network }) => (isEvmNetwork(network) ? [network] : []));
}

/** A sweep with the transfers that it makes. */
export interface SweepWithTransfers {
  readonly sweep: Sweep;
  readonly transfers: readonly SweepTransfer[];
}

export async function withTransfers(
  db: Database | Trx,
  sweeps: readonly Sweep[],
): Promise<readonly SweepWithTransfers[]> {
  const transfers = await transfersOfSweeps(
    db,
    sweeps.map(({ id }) => id),
  );
  return sweeps.map((sweep) => ({ sweep, transfers: transfers.get(sweep.id) ?? [] }));
}
