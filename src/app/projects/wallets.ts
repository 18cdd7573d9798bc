import { ASSET_CODES } from '../../domain/asset-code.ts';
import type { ConfirmationTier } from '../../domain/network-facts.ts';
import { isNetwork, NETWORK_FACTS, NETWORKS, type Network } from '../../domain/networks.ts';
import type { WalletDeriver } from '../../rails/chain.ts';
import { checkPayoutAddress, shownAddress } from '../../rails/address.ts';
import type { AddressKind, WalletCheck, WalletSource, UtxoChains } from '../../rails/family.ts';
import { rulesOf } from '../../rails/networks.ts';
import { addressesFrom } from '../../rails/derive-addresses.ts';
import type { WalletOpener } from '../../rails/wallet.ts';
import type { Trx } from '../../store/database.ts';
import { wake } from '../../store/wake.ts';
import { findProject, lockProject } from '../../store/projects/projects.ts';
import { insertWalletChange, listWallets, setWallet, type Wallet } from '../../store/wallets/wallets.ts';
import { issuedAddresses, skipAddressesBelow } from '../../store/wallets/issued-addresses.ts';
import { differences, recordAudit, whoActs } from '../audit.ts';
import { newId, type App } from '../context.ts';
import { digestOf } from '../version.ts';
import { noProject, rejected, rejectedBy, type Rejected } from '../rejected.ts';
import { mailWalletChange } from './wallet-mails.ts';
import { isOwnDeposit } from './own-deposit.ts';
import { indexChange, NEW_ACCOUNT, NEW_TREASURY, shortWallet, walletChanges } from './wallet-words.ts';

const MAX_CONFIRMATIONS = 10_000;
/** 10 %: with a larger tolerance, a payment that is plainly too small would count as paid. */
const MAX_TOLERANCE_BASIS_POINTS = 1_000;
/** Far more than any shop hands out; BIP 32 allows twenty times as many. */
const MAX_FIRST_INDEX = 100_000_000;

export interface WalletRequest {
  readonly projectId: string;
  readonly network: string;
  readonly source: WalletSource;
  /** Null: by amount, according to the network's tiers. */
  readonly confirmations: number | null;
  /** In hundredths of a percent; null: 0.5 %. */
  readonly toleranceBasisPoints: number | null;
  /**
   * Addresses below this index are not handed out, because they were used before. Null: continue after the last one.
   */
  readonly firstIndex?: number | null;
  /** The state that a person saw on the page; absent for the command line, which prints the addresses afterwards. */
  readonly seen?: {
    /** The version (`walletVersion`) of the wallet to be changed. */
    readonly version: string;
    /** The id (`WalletPreview`) of the wallet and addresses that the person compared; null for the wallet in use. */
    readonly compared: string | null;
  };
}

/** A wallet that was just set, with advice for its owner. */
export interface WalletSet {
  readonly kind: 'done';
  readonly wallet: Wallet;
  readonly deriver: WalletDeriver;
  readonly note: string | null;
  /** The differences to the wallet before, in sentences; empty for a network that had no wallet. */
  readonly changes: readonly string[];
  /** Foreseeable problems, each with the way out. */
  readonly warnings: readonly string[];
}

