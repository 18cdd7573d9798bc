import type { NetworkOverview, WalletOverview, walletOverview } from '../../../app/dashboard/wallet-overview.ts';
import { formatDecimal } from '../../../domain/money.ts';
import { NETWORK_FACTS } from '../../../domain/networks.ts';
import { formatPercent } from '../../../domain/percent.ts';
import { isoTime } from '../../../wire/time.ts';
import { messageOf } from '../../ways-out.ts';
import type { NetworkHealthView, NetworkView, WalletsView, WalletView } from './contract.ts';

/** A project's wallets and terms as the browser reads them. */
export function overviewView(overview: NonNullable<Awaited<ReturnType<typeof walletOverview>>>): WalletsView {
  return {
    networks: overview.networks.map(networkView),
    coins: overview.coins.map(({ coin, isOn }) => ({ coin, is_on: isOn })),
    has_own_order: overview.hasOwnOrder,
    spread: formatPercent(overview.spreadBasisPoints),
    monitoring_hours: overview.monitoringMs / 3_600_000,
    has_own_window: overview.hasOwnWindow,
    version: overview.version,
  };
}

function networkView({ network, kinds, setting, version, wallet, status }: NetworkOverview): NetworkView {
  return {
    network,
    label: NETWORK_FACTS[network].label,
    kinds: [...kinds],
    setting,
    version,
    wallet: wallet === null ? null : walletView(wallet),
    health: status === null ? null : healthView(status),
  };
}

function walletView({
  wallet,
  addressKind,
  tiers,
  toleranceBasisPoints,
  problem,
  warning,
}: WalletOverview): WalletView {
  return {
    kind: wallet.kind,
    source: wallet.source,
    address_kind: addressKind,
    next_index: wallet.nextIndex,
    confirmations: wallet.confirmations,
    tiers: tiers.map(({ belowUsdCents, confirmations }) => ({
      below_usd: belowUsdCents === null ? null : formatDecimal(belowUsdCents, 2),
      confirmations,
    })),
    tolerance: formatPercent(toleranceBasisPoints),
    has_own_tolerance: wallet.toleranceBasisPoints !== null,
    set_at: isoTime(wallet.createdAt),
    problem: problem && messageOf(problem),
    warning,
  };
}

function healthView(status: NonNullable<NetworkOverview['status']>): NetworkHealthView {
  const { problem, problemKind, height, lagBlocks, lagMs, cursor, nodes } = status;
  return {
    problem,
    problem_kind: problemKind,
    height,
    lag_blocks: lagBlocks,
    lag_seconds: lagMs === null ? null : Math.round(lagMs / 1_000),
    cursor: cursor === null ? null : { height: cursor.height, hash: cursor.hash, block_at: isoTime(cursor.blockAt) },
    nodes: nodes.map((one) => ({
      node: one.node,
      height: one.height,
      problem: one.problem,
      checked_at: isoTime(one.checkedAt),
    })),
  };
}
