import type { ConfirmationTier } from '../../domain/network-facts.ts';
import { isNetwork, NETWORK_FACTS, NETWORKS, type Network } from '../../domain/networks.ts';
import type { WalletDeriver } from '../../rails/chain.ts';
import { shownAddress } from '../../rails/address.ts';
import type { WalletSource, UtxoChains } from '../../rails/family.ts';
import { rulesOf } from '../../rails/networks.ts';
import type { WalletOpener } from '../../rails/wallet.ts';
import type { Trx } from '../../store/database.ts';
import { findProject } from '../../store/projects.ts';
import { listWallets, setWallet, type Wallet } from '../../store/wallets.ts';
import { issuedAddresses, skipAddressesBelow } from '../../store/issued-addresses.ts';
import { differences, recordAudit } from '../audit.ts';
import { newId, type App } from '../context.ts';
import { enqueueForOwners } from '../enqueue-mail.ts';
import { DEFAULT_TOLERANCE_BASIS_POINTS } from '../../modes/rail.ts';
import { malformed, noProject, rejected, type Rejected } from '../rejected.ts';

const MAX_CONFIRMATIONS = 10_000;
/** 10 %: with more, a payment that is plainly too small would count as paid. */
const MAX_TOLERANCE_BASIS_POINTS = 1_000;
/** Far more than any shop hands out; BIP 32 allows twenty times as many. */
const MAX_FIRST_INDEX = 100_000_000;

const NEW_ACCOUNT =
  'Give an account of your wallet that nothing else uses, for payments get its addresses from number 0 on. If it was used before, ' +
  "set it again with --first-index and the number of its first unused address: else an earlier customer who pays to an old address pays somebody else's order.";

export interface WalletRequest {
  readonly projectId: string;
  readonly network: string;
  readonly source: WalletSource;
  /** Null: by amount, as the network's tiers say. */
  readonly confirmations: number | null;
  /** In hundredths of a percent; null: 0.5 %. */
  readonly toleranceBasisPoints: number | null;
  /** Addresses below this index are not handed out, because they were used before. Null: continue where it stopped. */
  readonly firstIndex?: number | null;
}

/** A wallet that was just set, and what its owner should know. */
export interface WalletSet {
  readonly kind: 'done';
  readonly wallet: Wallet;
  readonly deriver: WalletDeriver;
  readonly note: string | null;
  /** What differs from the wallet before, in sentences; empty for a network that had no wallet. */
  readonly changes: readonly string[];
  /** What will go wrong with it, each with the way out. */
  readonly warnings: readonly string[];
}

/** Sets the wallet from which a project's addresses are derived. A private key is refused before anything is stored. */
export async function setProjectWallet(
  app: App,
  request: WalletRequest,
  chains: UtxoChains,
): Promise<WalletSet | Rejected> {
  const { network, confirmations, toleranceBasisPoints, firstIndex = null } = request;
  if (!isNetwork(network)) return malformed(`--network must be one of ${NETWORKS.join(', ')}.`);
  const parsed = rulesOf(network).parseWallet(request.source, chains);
  if (parsed.kind === 'invalid') return malformed(`--${request.source.kind}: ${parsed.message}`);
  if (confirmations !== null && !isWhole(confirmations, 1, MAX_CONFIRMATIONS)) {
    return malformed(`--confirmations must be a whole number from 1 to ${MAX_CONFIRMATIONS}.`);
  }
  if (toleranceBasisPoints !== null && !isWhole(toleranceBasisPoints, 0, MAX_TOLERANCE_BASIS_POINTS)) {
    return malformed('--tolerance must be a percentage from 0 to 10 with at most two decimals, such as 0.5.');
  }
  if (firstIndex !== null && !isWhole(firstIndex, 0, MAX_FIRST_INDEX)) {
    return malformed(`--first-index must be a whole number from 0 to ${MAX_FIRST_INDEX}.`);
  }
  const now = app.clock();
  return app.db.transaction().execute(async (trx) => {
    const project = await findProject(trx, request.projectId);
    if (project === null) return noProject(request.projectId);
    const before = await walletOn(trx, request.projectId, network);
    await setWallet(trx, {
      id: newId(app, now),
      projectId: request.projectId,
      network,
      kind: request.source.kind,
      source: parsed.source,
      firstAddress: parsed.deriver.identity ?? parsed.deriver.addressAt(0),
      confirmations,
      toleranceBasisPoints,
      createdAt: now,
    });
    const found = await walletOn(trx, request.projectId, network);
    if (firstIndex !== null && found !== null) await skipAddressesBelow(trx, found, firstIndex);
    const wallet = await walletOn(trx, request.projectId, network);
    if (found === null || wallet === null) throw new Error('The wallet that was just set is not there.');
    await recordAudit(app, trx, {
      action: 'wallet.set',
      projectId: request.projectId,
      subject: { kind: 'wallet', id: network },
      ...differences(auditedWallet(before), auditedWallet(wallet)),
    });
    await mailWalletChange(app, trx, project, before, wallet);
    const isUnused = wallet.kind !== 'treasury' && wallet.nextIndex === 0 && firstIndex === null;
    return {
      kind: 'done',
      wallet,
      deriver: parsed.deriver,
      note: parsed.note,
      changes: [
        ...(before === null ? [] : walletChanges(before, wallet)),
        ...(firstIndex === null ? [] : indexChange(found.nextIndex, firstIndex)),
      ],
      warnings: [...(isUnused ? [NEW_ACCOUNT] : []), ...parsed.warnings],
    };
  });
}

