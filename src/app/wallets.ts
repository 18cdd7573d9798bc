import { isNetwork, NETWORKS, type Network } from '../domain/asset.ts';
import { NETWORK_FACTS, type ConfirmationTier } from '../domain/network.ts';
import type { WalletDeriver } from '../rails/chain.ts';
import { parseWallet, type UtxoChains, type WalletSource } from '../rails/wallet.ts';
import type { Trx } from '../store/database.ts';
import { findProject } from '../store/projects.ts';
import { listWallets, setWallet, type Wallet } from '../store/wallets.ts';
import { newId, type App } from './context.ts';
import { malformed, type Rejected } from './projects.ts';

const MAX_CONFIRMATIONS = 10_000;
/** 10 %: beyond it, a payment that is plainly too small would count as paid. */
const MAX_TOLERANCE_BASIS_POINTS = 1_000;

export interface WalletRequest {
  readonly projectId: string;
  readonly network: string;
  readonly source: WalletSource;
  /** Null: by the amount, as the network's table says. */
  readonly confirmations: number | null;
  /** In hundredths of a percent; null: 0.5 %. */
  readonly toleranceBasisPoints: number | null;
}

/** Sets what a project's addresses are derived from. A private key is refused before anything is stored. */
export async function setProjectWallet(
  app: App,
  request: WalletRequest,
  chains: UtxoChains,
): Promise<
  | { readonly kind: 'done'; readonly wallet: Wallet; readonly note: string | null; readonly deriver: WalletDeriver }
  | Rejected
> {
  const { network, confirmations, toleranceBasisPoints } = request;
  if (!isNetwork(network)) return malformed(`--network must be one of ${NETWORKS.join(', ')}.`);
  const parsed = parseWallet(network, request.source, chains);
  if (parsed.kind === 'bad') return malformed(`--${request.source.kind}: ${parsed.message}`);
  if (confirmations !== null && !isWhole(confirmations, 1, MAX_CONFIRMATIONS)) {
    return malformed(`--confirmations must be a whole number from 1 to ${MAX_CONFIRMATIONS}.`);
  }
  if (toleranceBasisPoints !== null && !isWhole(toleranceBasisPoints, 0, MAX_TOLERANCE_BASIS_POINTS)) {
    return malformed('--tolerance must be a percentage from 0 to 10 with at most two decimals, such as 0.5.');
  }
  const now = app.clock();
  return app.db.transaction().execute(async (trx) => {
    if ((await findProject(trx, request.projectId)) === null) return noProject(request.projectId);
    await setWallet(trx, {
      id: newId(app, now),
      projectId: request.projectId,
      network,
      kind: request.source.kind,
      source: parsed.source,
      firstAddress: parsed.deriver.addressAt(0),
      confirmations,
      toleranceBasisPoints,
      createdAt: now,
    });
    const wallet = await walletOn(trx, request.projectId, network);
    if (wallet === null) throw new Error('The wallet that was just set is not there.');
    return { kind: 'done', wallet, note: parsed.note, deriver: parsed.deriver };
  });
}

/** The project's wallets in use, one a network. */
export async function walletsOf(
  app: App,
  projectId: string,
): Promise<{ readonly kind: 'done'; readonly wallets: readonly Wallet[] } | Rejected> {
  if ((await findProject(app.db, projectId)) === null) return noProject(projectId);
  return { kind: 'done', wallets: await listWallets(app.db, projectId) };
}

/** The project's wallet on one network. */
export async function walletOf(
  app: App,
  projectId: string,
  network: string,
): Promise<{ readonly kind: 'done'; readonly wallet: Wallet } | Rejected> {
  if (!isNetwork(network)) return malformed(`--network must be one of ${NETWORKS.join(', ')}.`);
  if ((await findProject(app.db, projectId)) === null) return noProject(projectId);
  const wallet = await walletOn(app.db, projectId, network);
  return wallet === null
    ? rejected(`The project has no ${network} wallet. Set one with: cointill wallet set --network ${network}`)
    : { kind: 'done', wallet };
}

async function walletOn(executor: App['db'] | Trx, projectId: string, network: Network): Promise<Wallet | null> {
  return (await listWallets(executor, projectId)).find((wallet) => wallet.network === network) ?? null;
}

/** The confirmations that a wallet's payments need, by amount; one tier where the merchant set a number. */
export function confirmationTiers({ network, confirmations }: Wallet): readonly ConfirmationTier[] {
  return confirmations === null ? NETWORK_FACTS[network].confirmations : [{ belowUsdCents: null, confirmations }];
}

function isWhole(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}

function noProject(projectId: string): Rejected {
  return rejected(`There is no project ${projectId}. List them with: cointill project list`);
}

function rejected(message: string): Rejected {
  return { kind: 'rejected', message };
}
