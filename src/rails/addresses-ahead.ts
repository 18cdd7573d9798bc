import type { Network } from '../domain/networks.ts';
import type { WalletDeriver } from './chain.ts';
import type { WalletSource } from './family.ts';
import type { WalletOpener } from './wallet.ts';

/** Addresses of wallets, derived in bulk, and ahead of time while nothing else asks for them. */
export interface AddressesAhead {
  /**
   * The addresses of a wallet from number `from` on, `count` of them; null when it cannot be read. Which numbers are
   * free is for the caller to know: this is a memory of derivations, and forgets those below `from`.
   */
  of(network: Network, source: WalletSource, from: number, count: number): readonly string[] | null;
  /** Derives nothing more by itself. */
  stop(): void;
}

/** What a shop may sell in one go after a quiet minute, and somewhat more. */
const MAX_AHEAD = 1_200;
/** The wallets used last: 60,000 addresses in all, some 6 MB. */
const MAX_WALLETS = 50;
/** Nobody has asked for so long. */
const IDLE_MS = 200;
/** One to two milliseconds of work at a time, and a pause in which requests get their turn. */
const SLICE = 16;
const PAUSE_MS = 4;

interface Ahead {
  readonly deriver: WalletDeriver;
  /** The number of the first of `addresses`, which are one after the other. */
  from: number;
  addresses: string[];
}

export function createAddressesAhead(openWallet: WalletOpener): AddressesAhead {
  // In the order of their last use.
  const wallets = new Map<string, Ahead>();
  let timer: NodeJS.Timeout | null = null;
  let stopped = false;

  const wait = (ms: number): void => {
    if (timer !== null) clearTimeout(timer);
    timer = stopped ? null : setTimeout(deriveSome, ms).unref();
  };

  const deriveSome = (): void => {
    timer = null;
    const [next] = [...wallets].toReversed().filter(([, { addresses }]) => addresses.length < MAX_AHEAD);
    if (next === undefined) return;
    const [key, wallet] = next;
    try {
      deriveTo(wallet, Math.min(MAX_AHEAD, wallet.addresses.length + SLICE));
    } catch {
      // Whoever asks for these addresses is told why they cannot be had.
      wallets.delete(key);
    }
    wait(PAUSE_MS);
  };

  return {
    of: (network, source, from, count) => {
      const key = `${network} ${source.kind} ${source.text}`;
      const known = wallets.get(key);
      const deriver = known?.deriver ?? openWallet(network, source);
      if (deriver === null) return null;
      const wallet = known ?? { deriver, from, addresses: [] };
      wallets.delete(key);
      wallets.set(key, wallet);
      for (const [oldest] of wallets) {
        if (wallets.size <= MAX_WALLETS) break;
        wallets.delete(oldest);
      }
      const isKnown = from >= wallet.from && from <= wallet.from + wallet.addresses.length;
      wallet.addresses = isKnown ? wallet.addresses.slice(from - wallet.from) : [];
      wallet.from = from;
      deriveTo(wallet, count);
      wait(IDLE_MS);
      return wallet.addresses.slice(0, count);
    },
    stop: () => {
      stopped = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}

/** Has this many addresses at hand. Throws RangeError where the wallet has no more. */
function deriveTo(wallet: Ahead, count: number): void {
  const { deriver, from, addresses } = wallet;
  const missing = count - addresses.length;
  if (missing > 0) addresses.push(...deriver.addressesAt(from + addresses.length, missing));
}
