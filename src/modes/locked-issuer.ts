import type { Token } from '../domain/asset.ts';
import { offeredCoins } from '../domain/coin-choice.ts';
import { settingOf, requiredConfirmations, type Network } from '../domain/networks.ts';
import type { AddressesAhead } from '../rails/addresses-ahead.ts';
import type { RateSource } from '../rates/source.ts';
import { withSpread } from '../rates/spread.ts';
import type { Statement, StatementRunner } from '../store/pipeline.ts';
import { matchingAddress } from '../rails/address.ts';
import {
  addressesInRefunds,
  expectWallets,
  lockWallets,
  takeIndexes,
  type LockedWallet,
  type TakenAddresses,
} from '../store/wallet-locks.ts';
import type { TakenIndex } from '../store/issued-addresses.ts';
import { DEFAULT_TOLERANCE_BASIS_POINTS, type Issued, type LockedIssuer, type Rail, type WantedToken } from './rail.ts';

export interface LockedIssuerOptions {
  readonly rates: RateSource;
  /** The tokens that the service's nodes can see, most popular first. */
  readonly tokens: readonly Token[];
  readonly addresses: AddressesAhead;
}

/** On the wallet's own terms, or on the default ones. */
export function issuedFrom(taken: TakenIndex, network: Network, address: string, amountUsdCents: bigint): Issued {
  return {
    kind: 'issued',
    address,
    wallet: {
      id: taken.walletId,
      index: taken.index,
      confirmations: taken.confirmations ?? requiredConfirmations(network, amountUsdCents),
      toleranceBasisPoints: taken.toleranceBasisPoints ?? DEFAULT_TOLERANCE_BASIS_POINTS,
      monitoringHours: taken.monitoringHours,
    },
  };
}

/** A project's wallet on a network. */
interface Place {
  readonly projectId: string;
  readonly network: Network;
}

/** The predicted wallet of a place; null if there is none. */
interface PredictedWallet {
  readonly wallet: LockedWallet | null;
}

/** Bounds memory: beyond this, predictions start over. */
const MAX_PREDICTED = 10_000;

/** `network address` of each address that is passed over. */
type PassedOver = ReadonlySet<string>;
const NOTHING_PASSED_OVER: PassedOver = new Set();

/**
 * Locks the wallets that may be needed for the wanted tokens, and issues addresses from them in memory. While nobody
 * else uses a wallet, its state is predicted from the last batch: the lock is then sent together with what is saved,
 * and rolls everything back if the wallet's state is different after all (docs/design/group-commit.md). So does an
 * address that stands in a refund: only then are the next addresses compared with refunds, and such ones passed over
 * (docs/design/refunds.md).
 */
export function createLock(options: LockedIssuerOptions): NonNullable<Rail['lock']> {
  const prediction = createPrediction();
  return async (runner, wanted, { mayPredict }) => {
    const places = placesOf(options.tokens, wanted);
    if (places.length === 0) return issuerOf(options, places, [], NOTHING_PASSED_OVER, () => []);
    const predicted = mayPredict ? prediction.of(places) : null;
    // What is refused saves nothing, so that nothing would check the prediction by which it is refused.
    if (predicted !== null && wanted.every((one) => isOffered(options.tokens, predicted, one))) {
      return issuerOf(options, places, predicted, NOTHING_PASSED_OVER, (used) => {
        prediction.taken(used);
        return [expectWallets(places, predicted), takeIndexes(used)];
      });
    }
    const locked = await lockWallets(runner, places);
    prediction.locked(places, locked);
    const passedOver = mayPredict ? NOTHING_PASSED_OVER : await readPassedOver(runner, options, places, locked);
    return issuerOf(options, places, locked, passedOver, (used) => {
      prediction.taken(used);
      return [takeIndexes(used)];
    });
  };
}