/** Sets the wallet from which a project's addresses are derived. A private key is refused before anything is stored. */
export async function setProjectWallet(
  app: App,
  request: WalletRequest,
  chains: UtxoChains,
): Promise<WalletSet | Rejected> {
  const { network, confirmations, toleranceBasisPoints, firstIndex = null, seen } = request;
  if (!isNetwork(network)) return noNetwork();
  const parsed = parsedWallet(network, request.source, chains);
  if (parsed.kind === 'rejected') return parsed;
  const deadEnd = request.source.kind === 'treasury' ? deadEndOf(app, network, parsed.source) : null;
  if (deadEnd !== null) return deadEnd;
  const firstAddress = parsed.deriver.identity ?? parsed.deriver.addressAt(0);
  if (typeof seen?.compared === 'string' && seen.compared !== comparedOf({ ...request, network }, parsed)) {
    return rejected('wallet_not_compared');
  }
  const fault = numberFault(request);
  if (fault !== null) return fault;
  const now = app.clock();
  return app.db.transaction().execute(async (trx) => {
    await lockProject(trx, request.projectId);
    if ((await findProject(trx, request.projectId)) === null) return noProject(request.projectId);
    if (await isOwnDeposit(trx, request.projectId, request.source.kind, parsed.source)) return ownDeposit();
    const before = await walletOn(trx, request.projectId, network);
    if (seen !== undefined && seen.version !== walletVersion(before)) return rejected('wallet_changed');
    await setWallet(trx, {
      id: newId(app, now),
      projectId: request.projectId,
      network,
      kind: request.source.kind,
      source: parsed.source,
      firstAddress,
      confirmations,
      toleranceBasisPoints,
      createdAt: now,
    });
    const saved = await walletOn(trx, request.projectId, network);
    if (firstIndex !== null && saved !== null) await skipAddressesBelow(trx, saved, firstIndex);
    const wallet = await walletOn(trx, request.projectId, network);
    if (saved === null || wallet === null) throw new Error('The wallet that was just set is missing.');
    await recordAudit(app, trx, {
      action: 'wallet.set',
      projectId: request.projectId,
      subject: { kind: 'wallet', id: network },
      ...differences(auditedWallet(before), auditedWallet(wallet)),
    });
    if (before?.firstAddress !== firstAddress) await announceWalletChange(app, trx, before, wallet);
    const isUnused = wallet.nextIndex === 0 && firstIndex === null;
    const ofUnused = wallet.kind === 'treasury' ? NEW_TREASURY : NEW_ACCOUNT;
    return {
      kind: 'done',
      wallet,
      deriver: parsed.deriver,
      note: parsed.note,
      changes: [
        ...(before === null ? [] : walletChanges(before, wallet)),
        ...(firstIndex === null ? [] : indexChange(saved.nextIndex, firstIndex)),
      ],
      warnings: [...(isUnused ? [ofUnused] : []), ...parsed.warnings],
    };
  });
}

/** The fault in one of a request's numbers; null if there is none. */
function numberFault({ confirmations, toleranceBasisPoints, firstIndex = null }: WalletRequest): Rejected | null {
  if (confirmations !== null && !isWhole(confirmations, 1, MAX_CONFIRMATIONS)) {
    return rejected('whole_number', { param: 'confirmations', min: 1, max: MAX_CONFIRMATIONS });
  }
  if (toleranceBasisPoints !== null && !isWhole(toleranceBasisPoints, 0, MAX_TOLERANCE_BASIS_POINTS)) {
    return rejected('percentage', { param: 'toleranceBasisPoints', max: MAX_TOLERANCE_BASIS_POINTS / 100 });
  }
  if (firstIndex !== null && !isWhole(firstIndex, 0, MAX_FIRST_INDEX)) {
    return rejected('whole_number', { param: 'firstIndex', min: 0, max: MAX_FIRST_INDEX });
  }
  return null;
}

function noNetwork(): Rejected {
  return rejected('one_of', { param: 'network', names: NETWORKS.join(', ') });
}

/** The refusal of a treasury whose money nobody could move, such as the contract of a token. */
function deadEndOf(app: App, network: Network, treasury: string): Rejected | null {
  const rail = app.railFor('live');
  const contracts = ASSET_CODES.flatMap((asset) => rail.evmChain({ asset, network })?.contract ?? []);
  const checked = checkPayoutAddress(network, treasury, rail.payoutChain(network), contracts);
  return checked.kind === 'ok' ? null : rejectedBy(checked, 'treasury');
}

function ownDeposit(): Rejected {
  return rejected('own_deposit', { param: 'treasury' });
}

function parsedWallet(network: Network, source: WalletSource, chains: UtxoChains) {
  const parsed = rulesOf(network).parseWallet(source, chains);
  return parsed.kind === 'ok' ? parsed : rejectedBy(parsed, source.kind);
}

/**
 * Announces that new payments of a project go to another wallet from now on: the change needs the attention of the
 * project's owners and admins until one of them marks it. Runs in the change's own transaction.
 */
async function announceWalletChange(app: App, trx: Trx, before: Wallet | null, after: Wallet): Promise<void> {
  const now = app.clock();
  const { kind, name } = whoActs(app);
  await insertWalletChange(trx, {
    id: newId(app, now),
    projectId: after.projectId,
    network: after.network,
    changedAt: now,
    actor: { kind, name },
    before: before === null ? null : shortWallet(before),
    after: shortWallet(after),
  });
  await wake(trx, ['attention', after.projectId, 'live']);
  await mailWalletChange(app, trx, before, after);
}

