import type { Network } from '../domain/asset.ts';
import { NETWORK_FACTS } from '../domain/network.ts';
import type { WalletDeriver } from './chain.ts';
import { parseTreasury } from './evm/deposit.ts';
import { parseEvmXpub } from './evm/wallet.ts';
import { utxoParams, type UtxoChain, type UtxoNetwork } from './utxo/params.ts';
import { spendingWarnings } from './utxo/spending-warnings.ts';
import { parseUtxoWallet } from './utxo/wallet.ts';

/** What a wallet's addresses come from, as the merchant gives it. */
export interface WalletSource {
  readonly kind: 'xpub' | 'descriptor' | 'treasury';
  readonly text: string;
}

export type WalletCheck =
  | {
      readonly kind: 'ok';
      readonly source: string;
      readonly note: string | null;
      /** What will not work with the wallet as it was given, and the way out. */
      readonly warnings: readonly string[];
      readonly deriver: WalletDeriver;
    }
  | { readonly kind: 'bad'; readonly message: string };

/** Which chain of each network of Bitcoin's family is meant: addresses of test chains are written differently. */
export type UtxoChains = Readonly<Record<UtxoNetwork, UtxoChain>>;

export const MAIN_CHAINS: UtxoChains = { bitcoin: 'main', litecoin: 'main' };

/**
 * Reads what a wallet of `network` is derived from. Private keys and recovery phrases are recognised first and refused; no
 * message repeats any part of what was given.
 */
export function parseWallet(network: Network, { kind, text }: WalletSource, chains: UtxoChains): WalletCheck {
  if (network === 'bitcoin' || network === 'litecoin') {
    if (kind === 'treasury') {
      return bad(`${NETWORK_FACTS[network].name} has no deposit contracts. Give --xpub or --descriptor instead.`);
    }
    const params = utxoParams(network, chains[network]);
    if (params === null) return bad(`${NETWORK_FACTS[network].name} has no chain called ${chains[network]}.`);
    const parsed = parseUtxoWallet(params, { kind, text });
    return parsed.kind === 'ok'
      ? {
          kind: 'ok',
          source: parsed.source,
          note: parsed.note,
          warnings: spendingWarnings(params, parsed.spending),
          deriver: parsed.deriver,
        }
      : parsed;
  }
  switch (kind) {
    case 'descriptor':
      return bad('Output descriptors are for Bitcoin and Litecoin. Give --treasury or --xpub instead.');
    case 'treasury': {
      const parsed = parseTreasury(text);
      return parsed.kind === 'ok'
        ? { kind: 'ok', source: parsed.treasury, note: null, warnings: [], deriver: parsed.deriver }
        : parsed;
    }
    case 'xpub': {
      const parsed = parseEvmXpub(text);
      return parsed.kind === 'ok'
        ? { kind: 'ok', source: parsed.xpub, note: null, warnings: [], deriver: parsed.deriver }
        : parsed;
    }
  }
}

/** The addresses of a wallet; null when it cannot be read, such as one of another chain of its network. */
export type WalletOpener = (network: Network, source: WalletSource) => WalletDeriver | null;

/** Opens wallets that were checked before, and keeps the last ones: reading an extended key costs more than an address. */
export function createWalletOpener(chains: UtxoChains): WalletOpener {
  const MOST = 1_000;
  const known = new Map<string, WalletDeriver>();
  return (network, source) => {
    const key = `${network} ${source.kind} ${source.text}`;
    const open = known.get(key);
    if (open !== undefined) return open;
    const parsed = parseWallet(network, source, chains);
    if (parsed.kind === 'bad') return null;
    if (known.size >= MOST) known.clear();
    known.set(key, parsed.deriver);
    return parsed.deriver;
  };
}

function bad(message: string): WalletCheck {
  return { kind: 'bad', message };
}
