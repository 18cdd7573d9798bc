import type { Network } from '../domain/networks.ts';
import type { WalletDeriver } from './chain.ts';
import type { WalletSource } from './family.ts';
import type { WalletOpener } from './wallet.ts';

/** Derives addresses of wallets in bulk, and ahead of time while the process is idle. */
export interface AddressesAhead {
  /**
   * `count` addresses of a wallet from index `from` on; null if the wallet cannot be read. The caller knows which
   * indexes are free: this is a cache of derivations, which drops those below `from`.
   */
  of(network: Network, source: WalletSource, from: number, count: number): readonly string[] | null;
  /** Stops deriving ahead of time. */
  stop(): void;
}

/** Somewhat more than a shop may sell at once after a quiet minute. */
const MAX_AHEAD = 1_200;
/** The most recently used wallets: 60,000 addresses in total, about 6 MB. */
const MAX_WALLETS = 50;
/** How long nobody must have asked for addresses. */
const IDLE_MS = 200;
/** One to two milliseconds of work at a time, then a pause for requests. */
const SLICE = 16;
const PAUSE_MS = 4;

interface Ahead {
  readonly deriver: WalletDeriver;
  /** The index of the first of `addresses`, which are consecutive. */
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
      // Whoever asks for these addresses gets the reason why they cannot be derived.
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

/** Derives until this many addresses are available. Throws RangeError if the wallet has no more. */
function deriveTo(wallet: Ahead, count: number): void {
  const { deriver, from, addresses } = wallet;
  const missing = count - addresses.length;
  if (missing > 0) addresses.push(...deriver.addressesAt(from + addresses.length, missing));
}
