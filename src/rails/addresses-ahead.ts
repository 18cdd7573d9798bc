import type { Network } from '../domain/networks.ts';
import type { DeriveAddresses } from './derive-addresses.ts';
import type { WalletSource } from './family.ts';

/** The next addresses of wallets, derived ahead of time while no addresses are requested. */
export interface AddressesAhead {
  /**
   * Answers as `DeriveAddresses` does, at once if the addresses were derived before. The caller knows which indexes are
   * free: the wallet's addresses below `from` are forgotten, and the next ones are derived when there are no requests.
   */
  readonly take: DeriveAddresses;
  /** Stops deriving ahead of time. */
  stop(): void;
}

/** Somewhat more than a shop may sell at once after a quiet minute. */
const MAX_AHEAD = 1_200;
/** The most recently used wallets: 60,000 addresses in total, about 6 MB. */
const MAX_WALLETS = 50;
/** How long there must have been no requests. */
const IDLE_MS = 200;
/** How many addresses are derived at once: a request for others waits some milliseconds. */
const SLICE = 20;

interface Ahead {
  readonly network: Network;
  readonly source: WalletSource;
  /** The index of the first of `addresses`, which are consecutive. */
  from: number;
  addresses: readonly string[];
}

export function createAddressesAhead(derive: DeriveAddresses): AddressesAhead {
  // In the order of their last use.
  const wallets = new Map<string, Ahead>();
  let timer: NodeJS.Timeout | null = null;
  let stopped = false;

  const wait = (ms: number): void => {
    if (timer !== null) clearTimeout(timer);
    timer = stopped ? null : setTimeout(() => void deriveSome(), ms).unref();
  };

  const deriveSome = async (): Promise<void> => {
    timer = null;
    const [next] = [...wallets].toReversed().filter(([, { addresses }]) => addresses.length < MAX_AHEAD);
    if (next === undefined) return;
    const [key, wallet] = next;
    const end = wallet.from + wallet.addresses.length;
    const count = Math.min(SLICE, MAX_AHEAD - wallet.addresses.length);
    // If addresses cannot be derived, a request for them fails with the reason.
    const more = await derive(wallet.network, wallet.source, end, count).catch(() => null);
    if (more === null) wallets.delete(key);
    else if (wallet.from + wallet.addresses.length === end) wallet.addresses = [...wallet.addresses, ...more];
    if (timer === null) wait(0);
  };

  return {
    take: async (network, source, from, count) => {
      const key = `${network} ${source.kind} ${source.text}`;
      const wallet = wallets.get(key) ?? { network, source, from, addresses: [] };
      wallets.delete(key);
      wallets.set(key, wallet);
      for (const [oldest] of wallets) {
        if (wallets.size <= MAX_WALLETS) break;
        wallets.delete(oldest);
      }
      const isKnown = from >= wallet.from && from <= wallet.from + wallet.addresses.length;
      wallet.addresses = isKnown ? wallet.addresses.slice(from - wallet.from) : [];
      wallet.from = from;
      wait(IDLE_MS);
      const ready = wallet.addresses.slice(0, count);
      if (ready.length === count) return ready;
      const rest = await derive(network, source, from + ready.length, count - ready.length);
      return rest && [...ready, ...rest];
    },
    stop: () => {
      stopped = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}
