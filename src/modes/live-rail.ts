import { tokenOf, type Token } from '../domain/asset.ts';
import { cheapFirst, offeredCoins } from '../domain/coin-choice.ts';
import { REFUND_LIFETIME_MS } from '../domain/refund.ts';
import { derivingWith, type DeriveAddresses } from '../rails/derive-addresses.ts';
import { shownAddress } from '../rails/address.ts';
import type { WalletOpener } from '../rails/wallet.ts';
import type { RateSource } from '../rates/source.ts';
import { withSpread } from '../rates/spread.ts';
import { readSeenUpTo } from '../store/chains/chain.ts';
import { confirmationsOf, issuedNetworks } from '../store/wallets/watched-addresses.ts';
import type { Database, Trx } from '../store/database.ts';
import { coinChoiceOf, spreadOf } from '../store/projects/projects.ts';
import { walletNetworks } from '../store/wallets/wallets.ts';
import { heldAddress } from '../store/wallets/issued-addresses.ts';
import { lockIssuer, otherChain } from './locked-issuer.ts';
import { DEFAULT_TOLERANCE_BASIS_POINTS, type ChainRail } from './rail.ts';

export interface ChainRailOptions {
  readonly db: Database;
  readonly rates: RateSource;
  /** The tokens that the service's nodes can see, most popular first. */
  readonly tokens: readonly Token[];
  readonly openWallet: WalletOpener;
  /** The default derives in this thread. */
  readonly derive?: DeriveAddresses;
  /** Derives the addresses of payments, most of which were derived ahead of time. */
  readonly nextAddresses?: DeriveAddresses;
  readonly evmChain: ChainRail['evmChain'];
  readonly payoutChain: ChainRail['payoutChain'];
}

/** The rail of live mode: addresses from the merchant's wallets, money up to the chains' cursors. */
export function chainRail(options: ChainRailOptions): ChainRail {
  const {
    db,
    rates,
    tokens,
    openWallet,
    evmChain,
    payoutChain,
    derive = derivingWith(openWallet),
    nextAddresses = derive,
  } = options;
  const lock: NonNullable<ChainRail['lock']> = (runner, wanted) =>
    lockIssuer({ rates, tokens, nextAddresses }, runner, wanted);
  return {
    kind: 'chain',
    openWallet,
    derive,
    rates,
    seenTokens: tokens,
    ratesFor: async (projectId, trx) => withSpread(rates, await spreadOf(trx ?? db, projectId)),
    ...offerOf(db, tokens),
    issue: async (payment, token, trx) => {
      if (trx === undefined) throw new Error('An address must be issued in a transaction.');
      const issuer = await lock(trx, [{ projectId: payment.projectId, ...token }]);
      const issued = await issuer.issue(payment, token);
      for (const statement of issuer.taken()) await trx.executeQuery(statement);
      return issued;
    },
    lock,
    held: async (payment, { network }, trx) => {
      const held = await heldAddress(trx, payment.id, network);
      if (held === null) return null;
      if (openWallet(network, { kind: held.kind, text: held.source }) === null) {
        return { kind: 'no_method', ...otherChain(network) };
      }
      return {
        kind: 'issued',
        address: shownAddress(network, held.address),
        wallet: {
          id: held.walletId,
          index: held.index,
          afterBlock: held.afterBlock,
          confirmations: held.confirmations,
          toleranceBasisPoints: held.toleranceBasisPoints ?? DEFAULT_TOLERANCE_BASIS_POINTS,
          monitoringHours: held.monitoringHours,
        },
      };
    },
    completesAt: () => null,
    dueViews: async (payments, now, trx) => {
      const quoted = payments.filter(({ quote }) => quote !== null).map(({ id }) => id);
      // Money on an earlier quote makes it current again, so every network on which the payment has an address must
      // have been seen.
      const networks = await issuedNetworks(trx, quoted);
      const seenUpTo = await readSeenUpTo(trx);
      return new Map(
        payments.map(({ id }) => {
          const times = (networks.get(id) ?? []).map((network) => seenUpTo.get(network) ?? 0);
          return [id, { kind: 'seen_up_to', at: Math.min(now, ...times) }];
        }),
      );
    },
    confirmations: (payment) => (payment.quote === null ? null : confirmationsOf(db, payment.id)),
    evmChain,
    payoutChain,
    refundOutcome: () => ({ afterMs: REFUND_LIFETIME_MS, observation: { kind: 'failed', reason: 'unpaid' } }),
  };
}

/** The tokens that the project's customers are offered, out of all that the service's nodes can see. */
function offerOf(
  db: Database,
  tokens: readonly Token[],
): Pick<ChainRail, 'tokens' | 'payable' | 'listed' | 'decimals'> {
  const payable = async (projectId: string, trx?: Trx): Promise<readonly Token[]> => {
    const wallets = await walletNetworks(trx ?? db, projectId);
    return tokens.filter((token) => wallets.has(token.network));
  };
  return {
    tokens: async (projectId, trx) => {
      const possible = await payable(projectId, trx);
      return offeredCoins(possible, await coinChoiceOf(trx ?? db, projectId));
    },
    payable,
    listed: async (projectId) => {
      const choice = await coinChoiceOf(db, projectId);
      const offered = offeredCoins(await payable(projectId), choice);
      return choice.order.length === 0 ? cheapFirst(offered) : offered;
    },
    decimals: ({ asset, network }) =>
      (tokens.find((token) => token.asset === asset && token.network === network) ?? tokenOf(asset, network))
        ?.decimals ?? null,
  };
}
