import { tokenOf } from '../../domain/asset.ts';
import type { AssetCode } from '../../domain/asset-code.ts';
import { pow10 } from '../../domain/money.ts';
import { nativeAsset, type Network } from '../../domain/networks.ts';
import type { EvmCaller } from '../../rails/evm/caller.ts';
import { factoryOf, type DepositFactoryFacts } from '../../rails/evm/deposit.ts';
import type { TokenContracts } from '../../rails/evm/tokens.ts';
import { planSweep, type SweepCall } from '../../rails/evm/sweep.ts';
import type { RateSource } from '../../rates/source.ts';
import { findProject } from '../../store/projects/projects.ts';
import { paidDeposits, type PaidDeposit } from '../../store/wallets/issued-addresses.ts';
import type { App } from '../context.ts';
import { noProject, type Rejected } from '../rejected.ts';

/** A balance of a deposit contract. */
export interface DepositHolding {
  readonly address: string;
  readonly index: number;
  readonly treasury: string;
  /** Null: the chain's own coin, on a network where Cointill does not accept it. */
  readonly asset: AssetCode | null;
  readonly units: bigint;
  /** The value at the payment's last quoted price, else at the market price; null if there is neither. */
  readonly usdCents: bigint | null;
  readonly pricedBy: 'quote' | 'market' | null;
}

export interface SweepOverview {
  readonly kind: 'done';
  /** All balances, including those not worth a sweep. */
  readonly holdings: readonly DepositHolding[];
  /** Calls to send in this order, from any wallet. */
  readonly calls: readonly SweepCall[];
  readonly gasEstimate: bigint;
  /** The current gas price in wei. */
  readonly gasPrice: bigint;
}

/**
 * The current balances of a project's deposit contracts, and the calls that pay out to the treasury those worth at
 * least the project's minimum. A balance without a price counts as enough. `prices` is asked only for assets that a
 * deposit was never quoted in. Throws `ChainUnavailableError` when no node answers.
 */
export async function sweepOverview(
  app: App,
  request: { readonly projectId: string; readonly network: Network; readonly tokens: TokenContracts },
  caller: EvmCaller,
  prices: () => Promise<RateSource>,
): Promise<SweepOverview | Rejected> {
  const { projectId, network } = request;
  const project = await findProject(app.db, projectId);
  if (project === null) return noProject(projectId);
  const deposits = await paidDeposits(app.db, projectId, network);
  const filled = await filledDeposits(deposits, request, caller, prices);
  const worthIt = filled.filter((one) => isWorthIt(one, project.sweepMinUsdCents));
  const calls = planCalls(worthIt, await deployedFactories(worthIt, caller));
  const holding = new Set(filled.map(({ address }) => address));
  app.observer?.({
    kind: 'sweep_planned',
    projectId,
    network,
    deposits: new Set(worthIt.map(({ address }) => address)).size,
    calls: calls.length,
    swept: deposits.length - holding.size,
  });
  return {
    kind: 'done',
    holdings: filled.map(({ paymentId: _payment, token: _token, ...holding }) => holding),
    calls,
    gasEstimate: calls.reduce((sum, { gasEstimate }) => sum + gasEstimate, 0n),
    gasPrice: await caller.gasPrice(),
  };
}

/** The values needed to name and price balances on deposits. */
interface DepositsRequest {
  readonly network: Network;
  readonly tokens: TokenContracts;
  /** The block after which balances are read; by default the newest. */
  readonly height?: number;
}

/** A non-zero balance of a deposit contract, with its payment. */
export interface FilledHolding extends DepositHolding {
  readonly paymentId: string;
  /** The configured contract of the token; null for the chain's own coin. */
  readonly token: string | null;
}

