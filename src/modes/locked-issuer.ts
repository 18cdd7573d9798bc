import type { Token } from '../domain/asset.ts';
import { offeredCoins } from '../domain/coin-choice.ts';
import { settingOf, requiredConfirmations, type Network } from '../domain/networks.ts';
import type { Refusal } from '../domain/way-out.ts';
import type { DeriveAddresses } from '../rails/derive-addresses.ts';
import type { RateSource } from '../rates/source.ts';
import { withSpread } from '../rates/spread.ts';
import type { StatementRunner } from '../store/pipeline.ts';
import { matchingAddress } from '../rails/address.ts';
import { addressesInRefunds, lockWallets, takeIndexes, type LockedWallet } from '../store/wallets/wallet-locks.ts';
import { DEFAULT_TOLERANCE_BASIS_POINTS, type LockedIssuer, type WantedToken } from './rail.ts';

export interface LockedIssuerOptions {
  readonly rates: RateSource;
  /** The tokens that the service's nodes can see, most popular first. */
  readonly tokens: readonly Token[];
  /** Derives the next addresses of a wallet, most of which were derived ahead of time. */
  readonly nextAddresses: DeriveAddresses;
}

/**
 * Locks the wallets that may be needed for the requested tokens, and issues their next addresses from memory, except
 * those that a refund names (docs/design/group-commit.md).
 */
export async function lockIssuer(
  { rates, tokens, nextAddresses }: LockedIssuerOptions,
  runner: StatementRunner,
  wanted: readonly WantedToken[],
): Promise<LockedIssuer> {
  const places = placesOf(tokens, wanted);
  const locked = places.length === 0 ? [] : await lockWallets(runner, places);
  const counts = new Map(places.map((place) => [keyOf(place), place.count]));
  // Projects that share a wallet take indexes from the same sequence.
  const takers = new Map(
    [...Map.groupBy(locked, nameOf)].map(([name, sharers]) => {
      const count = sharers.reduce((sum, sharer) => sum + (counts.get(keyOf(sharer)) ?? 0), 0);
      return [name, indexTaker(sharers, (wallet) => freeIndexes(runner, nextAddresses, wallet, count))];
    }),
  );
  const wallets = new Map(locked.map((wallet) => [keyOf(wallet), wallet]));
  const ratesOf = new Map(locked.map((wallet) => [wallet.projectId, withSpread(rates, wallet.spreadBasisPoints)]));
  return {
    rates,
    ratesFor: (projectId) => ratesOf.get(projectId) ?? rates,
    tokens: (projectId) => offeredBy(tokens, locked, projectId).offered,
    payable: (projectId) => offeredBy(tokens, locked, projectId).payable,
    issue: async ({ projectId, amountUsdCents }, { network }) => {
      const wallet = wallets.get(keyOf({ projectId, network }));
      if (wallet === undefined) return { kind: 'no_method', message: `No wallet is set for ${network}.` };
      if (wallet.haltedReason !== null) return { kind: 'no_method', ...halted(network) };
      const next = await takers.get(nameOf(wallet))?.take();
      if (next === undefined) return { kind: 'no_method', ...otherChain(network) };
      return {
        kind: 'issued',
        address: next.address,
        wallet: {
          id: wallet.walletId,
          index: next.index,
          afterBlock: wallet.readBlock,
          confirmations: wallet.confirmations ?? requiredConfirmations(network, amountUsdCents),
          toleranceBasisPoints: wallet.toleranceBasisPoints ?? DEFAULT_TOLERANCE_BASIS_POINTS,
          monitoringHours: wallet.monitoringHours,
        },
      };
    },
    taken: () => {
      const used = [...takers.values()].flatMap((taker) => taker.used());
      return used.length === 0 ? [] : [takeIndexes(used)];
    },
  };
}

interface FreeIndex {
  readonly index: number;
  /** The address in the form that customers see. */
  readonly address: string;
}

