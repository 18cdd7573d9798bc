import { MAX_SPREAD, skipOf } from '../../domain/recovery.ts';
import { matchingAddress } from '../../rails/address.ts';
import type { ChainSource, ChainTransfer } from '../../rails/chain.ts';
import type { DeriveAddresses } from '../../rails/derive-addresses.ts';
import {
  aheadWallets,
  busiestDay,
  findUnissued,
  forgetIssued,
  saveSkippedWatch,
  unwatchedSkipped,
  watchUnissued,
  type UnissuedAddress,
  type UnwatchedRange,
} from '../../store/wallets/unissued.ts';
import type { App } from '../context.ts';

/**
 * How many addresses beyond a wallet's next one are watched. A restored copy continues after the range that a recovery
 * skips, and the original must see what that copy sells: this is one and a half times the range for a two-day-old
 * backup, because three quarters of it are always watched.
 */
function watchedAhead(busiestDay: number): number {
  return Math.ceil(1.5 * (skipOf(busiestDay, COPY_AGE_MS) + MAX_SPREAD));
}
const COPY_AGE_MS = 2 * 24 * 60 * 60_000;
/** Once this share of the watched addresses was handed out, more are added. */
const REFILL_SHARE = 0.25;
/** How long a wallet's measured pace is used. */
const PACE_FOR_MS = 6 * 60 * 60_000;
/**
 * How many addresses are derived and saved at once: an order whose addresses are not derived yet waits for the batch.
 */
const BATCH = 50;
const WALLETS_AT_ONCE = 10;

/** Watches addresses that this database never handed out: skipped ones, and the next ones. */
export interface UnissuedWatch {
  /** Returns which of these transfers went to such addresses, by address, once all skipped addresses are watched. */
  find(transfers: readonly ChainTransfer[]): Promise<ReadonlyMap<string, UnissuedAddress>>;
}

export function createUnissuedWatch(
  { db, clock }: Pick<App, 'db' | 'clock'>,
  { network }: Pick<ChainSource, 'network'>,
  derive: DeriveAddresses,
): UnissuedWatch {
  const distances = new Map<string, { readonly distance: number; readonly at: number }>();

  const distanceOf = async (firstAddress: string): Promise<number> => {
    const now = clock();
    const known = distances.get(firstAddress);
    if (known !== undefined && Math.abs(now - known.at) < PACE_FOR_MS) return known.distance;
    const distance = watchedAhead(await busiestDay(db, network, firstAddress, now));
    distances.set(firstAddress, { distance, at: now });
    return distance;
  };

  /** The wallets with too few watched addresses ahead, and the missing ranges. */
  async function lackingAhead(): Promise<readonly UnwatchedRange[]> {
    const lacking: UnwatchedRange[] = [];
    for (const wallet of await aheadWallets(db, network)) {
      if (lacking.length === WALLETS_AT_ONCE) break;
      const { nextIndex, watchedTo } = wallet;
      const distance = await distanceOf(wallet.firstAddress);
      if (watchedTo + 1 >= nextIndex + Math.ceil(distance * (1 - REFILL_SHARE))) continue;
      lacking.push({ ...wallet, from: Math.max(nextIndex, watchedTo + 1), to: nextIndex + distance });
    }
    return lacking;
  }

  /**
   * Watches a range of addresses; returns true once all are watched. A wallet of another chain of the network has no
   * addresses here.
   */
  async function watch(
    { firstAddress, kind, source, from, to }: UnwatchedRange,
    onPiece: (watchedTo: number) => Promise<void> = async () => {},
  ): Promise<void> {
    for (let start = from; start < to; start += BATCH) {
      const count = Math.min(BATCH, to - start);
      const derived = await derive(network, { kind, text: source }, start, count);
      if (derived === null) return;
      const addresses = derived.map((address, place) => ({
        address: matchingAddress(network, address),
        index: start + place,
      }));
      await watchUnissued(db, network, firstAddress, addresses);
      await onPiece(start + count);
    }
  }

  return {
    find: async (transfers) => {
      for (const range of await unwatchedSkipped(db, network)) {
        await watch(range, (watchedTo) => saveSkippedWatch(db, network, range, watchedTo));
      }
      for (const range of await lackingAhead()) {
        await forgetIssued(db, network, range.firstAddress);
        await watch(range);
      }
      if (transfers.length === 0) return new Map();
      const addresses = [...new Set(transfers.map(({ address }) => address))];
      return new Map((await findUnissued(db, network, addresses)).map((one) => [one.address, one]));
    },
  };
}
