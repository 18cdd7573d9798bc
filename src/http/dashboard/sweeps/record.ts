import type { App } from '../../../app/context.ts';
import { isWorthIt } from '../../../app/projects/sweep.ts';
import { shownSender, type SweepChains } from '../../../app/sweeps/chain.ts';
import type { NetworkDeposits, OfferedCall, SweepWithTransfers } from '../../../app/sweeps/overview.ts';
import type { AssetCode } from '../../../domain/asset-code.ts';
import { tokenOf } from '../../../domain/asset.ts';
import { divCeil, formatDecimal, pow10 } from '../../../domain/money.ts';
import {
  isEvmNetwork,
  nativeAsset,
  NETWORK_FACTS,
  transactionPage,
  type EvmNetwork,
  type Network,
} from '../../../domain/networks.ts';
import { isoTime, isoTimeOrNull } from '../../../wire/time.ts';
import { walletChainOf } from '../record-parts.ts';
import type { NetworkView, OfferedView, SweepView } from './contract.ts';

const COIN_DECIMALS = 18;
const GWEI_DECIMALS = 9;

/** The data for making the views. */
export interface SweepViewing {
  readonly app: App;
  readonly chains: SweepChains;
  readonly minUsdCents: bigint;
}

interface Part {
  readonly asset: AssetCode | null;
  readonly units: bigint;
  readonly usdCents: bigint | null;
}

export function networkView(viewing: SweepViewing, deposits: NetworkDeposits): NetworkView {
  const { network, check, balances, underWay, calls } = deposits;
  const chain = viewing.chains(network);
  const worth = balances.filter((balance) => isWorthIt(balance, viewing.minUsdCents));
  const below = balances.filter((balance) => !isWorthIt(balance, viewing.minUsdCents));
  const byTreasury = (parts: NetworkDeposits['balances']) =>
    [...Map.groupBy(parts, ({ treasury }) => treasury)].flatMap(([treasury, own]) =>
      amountsOf(viewing, network, own).map((amount) => ({ treasury, ...amount })),
    );
  const { problem } = check ?? { problem: null };
  return {
    network,
    name: NETWORK_FACTS[network].label,
    chain: walletChainOf(network, chain?.chainId ?? 0),
    coin: NETWORK_FACTS[network].gasCoin,
    checked_at: isoTimeOrNull(check?.checkedAt ?? null),
    problem: problem === 'no_node' || problem === null ? problem : 'unavailable',
    gas_price_gwei:
      check === null || check.gasPrice === null ? null : formatDecimal(roughly(check.gasPrice), GWEI_DECIMALS),
    holdings: byTreasury(worth),
    below: byTreasury(below),
    under_way: byTreasury(underWay),
    calls: calls.map((call) => offeredView(viewing, deposits, call)),
  };
}

function offeredView(
  viewing: SweepViewing,
  { network, check }: NetworkDeposits,
  { key, call, isReady, takes }: OfferedCall,
): OfferedView {
  const cost = check === null || check.gasPrice === null ? null : call.gasEstimate * check.gasPrice;
  const worth = cost === null ? null : worthOf(viewing, network, cost);
  return {
    key,
    purpose: call.purpose,
    ready: isReady,
    treasury: call.purpose === 'sweep' ? call.treasury : null,
    amounts: amountsOf(viewing, network, takes),
    call: { chain_id: chainIdOf(viewing, network), to: call.to, value: '0', data: call.data },
    gas_estimate: String(call.gasEstimate),
    gas_limit: String(call.gasLimit),
    cost: cost === null ? null : formatDecimal(roughly(cost), COIN_DECIMALS),
    cost_usd: worth === null ? null : formatDecimal(worth, 2),
  };
}