/** The next indexes of a locked wallet whose addresses no refund names; none if its source cannot be parsed. */
async function freeIndexes(
  runner: StatementRunner,
  nextAddresses: DeriveAddresses,
  { network, kind, source, nextIndex }: LockedWallet,
  count: number,
): Promise<readonly FreeIndex[]> {
  const free: FreeIndex[] = [];
  for (let from = nextIndex; free.length < count;) {
    const next = await nextAddresses(network, { kind, text: source }, from, count - free.length);
    if (next === null) return [];
    const watched = next.map((address) => matchingAddress(network, address));
    const named = await addressesInRefunds(runner, network, watched);
    for (const [place, address] of next.entries()) {
      if (!named.has(watched[place] ?? '')) free.push({ index: from + place, address });
    }
    from += next.length;
  }
  return free;
}

/** Hands out the free indexes of a wallet in order; the first request finds all of them. */
function indexTaker(
  [wallet]: readonly LockedWallet[],
  freeOf: (wallet: LockedWallet) => Promise<readonly FreeIndex[]>,
) {
  let free: Promise<readonly FreeIndex[]> | undefined;
  let last: FreeIndex | undefined;
  let count = 0;
  return {
    /** The next free index; undefined if there is none. */
    take: async (): Promise<FreeIndex | undefined> => {
      if (wallet === undefined) return undefined;
      const next = (await (free ??= freeOf(wallet)))[count];
      if (next === undefined) return undefined;
      count += 1;
      last = next;
      return next;
    },
    used: () => (wallet === undefined || last === undefined ? [] : [{ ...wallet, nextIndex: last.index + 1 }]),
  };
}

/** The tokens that a project's customers are offered, by its locked wallets. */
function offeredBy(
  tokens: readonly Token[],
  locked: readonly LockedWallet[],
  projectId: string,
): { readonly payable: readonly Token[]; readonly offered: readonly Token[] } {
  const own = locked.filter((wallet) => wallet.projectId === projectId);
  const payable = tokens.filter(({ network }) => own.some((wallet) => wallet.network === network));
  const [first] = own;
  if (first === undefined) return { payable, offered: payable };
  return { payable, offered: offeredCoins(payable, { order: first.coinOrder, off: first.coinsOff }) };
}

/** A project's wallet on a network. */
interface Place {
  readonly projectId: string;
  readonly network: Network;
}

/** The wallets that the tokens may be paid to, and how many addresses each may need. */
function placesOf(tokens: readonly Token[], wanted: readonly WantedToken[]): readonly (Place & { count: number })[] {
  const places = new Map<string, Place & { count: number }>();
  for (const { projectId, asset, network: named } of wanted) {
    for (const { asset: possible, network } of tokens) {
      if (possible !== asset || (named !== null && network !== named)) continue;
      const place = places.get(keyOf({ projectId, network })) ?? { projectId, network, count: 0 };
      place.count += 1;
      places.set(keyOf(place), place);
    }
  }
  return [...places.values()];
}

function keyOf({ projectId, network }: Place): string {
  return `${projectId} ${network}`;
}

/** Identifies a wallet: projects that share a wallet share its addresses. */
function nameOf({ network, firstAddress }: Pick<LockedWallet, 'network' | 'firstAddress'>): string {
  return `${network} ${firstAddress}`;
}

/** The refusal while a wallet is halted, for clients; the reason is only for the operator. */
function halted(network: Network): Refusal {
  return {
    message: `Payments on ${network} are paused. No new addresses are handed out until the operator has solved a problem`,
    wayOut: { kind: 'network_status' },
  };
}

/** Why a project's wallet cannot be used: it was set for a test chain, and the service is on another one. */
export function otherChain(network: Network): Refusal {
  const message =
    `The stored ${network} wallet cannot be read, because it was set for another chain of ${network}. ` +
    `Set ${settingOf(network, 'CHAIN')} as it was, or set the wallet again`;
  return { message, wayOut: { kind: 'set_wallet' } };
}
