import { coinName, offeredCoins } from '../../domain/coin-choice.ts';
import type { ConfirmationTier } from '../../domain/network-facts.ts';
import { GAP_LIMIT, NETWORKS, familyFacts, settingOf, type Network } from '../../domain/networks.ts';
import type { Refusal } from '../../domain/way-out.ts';
import { otherChain } from '../../modes/locked-issuer.ts';
import { DEFAULT_TOLERANCE_BASIS_POINTS } from '../../modes/rail.ts';
import type { NodeReport } from '../../rails/chain.ts';
import type { AddressKind, WalletSource, UtxoChains } from '../../rails/family.ts';
import { rulesOf } from '../../rails/networks.ts';
import type { WalletOpener } from '../../rails/wallet.ts';
import { findProject } from '../../store/projects/projects.ts';
import { haltedWallets } from '../../store/wallets/unissued.ts';
import { gapInWords, listWallets, type Wallet } from '../../store/wallets/wallets.ts';
import { confirmationTiers, firstAddresses, walletVersion } from '../projects/wallets.ts';
import { termsVersion } from '../projects/payment-terms.ts';
import type { NetworkStatus } from '../chains/network-status.ts';
import type { App } from '../context.ts';
import { monitoringMsOf } from '../payments/payment-policy.ts';
import { within } from '../within.ts';
import type { ServiceHealth } from './health.ts';

/** The sources beside the database of the pages about wallets. */
export interface WalletSources {
  readonly chains: UtxoChains;
  readonly openWallet: WalletOpener;
  /** The last known state of the networks and their nodes. */
  readonly serviceHealth: () => Promise<ServiceHealth>;
  /** Asks a network's nodes now; null if the service does not follow the network. */
  readonly askNodes: (network: Network) => Promise<readonly NodeReport[] | null>;
}

/** A network, the project's wallet there, and how the service follows it. */
export interface NetworkOverview {
  readonly network: Network;
  /** The ways to give a wallet, the usual one first. */
  readonly kinds: readonly WalletSource['kind'][];
  /** The setting that names its nodes. */
  readonly setting: string;
  readonly version: string;
  readonly wallet: WalletOverview | null;
  /** Null: no node is set for the network. */
  readonly status: NetworkStatus | null;
}

export interface WalletOverview {
  readonly wallet: Wallet;
  /** Null: the wallet's source cannot be read. */
  readonly addressKind: AddressKind | null;
  readonly tiers: readonly ConfirmationTier[];
  readonly toleranceBasisPoints: number;
  /** Why no address of the wallet can be handed out; null if it can. */
  readonly problem: Refusal | null;
  /** A warning for its owner; null if there is none. */
  readonly warning: string | null;
}

/** A coin that the project's wallets accept. */
interface CoinOverview {
  readonly coin: string;
  readonly isOn: boolean;
}

/** A project's wallets and terms, and the state of the networks. Asks no chain. */
export async function walletOverview(
  app: App,
  projectId: string,
  sources: WalletSources,
): Promise<{
  readonly networks: readonly NetworkOverview[];
  readonly coins: readonly CoinOverview[];
  readonly hasOwnOrder: boolean;
  readonly spreadBasisPoints: number;
  /** The window in force, in milliseconds; `hasOwnWindow`: it was set for the project. */
  readonly monitoringMs: number;
  readonly hasOwnWindow: boolean;
  readonly version: string;
} | null> {
  const [project, wallets, halted, { statuses }, payable] = await Promise.all([
    findProject(app.db, projectId),
    listWallets(app.db, projectId),
    haltedWallets(app.db),
    sources.serviceHealth(),
    app.railFor('live').payable(projectId),
  ]);
  if (project === null) return null;
  const { order, off } = project.coins;
  return {
    networks: NETWORKS.map((network) => {
      const wallet = wallets.find((one) => one.network === network) ?? null;
      const halt = halted.find((one) => one.network === network && one.firstAddress === wallet?.firstAddress);
      return {
        network,
        kinds: familyFacts(network).walletKinds,
        setting: settingOf(network, 'RPC_URL'),
        version: walletVersion(wallet),
        wallet:
          wallet === null
            ? null
            : overviewOf(wallet, sources.chains, halt === undefined ? null : { message: halt.reason }),
        status: statuses.find((one) => one.network === network) ?? null,
      };
    }),
    coins: offeredCoins(payable, { order, off: [] }).map((token) => ({
      coin: coinName(token),
      isOn: !off.includes(coinName(token)),
    })),
    hasOwnOrder: order.length > 0 || off.length > 0,
    spreadBasisPoints: project.spreadBasisPoints,
    monitoringMs: monitoringMsOf(app, project.monitoringHours),
    hasOwnWindow: project.monitoringHours !== null,
    version: termsVersion(project),
  };
}

function overviewOf(wallet: Wallet, chains: UtxoChains, halted: Refusal | null): WalletOverview {
  const { network, kind, source, gap } = wallet;
  const parsed = rulesOf(network).parseWallet({ kind, text: source }, chains);
  const isReadable = parsed.kind === 'ok';
  const { count, limit } = gapInWords(wallet);
  return {
    wallet,
    addressKind: isReadable ? parsed.addressKind : null,
    tiers: confirmationTiers(wallet),
    toleranceBasisPoints: wallet.toleranceBasisPoints ?? DEFAULT_TOLERANCE_BASIS_POINTS,
    problem: isReadable ? halted : otherChain(network),
    warning:
      kind === 'treasury' || gap <= GAP_LIMIT
        ? null
        : `${count} addresses were handed out after the last address that was paid. Raise your wallet's gap limit to ${limit} or more, so that it finds later payments.`,
  };
}

/** How many addresses are shown, so that the owner can compare them with their own wallet. */
const CHECKED_ADDRESSES = 10;
/** How long the nodes may take for a check. */
const CHECK_MS = 10_000;

/** The first addresses of a wallet, and the answers of its network's nodes. */
export interface WalletCheckup {
  readonly wallet: Wallet;
  /** The first addresses; null if the wallet cannot be read. */
  readonly addresses: readonly string[] | null;
  /** Null: no node of the network is set. */
  readonly nodes: readonly NodeReport[] | null;
  /** Why the nodes could not be asked; null if they were. */
  readonly fault: string | null;
}

/** Checks a project's wallet, asking the nodes for at most ten seconds. Null if there is no wallet. */
export async function checkWallet(
  app: App,
  projectId: string,
  network: Network,
  { openWallet, askNodes }: Pick<WalletSources, 'openWallet' | 'askNodes'>,
): Promise<WalletCheckup | null> {
  const wallet = (await listWallets(app.db, projectId)).find((one) => one.network === network);
  if (wallet === undefined) return null;
  const [addresses, asked] = await Promise.all([
    firstAddresses(app, openWallet, wallet, CHECKED_ADDRESSES),
    within(CHECK_MS, askNodes(network)).then(
      (nodes) => ({ nodes, fault: null }),
      () => ({ nodes: [], fault: `The nodes of ${network} did not answer within ${CHECK_MS / 1000} seconds.` }),
    ),
  ]);
  return { wallet, addresses, ...asked };
}