/** Tells all owners where payments go from now on, for whoever gets at a wallet's settings gets the payments. */
async function mailWalletChange(
  app: App,
  trx: Trx,
  { id, name }: { readonly id: string; readonly name: string },
  before: Wallet | null,
  after: Wallet,
): Promise<void> {
  if (before?.firstAddress === after.firstAddress && before.source === after.source) return;
  const at = app.clock();
  const { actor } = app;
  await enqueueForOwners(app, trx, id, {
    occasion: `wallet ${newId(app, at)}`,
    content: {
      kind: 'wallet_changed',
      project: { id, name },
      network: after.network,
      by: actor?.name ?? 'Cointill',
      ip: actor?.ip ?? null,
      at,
      before: before === null ? null : destinationOf(before),
      after: destinationOf(after),
    },
    isWanted: ({ choices }) => choices.walletChanged,
  });
}

/** Where the money ends up, as an owner knows it: contracts are between customers and a treasury. */
function destinationOf({ kind, source, firstAddress }: Wallet): string {
  return kind === 'treasury' ? source : firstAddress;
}

/** What the audit log keeps of a wallet. Its keys are public ones. */
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

function walletChanges(before: Wallet, after: Wallet): readonly string[] {
  const same = before.firstAddress === after.firstAddress;
  const changes = [
    ...(same
      ? []
      : [
          `This is another wallet than before (${before.kind} ${before.source}): new payments go to it, those that exist keep their addresses.`,
        ]),
    ...(same && (before.source !== after.source || before.kind !== after.kind)
      ? [
          `The same wallet in another form: before it was ${before.kind} ${before.source}. Its addresses stay the same, and the next one is number ${after.nextIndex}.`,
        ]
      : []),
    ...(before.confirmations === after.confirmations
      ? []
      : [`Confirmations from now on: ${confirmationsText(after)} (before: ${confirmationsText(before)}).`]),
    ...(toleranceText(before) === toleranceText(after)
      ? []
      : [`Tolerance from now on: ${toleranceText(after)} (before: ${toleranceText(before)}).`]),
  ];
  return changes.length > 0 ? changes : ['The wallet was set like this already.'];
}

function confirmationsText({ confirmations }: Wallet): string {
  return confirmations === null ? 'by the amount, the default' : String(confirmations);
}

function toleranceText({ toleranceBasisPoints }: Wallet): string {
  return `${(toleranceBasisPoints ?? DEFAULT_TOLERANCE_BASIS_POINTS) / 100} %`;
}

function indexChange(nextIndex: number, firstIndex: number): readonly string[] {
  if (firstIndex === nextIndex) return [];
  return [
    firstIndex > nextIndex
      ? `The next address is number ${firstIndex}; numbers ${nextIndex} to ${firstIndex - 1} are left out.`
      : `The next address stays number ${nextIndex}, for those below it were handed out or left out before: --first-index only goes up.`,
  ];
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

/**
 * The wallet's first addresses in the form that customers see: those already handed out, which for a treasury may come
 * from an earlier factory, and those to come. Null: the service is not on the wallet's chain.
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
  return deriver.addressesAt(0, count).map((address, index) => {
    const own = issued.get(index);
    return own === undefined ? address : shownAddress(network, own);
  });
}

/** The confirmations that a wallet's payments need, by amount; a single tier if the merchant set a number. */
export function confirmationTiers({ network, confirmations }: Wallet): readonly ConfirmationTier[] {
  return confirmations === null ? NETWORK_FACTS[network].confirmations : [{ belowUsdCents: null, confirmations }];
}

function isWhole(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}