/** Which of the next addresses of these locked wallets stand in a refund. */
async function readPassedOver(
  runner: StatementRunner,
  { addresses }: LockedIssuerOptions,
  places: readonly (Place & { readonly count: number })[],
  locked: readonly LockedWallet[],
): Promise<PassedOver> {
  const passedOver = new Set<string>();
  for (const { network, kind, source, nextIndex } of locked) {
    let from = nextIndex;
    // Projects that share a wallet may together take as many of its addresses as are wanted.
    let wanted = places.reduce((sum, place) => sum + (place.network === network ? place.count : 0), 0);
    while (wanted > 0) {
      const next = addresses.of(network, { kind, text: source }, from, wanted);
      if (next === null) break;
      const named = await addressesInRefunds(
        runner,
        network,
        next.map((address) => matchingAddress(network, address)),
      );
      for (const address of named) passedOver.add(`${network} ${address}`);
      from += wanted;
      wanted = named.size;
    }
  }
  return passedOver;
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

function isOffered(
  tokens: readonly Token[],
  locked: readonly LockedWallet[],
  { projectId, asset, network }: WantedToken,
): boolean {
  return offeredBy(tokens, locked, projectId).offered.some(
    (token) => token.asset === asset && (network === null || token.network === network),
  );
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

/** The last known state of wallets, and what their next index should be by now. Never used without being checked. */
function createPrediction() {
  const places = new Map<string, PredictedWallet>();
  const nextIndexes = new Map<string, number>();
  // Others use these wallets too, or what was taken was not saved.
  const unreliable = new Set<string>();
  return {
    /** Null if anything is unknown or unreliable. */
    of: (wanted: readonly Place[]): readonly LockedWallet[] | null => {
      const known: LockedWallet[] = [];
      for (const place of wanted) {
        const wallet = places.get(keyOf(place))?.wallet;
        if (wallet === undefined || (wallet !== null && unreliable.has(nameOf(wallet)))) return null;
        if (wallet !== null) known.push({ ...wallet, nextIndex: nextIndexes.get(nameOf(wallet)) ?? wallet.nextIndex });
      }
      return known.length === 0 ? null : known;
    },
    locked: (wanted: readonly Place[], locked: readonly LockedWallet[]): void => {
      if (places.size > MAX_PREDICTED) {
        for (const memory of [places, nextIndexes, unreliable]) memory.clear();
      }
      for (const place of wanted) places.set(keyOf(place), { wallet: null });
      for (const wallet of locked) {
        const name = nameOf(wallet);
        const expected = nextIndexes.get(name);
        if (expected === undefined || expected === wallet.nextIndex) unreliable.delete(name);
        else unreliable.add(name);
        places.set(keyOf(wallet), { wallet });
        nextIndexes.set(name, wallet.nextIndex);
      }
    },
    taken: (used: readonly TakenAddresses[]): void => {
      for (const taken of used) nextIndexes.set(nameOf(taken), taken.nextIndex);
    },
  };
}

/** Quotes and issues from these wallets; `save` makes the statements that save what was issued. */
function issuerOf(
  { rates, tokens, addresses }: LockedIssuerOptions,
  places: readonly (Place & { readonly count: number })[],
  locked: readonly LockedWallet[],
  passedOver: PassedOver,
  save: (used: readonly TakenAddresses[]) => readonly Statement[],
): LockedIssuer {
  const wallets = new Map(locked.map((wallet) => [keyOf(wallet), wallet]));
  const ratesOf = new Map(locked.map((wallet) => [wallet.projectId, withSpread(rates, wallet.spreadBasisPoints)]));
  const counts = new Map(places.map((place) => [keyOf(place), place.count]));
  // Projects that share a wallet take indexes from the same sequence.
  const takers = new Map(
    [...Map.groupBy(locked, nameOf)].map(([name, sharers]) => {
      const count = sharers.reduce((sum, sharer) => sum + (counts.get(keyOf(sharer)) ?? 0), 0);
      return [name, indexTaker(sharers, count, addresses, passedOver)];
    }),
  );
  return {
    rates,
    ratesFor: (projectId) => ratesOf.get(projectId) ?? rates,
    tokens: (projectId) => offeredBy(tokens, locked, projectId).offered,
    payable: (projectId) => offeredBy(tokens, locked, projectId).payable,
    issue: ({ projectId, amountUsdCents }, { network }) => {
      const wallet = wallets.get(keyOf({ projectId, network }));
      const taker = wallet === undefined ? undefined : takers.get(nameOf(wallet));
      if (wallet === undefined || taker === undefined) return noWallet(network);
      if (wallet.haltedReason !== null) return halted(network);
      const next = taker.take(wallet);
      return next === null
        ? { kind: 'no_method', message: otherChain(network) }
        : issuedFrom({ ...wallet, index: next.index }, network, next.address, amountUsdCents);
    },
    taken: () => {
      const used = [...takers.values()].flatMap((taker) => taker.used());
      return used.length === 0 ? [] : save(used);
    },
  };
}

/** Hands out the next indexes of a locked wallet with their addresses, at most `count`, without those passed over. */
function indexTaker(
  [first]: readonly LockedWallet[],
  count: number,
  addresses: AddressesAhead,
  passedOver: PassedOver,
) {
  if (first === undefined) throw new Error('A group has one at least.');
  const { network, firstAddress, nextIndex: from } = first;
  // By source, because the same wallet may be written in several forms.
  const lists = new Map<string, readonly string[] | null>();
  const issued: string[] = [];
  let nextIndex = from;
  return {
    /** Null if the source of the wallet cannot be parsed. */
    take: ({ kind, source }: LockedWallet): { readonly index: number; readonly address: string } | null => {
      const list = lists.get(source) ?? addresses.of(network, { kind, text: source }, from, count + passedOver.size);
      lists.set(source, list);
      for (let address = list?.[nextIndex - from]; address !== undefined; address = list?.[nextIndex - from]) {
        const index = nextIndex;
        nextIndex += 1;
        const watched = matchingAddress(network, address);
        if (passedOver.has(`${network} ${watched}`)) continue;
        issued.push(watched);
        return { index, address };
      }
      return null;
    },
    used: (): readonly TakenAddresses[] =>
      issued.length === 0 ? [] : [{ network, firstAddress, nextIndex, addresses: issued }],
  };
}

/** Why a token of this network cannot be paid. */
export function noWallet(network: Network): Issued {
  return { kind: 'no_method', message: `No wallet is set for ${network}.` };
}

/** What a client is told while a wallet is halted; the reason is only for the operator. */
export function halted(network: Network): Issued {
  return {
    kind: 'no_method',
    message: `Payments on ${network} are paused: no new addresses are handed out until the operator has looked after it (cointill network status says why).`,
  };
}

/** Why a project's wallet cannot be used: it was set for a test chain, and the service is on another one. */
export function otherChain(network: Network): string {
  return (
    `The stored ${network} wallet cannot be read: it was set for another chain of ${network}. ` +
    `Set ${settingOf(network, 'CHAIN')} as it was, or set the wallet again with: cointill wallet set`
  );
}
