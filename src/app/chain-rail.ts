import { ASSETS, tokenOf, type Network, type Token } from '../domain/asset.ts';
import { REFUND_LIFETIME_MS } from '../domain/refund.ts';
import type { WalletDeriver } from '../rails/chain.ts';
import { parseEvmXpub } from '../rails/evm/wallet.ts';
import type { RateSource } from '../rates/source.ts';
import { readCursor } from '../store/chain.ts';
import type { Database } from '../store/database.ts';
import { listWallets, takeAddressIndex } from '../store/wallets.ts';
import type { Rail } from './rail.ts';

/** Ether on Ethereum: about two and a half minutes, past which no reorganisation was ever seen on the main chain. */
export const DEFAULT_CONFIRMATIONS = 12;

/** How long a cursor's time is believed before it is read again. */
const CURSOR_FRESH_MS = 500;
const MOST_DERIVERS = 1_000;

/** The rail of live mode: addresses from the merchant's wallets, money from the chains' cursors. */
export function chainRail(db: Database, rates: RateSource, networks: readonly Network[]): Rail {
  const derivers = new Map<string, WalletDeriver>();
  const cursors = new Map<Network, { readonly readAt: number; readonly blockAt: number }>();

  const deriverOf = (source: string): WalletDeriver => {
    const known = derivers.get(source);
    if (known !== undefined) return known;
    const parsed = parseEvmXpub(source);
    if (parsed.kind === 'bad')
      throw new Error('A stored wallet cannot be read; set it again with: cointill wallet set');
    if (derivers.size >= MOST_DERIVERS) derivers.clear();
    derivers.set(source, parsed.deriver);
    return parsed.deriver;
  };

  const seenUpTo = async (network: Network, now: number): Promise<number> => {
    const known = cursors.get(network);
    if (known !== undefined && now - known.readAt < CURSOR_FRESH_MS && now >= known.readAt) return known.blockAt;
    const blockAt = (await readCursor(db, network))?.blockAt ?? 0;
    cursors.set(network, { readAt: now, blockAt });
    return blockAt;
  };

  return {
    rates,
    tokens: async (projectId, trx) => {
      const wallets = new Set((await listWallets(trx ?? db, projectId)).map((wallet) => wallet.network));
      return networks.filter((network) => wallets.has(network)).flatMap(nativeToken);
    },
    issue: async (payment, token, trx) => {
      const taken = await takeAddressIndex(trx ?? db, payment.projectId, token.network);
      if (taken === null) return { kind: 'no_method', message: `No wallet is set for ${token.network}.` };
      const address = deriverOf(taken.source).addressAt(taken.index);
      return { kind: 'issued', address, wallet: { id: taken.walletId, index: taken.index } };
    },
    completesAt: () => null,
    dueView: async (payment, now) => ({
      kind: 'seen_up_to',
      at: payment.quote === null ? now : await seenUpTo(payment.quote.network, now),
    }),
    simulate: null,
    refundOutcome: () => ({ afterMs: REFUND_LIFETIME_MS, observation: { kind: 'failed', reason: 'unpaid' } }),
  };
}

/** The coin that a network's own fees are paid in. */
function nativeToken(network: Network): readonly Token[] {
  const asset = Object.values(ASSETS).find((candidate) => candidate.networks.keys().next().value === network);
  const token = asset === undefined ? null : tokenOf(asset.code, network);
  return token === null ? [] : [token];
}