/** A wallet as the audit log records it. Its keys are public ones. */
function auditedWallet(wallet: Wallet | null): object {
  return {
    kind: wallet?.kind ?? null,
    source: wallet?.source ?? null,
    firstAddress: wallet?.firstAddress ?? null,
    confirmations: wallet?.confirmations ?? null,
    toleranceBasisPoints: wallet?.toleranceBasisPoints ?? null,
    nextIndex: wallet?.nextIndex ?? null,
  };
}

/** The project's wallets in use, one per network. */
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
  if (!isNetwork(network)) return noNetwork();
  if ((await findProject(app.db, projectId)) === null) return noProject(projectId);
  const wallet = await walletOn(app.db, projectId, network);
  return wallet === null ? rejected('no_wallet', { network }) : { kind: 'done', wallet };
}

async function walletOn(executor: App['db'] | Trx, projectId: string, network: Network): Promise<Wallet | null> {
  return (await listWallets(executor, projectId)).find((wallet) => wallet.network === network) ?? null;
}

/**
 * The wallet's first addresses in the form that customers see: those already handed out, which for a treasury may come
 * from an earlier factory, and the next ones. Null if the service is not on the wallet's chain.
 */
export async function firstAddresses(
  app: Pick<App, 'db'>,
  openWallet: WalletOpener,
  wallet: Wallet,
  count: number,
): Promise<readonly string[] | null> {
  const { network, kind, source } = wallet;
  const deriver = openWallet(network, { kind, text: source });
  if (deriver === null) return null;
  const issued = await issuedAddresses(app.db, wallet, count);
  return addressesFrom(deriver, 0, count).map((address, index) => {
    const own = issued.get(index);
    return own === undefined ? address : shownAddress(network, own);
  });
}

/** The confirmations that a wallet's payments need, by amount; a single tier if the merchant set a number. */
export function confirmationTiers({ network, confirmations }: Wallet): readonly ConfirmationTier[] {
  return confirmations === null ? NETWORK_FACTS[network].confirmations : [{ belowUsdCents: null, confirmations }];
}

/** How many addresses are shown, so that the owner can compare them with their own wallet. */
const COMPARED_ADDRESSES = 10;

/** A wallet as it would be set; nothing is saved. */
export interface WalletPreview {
  readonly kind: 'done';
  /** The source in its stored form. */
  readonly source: string;
  readonly addressKind: AddressKind;
  /** The first ten addresses, as the owner's own wallet shows them; for a treasury, the first deposit contracts. */
  readonly addresses: readonly string[];
  /** Identifies the wallet and these addresses: only a compared wallet can be saved. */
  readonly compared: string;
  readonly note: string | null;
  readonly warnings: readonly string[];
}

/** Previews the first addresses of a wallet. A private key is refused. */
export async function previewWallet(
  { db }: Pick<App, 'db'>,
  { projectId, network, source }: Pick<WalletRequest, 'projectId' | 'network' | 'source'>,
  chains: UtxoChains,
): Promise<WalletPreview | Rejected> {
  if (!isNetwork(network)) return noNetwork();
  const parsed = parsedWallet(network, source, chains);
  if (parsed.kind === 'rejected') return parsed;
  if (await isOwnDeposit(db, projectId, source.kind, parsed.source)) return ownDeposit();
  return {
    kind: 'done',
    source: parsed.source,
    addressKind: parsed.addressKind,
    addresses: addressesFrom(parsed.deriver, 0, COMPARED_ADDRESSES),
    compared: comparedOf({ projectId, network, source }, parsed),
    note: parsed.note,
    warnings: parsed.warnings,
  };
}

function comparedOf(
  { projectId, network, source }: Pick<WalletRequest, 'projectId' | 'source'> & { readonly network: Network },
  { source: text, deriver }: Extract<WalletCheck, { readonly kind: 'ok' }>,
): string {
  return digestOf([projectId, network, source.kind, text, addressesFrom(deriver, 0, COMPARED_ADDRESSES)]);
}

/** Changes with every setting of a wallet. Null means no wallet. */
export function walletVersion(wallet: Wallet | null): string {
  if (wallet === null) return 'none';
  const { id, kind, source, confirmations, toleranceBasisPoints } = wallet;
  return digestOf([id, kind, source, confirmations, toleranceBasisPoints]);
}

function isWhole(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}
