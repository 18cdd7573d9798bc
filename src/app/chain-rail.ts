import type { Network, Token } from '../domain/asset.ts';
import { requiredConfirmations } from '../domain/network.ts';
import { REFUND_LIFETIME_MS } from '../domain/refund.ts';
import { shownAddress } from '../rails/address.ts';
import type { WalletOpener } from '../rails/wallet.ts';
import type { RateSource } from '../rates/source.ts';
import { withSpread } from '../rates/spread.ts';
import { confirmationsOf, issuedNetworks, readSeenUpTo } from '../store/chain.ts';
import type { Database } from '../store/database.ts';
import { spreadOf } from '../store/projects.ts';
import { findAddressIndex, heldAddress, takeAddressIndex, walletNetworks } from '../store/wallets.ts';
import { DEFAULT_TOLERANCE_BASIS_POINTS } from './quote-payment.ts';
import type { Rail } from './rail.ts';

export interface ChainRailOptions {
  readonly db: Database;
  readonly rates: RateSource;
  /** The tokens that the service's nodes can see, the most popular first. */
  readonly tokens: readonly Token[];
  readonly openWallet: WalletOpener;
  readonly evmChain: Rail['evmChain'];
  readonly payoutChain: Rail['payoutChain'];
}

/** The rail of live mode: addresses from the merchant's wallets, money from the chains' cursors. */
export function chainRail({ db, rates, tokens, openWallet, evmChain, payoutChain }: ChainRailOptions): Rail {
  return {
    rates,
    ratesFor: async (projectId, trx) => withSpread(rates, await spreadOf(trx ?? db, projectId)),
    tokens: async (projectId, trx) => {
      const wallets = await walletNetworks(trx ?? db, projectId);
      return tokens.filter((token) => wallets.has(token.network));
    },
    issue: async (payment, { network }, trx) => {
      const taken = await takeAddressIndex(trx ?? db, payment.projectId, network);
      if (taken === null) return { kind: 'no_method', message: `No wallet is set for ${network}.` };
      const wallet = openWallet(network, { kind: taken.kind, text: taken.source });
      if (wallet === null) {
        return { kind: 'no_method', message: otherChain(network) };
      }
      return {
        kind: 'issued',
        address: wallet.addressAt(taken.index),
        wallet: {
          id: taken.walletId,
          index: taken.index,
          confirmations: taken.confirmations ?? requiredConfirmations(network, payment.amountUsdCents),
          toleranceBasisPoints: taken.toleranceBasisPoints ?? DEFAULT_TOLERANCE_BASIS_POINTS,
        },
      };
    },
    held: async (payment, { network }, trx) => {
      const held = await heldAddress(trx, payment.id, network);
      if (held === null) return null;
      if (openWallet(network, { kind: held.kind, text: held.source }) === null) {
        return { kind: 'no_method', message: otherChain(network) };
      }
      return {
        kind: 'issued',
        address: shownAddress(network, held.address),
        wallet: {
          id: held.walletId,
          index: held.index,
          confirmations: held.confirmations,
          toleranceBasisPoints: held.toleranceBasisPoints ?? DEFAULT_TOLERANCE_BASIS_POINTS,
        },
      };
    },
    completesAt: () => null,
    dueViews: async (payments, now, trx) => {
      const quoted = payments.filter(({ quote }) => quote !== null).map(({ id }) => id);
      // Money on an earlier quote restores it, so every network that an address was given out on must have been seen.
      const networks = await issuedNetworks(trx, quoted);
      const seenUpTo = await readSeenUpTo(trx);
      return new Map(
        payments.map(({ id }) => {
          const times = (networks.get(id) ?? []).map((network) => seenUpTo.get(network) ?? 0);
          return [id, { kind: 'seen_up_to', at: Math.min(now, ...times) }];
        }),
      );
    },
    addressIndex: (payment) => (payment.quote === null ? null : findAddressIndex(db, payment.id, payment.quote)),
    confirmations: (payment) => (payment.quote === null ? null : confirmationsOf(db, payment.id)),
    evmChain,
    simulate: null,
    payoutChain,
    refundOutcome: () => ({ afterMs: REFUND_LIFETIME_MS, observation: { kind: 'failed', reason: 'unpaid' } }),
  };
}

/** What a project's wallet that cannot be read has to be told: it was set for a test chain, and the service is on another. */
export function otherChain(network: Network): string {
  return (
    `The stored ${network} wallet cannot be read: it was set for another chain of ${network}. ` +
    `Set ${network.toUpperCase()}_CHAIN as it was, or set the wallet again with: cointill wallet set`
  );
}