/** The non-zero balances of these deposits, priced as {@link sweepOverview} says. */
export async function filledDeposits(
  deposits: readonly PaidDeposit[],
  { network, tokens, height }: DepositsRequest,
  caller: Pick<EvmCaller, 'holdings'>,
  prices: () => Promise<RateSource>,
): Promise<readonly FilledHolding[]> {
  const contracts = [...tokens.values()].map(({ contract }) => contract);
  const held = await caller.holdings(
    deposits.map(({ address }) => address),
    contracts,
    height,
  );
  const assets = new Map<string | null, AssetCode | null>([
    [null, nativeAsset(network)],
    ...[...tokens].map(([asset, { contract }]) => [contract, asset] as const),
  ]);
  const present = deposits.flatMap((deposit, at) =>
    (held[at] ?? [])
      .filter(({ units }) => units > 0n)
      .map(({ token, units }) => {
        const asset = assets.get(token) ?? null;
        const { address, index, treasury, paymentId } = deposit;
        const quoted = quotedWorth(deposit, asset, units);
        return { holding: { address, index, treasury, paymentId, token, asset, units }, quoted };
      }),
  );
  const isUnquoted = present.some(({ holding, quoted }) => holding.asset !== null && quoted === null);
  const market = isUnquoted ? await prices() : null;
  return present.map(({ holding, quoted }) => {
    const { asset, units } = holding;
    if (quoted !== null) return { ...holding, usdCents: quoted, pricedBy: 'quote' as const };
    const price = asset === null ? null : (market?.usdPrice(asset) ?? null);
    if (asset === null || price === null) return { ...holding, usdCents: null, pricedBy: null };
    const usdCents = (units * price * 100n) / pow10(decimalsOf(asset, network, tokens) + 8);
    return { ...holding, usdCents, pricedBy: 'market' as const };
  });
}

/** An asset's decimals on a network: the operator's own contract may have others than the usual. */
export function decimalsOf(asset: AssetCode, network: Network, tokens: TokenContracts): number {
  return tokens.get(asset)?.decimals ?? tokenOf(asset, network)?.decimals ?? 0;
}

/** Whether a balance is worth a sweep; one without a price counts as enough. */
export function isWorthIt({ usdCents }: Pick<DepositHolding, 'usdCents'>, sweepMinUsdCents: bigint): boolean {
  return usdCents === null || usdCents >= sweepMinUsdCents;
}

function quotedWorth(deposit: PaidDeposit, asset: AssetCode | null, units: bigint): bigint | null {
  const quote = deposit.quotes.find((each) => each.asset === asset);
  return quote === undefined || quote.owedUnits === 0n ? null : (units * deposit.amountUsdCents) / quote.owedUnits;
}

/** The fields of a balance that a plan needs. */
export type PlannedHolding = Pick<FilledHolding, 'address' | 'index' | 'treasury' | 'token' | 'units'>;

/** The factories of these deposits that are deployed on the chain. */
export async function deployedFactories(
  filled: readonly PlannedHolding[],
  caller: Pick<EvmCaller, 'hasCode'>,
): Promise<ReadonlySet<string>> {
  const factories = new Set(filled.map((holding) => factoryFor(holding).address));
  const deployed = new Set<string>();
  for (const address of factories) if (await caller.hasCode(address)) deployed.add(address);
  return deployed;
}

/** One plan per treasury and factory, because a call goes to one factory and pays one treasury. */
export function planCalls(filled: readonly PlannedHolding[], deployed: ReadonlySet<string>): readonly PlannedCall[] {
  const calls: PlannedCall[] = [];
  for (const [factory, itsDeposits] of Map.groupBy(filled, factoryFor)) {
    let factoryDeployed = deployed.has(factory.address);
    for (const [treasury, own] of Map.groupBy(itsDeposits, (holding) => holding.treasury)) {
      const deposits = [...Map.groupBy(own, ({ index }) => index)].map(([index, holdings]) => ({
        index,
        address: holdings[0]?.address ?? '',
        balances: holdings.map(({ token, units }) => ({ token, units })),
      }));
      const plan = planSweep({ treasury, deposits, factory, factoryDeployed });
      calls.push(...plan.calls.map((call) => ({ ...call, treasury, factory: factory.address })));
      factoryDeployed = true;
    }
  }
  return calls;
}

/** A call of a plan, with the deposits that it empties and their factory. */
export interface PlannedCall extends SweepCall {
  readonly treasury: string;
  readonly factory: string;
}

function factoryFor({ treasury, index, address }: PlannedHolding): DepositFactoryFacts {
  const factory = factoryOf(treasury, index, address);
  if (factory === null) throw new Error(`${address} belongs to no known deposit factory.`);
  return factory;
}
