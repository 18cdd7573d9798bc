import { tokenOf, type AssetCode } from '../../domain/asset.ts';
import { pow10 } from '../../domain/money.ts';
import { nativeAsset, type Network } from '../../domain/networks.ts';
import type { EvmCaller } from '../../rails/evm/caller.ts';
import { factoryOf } from '../../rails/evm/deposit.ts';
import type { TokenContracts } from '../../rails/evm/tokens.ts';
import { planSweep, type SweepCall } from '../../rails/evm/sweep.ts';
import type { RateSource } from '../../rates/source.ts';
import { findProject } from '../../store/projects.ts';
import { paidDeposits, type PaidDeposit } from '../../store/issued-addresses.ts';
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
  /** At the price its payment was last quoted at, else at the market price; null if there is neither. */
  readonly usdCents: bigint | null;
  readonly pricedBy: 'quote' | 'market' | null;
}

export interface SweepOverview {
  readonly kind: 'done';
  /** All balances, including those not worth a sweep. */
  readonly holdings: readonly DepositHolding[];
  /** To be sent in this order, from any wallet. */
  readonly calls: readonly SweepCall[];
  readonly gasEstimate: bigint;
  /** The current gas price in wei. */
  readonly gasPrice: bigint;
}

/**
 * The current balances of a project's deposit contracts, and the calls that pay them out to the treasury: of deposits
 * worth at least the project's minimum. A balance without a price counts as enough. `prices` is asked only where a
 * deposit holds an asset it was never quoted in. Throws `ChainUnavailableError` when no node answers.
 */
export async function sweepOverview(
  app: App,
  request: { readonly projectId: string; readonly network: Network; readonly tokens: TokenContracts },
  caller: EvmCaller,
  prices: () => Promise<RateSource>,
): Promise<SweepOverview | Rejected> {
  const { projectId, network, tokens } = request;
  const project = await findProject(app.db, projectId);
  if (project === null) return noProject(projectId);
  const deposits = await paidDeposits(app.db, projectId, network);
  const contracts = [...tokens.values()].map(({ contract }) => contract);
  const held = await caller.holdings(
    deposits.map(({ address }) => address),
    contracts,
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
        return { deposit, token, asset, units, quoted: quotedWorth(deposit, asset, units) };
      }),
  );
  const isUnquoted = present.some(({ asset, quoted }) => asset !== null && quoted === null);
  const market = isUnquoted ? await prices() : null;
  const filled = present.map(({ quoted, ...holding }) => {
    const { asset, units } = holding;
    if (quoted !== null) return { ...holding, usdCents: quoted, pricedBy: 'quote' as const };
    const price = asset === null ? null : (market?.usdPrice(asset) ?? null);
    if (asset === null || price === null) return { ...holding, usdCents: null, pricedBy: null };
    const decimals = tokens.get(asset)?.decimals ?? tokenOf(asset, network)?.decimals ?? 0;
    return { ...holding, usdCents: (units * price * 100n) / pow10(decimals + 8), pricedBy: 'market' as const };
  });
  const worthIt = filled.filter(({ usdCents }) => usdCents === null || usdCents >= project.sweepMinUsdCents);
  const calls = await planFor(worthIt, caller);
  const holding = new Set(present.map(({ deposit }) => deposit.address));
  app.observer?.({
    kind: 'sweep_planned',
    projectId,
    network,
    deposits: new Set(worthIt.map(({ deposit }) => deposit.address)).size,
    calls: calls.length,
    swept: deposits.length - holding.size,
  });
  return {
    kind: 'done',
    holdings: filled.map(({ deposit: { address, index, treasury }, asset, units, usdCents, pricedBy }) => ({
      address,
      index,
      treasury,
      asset,
      units,
      usdCents,
      pricedBy,
    })),
    calls,
    gasEstimate: calls.reduce((sum, { gasEstimate }) => sum + gasEstimate, 0n),
    gasPrice: await caller.gasPrice(),
  };
}

function quotedWorth(deposit: PaidDeposit, asset: AssetCode | null, units: bigint): bigint | null {
  const quote = deposit.quotes.find((each) => each.asset === asset);
  return quote === undefined || quote.owedUnits === 0n ? null : (units * deposit.amountUsdCents) / quote.owedUnits;
}

interface Filled {
  readonly deposit: PaidDeposit;
  readonly token: string | null;
  readonly units: bigint;
}

/** One plan per treasury and factory, because a call goes to one factory and pays one treasury. */
async function planFor(filled: readonly Filled[], caller: EvmCaller): Promise<readonly SweepCall[]> {
  const factories = Map.groupBy(filled, ({ deposit: { treasury, index, address } }) => {
    const factory = factoryOf(treasury, index, address);
    if (factory === null) throw new Error(`${address} is of no known deposit factory.`);
    return factory;
  });
  const calls: SweepCall[] = [];
  for (const [factory, itsDeposits] of factories) {
    let factoryDeployed = await caller.hasCode(factory.address);
    for (const [treasury, own] of Map.groupBy(itsDeposits, ({ deposit }) => deposit.treasury)) {
      const deposits = [...Map.groupBy(own, ({ deposit }) => deposit.index)].map(([index, holdings]) => ({
        index,
        address: holdings[0]?.deposit.address ?? '',
        balances: holdings.map(({ token, units }) => ({ token, units })),
      }));
      calls.push(...planSweep({ treasury, deposits, factory, factoryDeployed }).calls);
      factoryDeployed = true;
    }
  }
  return calls;
}