export function sweepView(
  viewing: SweepViewing,
  { sweep, transfers }: SweepWithTransfers,
  senders: ReadonlyMap<string, string>,
): SweepView {
  const { network, callTo, callData, transactionHash: hash } = sweep;
  if (!isEvmNetwork(network)) throw new Error(`A sweep is on ${network}.`);
  const { label, chainId: mainId, explorer, gasCoin } = NETWORK_FACTS[network];
  const chainId = chainIdOf(viewing, network);
  return {
    id: sweep.id,
    network,
    name: label,
    purpose: sweep.purpose,
    source: sweep.source,
    state: sweep.state,
    problem: sweep.problem,
    treasury: sweep.treasury,
    sent_by: sweep.personId === null ? null : (senders.get(sweep.personId) ?? null),
    sender: shownSender(sweep),
    call: callTo === null || callData === null ? null : { chain_id: chainId, to: callTo, value: '0', data: callData },
    chain: walletChainOf(network, chainId),
    hash,
    explorer_url: hash === null || chainId !== mainId ? null : transactionPage(explorer, hash),
    created_at: isoTime(sweep.createdAt),
    sent_at: isoTimeOrNull(sweep.sentAt),
    mined_at: isoTimeOrNull(sweep.minedAt),
    final: sweep.finalAt !== null,
    amounts: [...Map.groupBy(transfers, ({ asset }) => asset).values()].flatMap((own) => {
      const failed = own.filter(({ state }) => state === 'failed').length;
      // Money that failed to move is still on its deposit; an asset of which every transfer failed moved nothing.
      const nothing = own.slice(0, 1).map((one) => ({ ...one, units: 0n, usdCents: 0n }));
      const taken = failed === own.length ? nothing : own.filter(({ state }) => state !== 'failed');
      return amountsOf(viewing, network, taken).map((amount) => ({ ...amount, failed }));
    }),
    coin: gasCoin,
    gas_used: sweep.gasUsed === null ? null : String(sweep.gasUsed),
    fee: sweep.feeUnits === null ? null : formatDecimal(sweep.feeUnits, COIN_DECIMALS),
    fee_usd: sweep.feeUsdCents === null ? null : formatDecimal(sweep.feeUsdCents, 2),
  };
}

/** The sums of parts by asset; the worth is unknown if that of one part is. */
function amountsOf(viewing: SweepViewing, network: EvmNetwork, parts: readonly Part[]) {
  return [...Map.groupBy(parts, ({ asset }) => asset)].map(([asset, own]) => {
    const units = own.reduce((sum, part) => sum + part.units, 0n);
    const cents = own.reduce<bigint | null>(
      (sum, { usdCents }) => (sum === null || usdCents === null ? null : sum + usdCents),
      0n,
    );
    return {
      asset: asset ?? NETWORK_FACTS[network].gasCoin ?? '–',
      amount: formatDecimal(units, decimalsIn(viewing, network, asset)),
      usd: cents === null ? null : formatDecimal(cents, 2),
      deposits: own.length,
    };
  });
}

function decimalsIn({ chains }: SweepViewing, network: Network, asset: AssetCode | null): number {
  if (asset === null) return COIN_DECIMALS;
  return chains(network)?.tokens.get(asset)?.decimals ?? tokenOf(asset, network)?.decimals ?? COIN_DECIMALS;
}

function chainIdOf({ chains }: SweepViewing, network: EvmNetwork): number {
  return chains(network)?.chainId ?? NETWORK_FACTS[network].chainId;
}

/** The worth of an amount of the network's coin, at the present price. */
function worthOf({ app }: SweepViewing, network: EvmNetwork, units: bigint): bigint | null {
  const coin = nativeAsset(network);
  const price = coin === null ? null : app.railFor('live').rates.usdPrice(coin);
  return price === null ? null : (units * price * 100n) / pow10(COIN_DECIMALS + 8);
}

const SIGNIFICANT_DIGITS = 3;

/** Rounds an estimate to a plausible precision. */
function roughly(units: bigint): bigint {
  const step = pow10(Math.max(0, String(units).length - SIGNIFICANT_DIGITS));
  return divCeil(units, step) * step;
}
