import type { Network, Token } from '../domain/asset.ts';
import { REFUND_LIFETIME_MS } from '../domain/refund.ts';
import type { AddressesAhead } from '../rails/addresses-ahead.ts';
import type { WalletOpener } from '../rails/wallet.ts';
import type { RateSource } from '../rates/source.ts';
import { withSpread } from '../rates/spread.ts';
import { confirmationsOf, issuedNetworks, readSeenUpTo } from '../store/chain.ts';
import type { Database } from '../store/database.ts';
import { spreadOf } from '../store/projects.ts';
import { findAddressIndex, takeAddressIndex, walletNetworks } from '../store/wallets.ts';
import { createLock, issuedFrom, noWallet, otherChain } from './locked-issuer.ts';
import type { Rail } from './rail.ts';

/** How long a cursor's time is believed before it is read again. */
const CURSOR_FRESH_MS = 500;

export interface ChainRailOptions {
  readonly db: Database;
  readonly rates: RateSource;
  /** The tokens that the service's nodes can see, the most popular first. */
  readonly tokens: readonly Token[];
  readonly openWallet: WalletOpener;
  /** Where a batch's addresses come from. */
  readonly addresses: AddressesAhead;
  readonly evmChain: Rail['evmChain'];
  readonly payoutChain: Rail['payoutChain'];
}

/** The rail of live mode: addresses from the merchant's wallets, money from the chains' cursors. */
export function chainRail(options: ChainRailOptions): Rail {
  const { db, rates, tokens, openWallet, evmChain, payoutChain } = options;
  const cursors = new Map<Network, { readonly readAt: number; readonly seenUpTo: number }>();

  const seenUpTo = async (network: Network, now: number): Promise<number> => {
    const known = cursors.get(network);
    if (known !== undefined && now - known.readAt < CURSOR_FRESH_MS && now >= known.readAt) return known.seenUpTo;
    const upTo = (await readSeenUpTo(db, network)) ?? 0;
    cursors.set(network, { readAt: now, seenUpTo: upTo });
    return upTo;
  };

  return {
    rates,
    ratesFor: async (projectId, trx) => withSpread(rates, await spreadOf(trx ?? db, projectId)),
    tokens: async (projectId, trx) => {
      const wallets = await walletNetworks(trx ?? db, projectId);
      return tokens.filter((token) => wallets.has(token.network));
    },
    issue: async (payment, { network }, trx) => {
      const taken = await takeAddressIndex(trx ?? db, payment.projectId, network);
      if (taken === null) return noWallet(network);
      const wallet = openWallet(network, { kind: taken.kind, text: taken.source });
      if (wallet === null) {
        return { kind: 'no_method', message: otherChain(network) };
      }
      return issuedFrom(taken, network, wallet.addressAt(taken.index), payment.amountUsdCents);
    },
    lock: createLock(options),
    completesAt: () => null,
    dueView: async (payment, now) => {
      // Money on an earlier quote restores it, so every network that an address was given out on must have been seen.
      const networks = payment.quote === null ? [] : await issuedNetworks(db, payment.id);
      const times = await Promise.all(networks.map((network) => seenUpTo(network, now)));
      return { kind: 'seen_up_to', at: Math.min(now, ...times) };
    },
    addressIndex: (payment) => (payment.quote === null ? null : findAddressIndex(db, payment.id, payment.quote)),
    confirmations: (payment) => (payment.quote === null ? null : confirmationsOf(db, payment.id)),
    evmChain,
    simulate: null,
    payoutChain,
    refundOutcome: () => ({ afterMs: REFUND_LIFETIME_MS, observation: { kind: 'failed', reason: 'unpaid' } }),
  };
}
