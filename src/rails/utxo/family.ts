import { NETWORK_FACTS, type UtxoNetwork } from '../../domain/networks.ts';
import type { NetworkFamily, WalletCheck, WalletSource, UtxoChains } from '../family.ts';
import { checkUtxoPayout } from './address.ts';
import { createUtxoCaller, type UtxoCaller } from './caller.ts';
import { utxoParams, type UtxoChain, type UtxoParams } from './params.ts';
import { createUtxoSource } from './source.ts';
import { spendingWarnings } from './spending-warnings.ts';
import { parseUtxoWallet } from './wallet.ts';
import { witnessAddress } from './witness-address.ts';

export interface UtxoNodes {
  readonly family: 'utxo';
  readonly network: UtxoNetwork;
  readonly urls: readonly string[];
  /** The chain that they must be on. */
  readonly chain: UtxoChain;
  /** For URLs without credentials; null: there is none. */
  readonly cookieFile: string | null;
}

/** Bitcoin and the chains whose nodes are derived from Bitcoin Core. */
export const utxoFamily = {
  rulesOf: (network) => {
    const testPrefix = existing(network, 'test').address.bech32;
    return {
      checkPayoutAddress: (text, chain) => checkUtxoPayout(network, text, chain),
      matchingAddress: (address) => address,
      shownAddress: (address) => address,
      transactionHash: (digits) => digits,
      testAddress: (digits) => witnessAddress(testPrefix, digits),
      parseWallet: (source, chains) => parseWallet(network, source, chains),
      payoutChain: (chains) => chains[network],
    };
  },
  createSource: ({ network, chain, urls, cookieFile }, access) => {
    const { asset } = NETWORK_FACTS[network].coin;
    return createUtxoSource({ ...access, params: existing(network, chain), asset, urls, cookieFile });
  },
  createCaller: ({ network, chain, urls, cookieFile }, access) => {
    const params = existing(network, chain);
    return { ...createUtxoCaller({ ...access, params, urls, cookieFile }), params };
  },
} satisfies NetworkFamily<UtxoNetwork, UtxoNodes, UtxoCaller & { readonly params: UtxoParams }>;

function existing(network: UtxoNetwork, chain: UtxoChain): UtxoParams {
  const params = utxoParams(network, chain);
  if (params === null) throw new Error(`${network} has no chain ${chain}`);
  return params;
}

function parseWallet(network: UtxoNetwork, { kind, text }: WalletSource, chains: UtxoChains): WalletCheck {
  const { label } = NETWORK_FACTS[network];
  if (kind === 'treasury') {
    return { kind: 'invalid', message: `${label} has no deposit contracts. Give --xpub or --descriptor instead.` };
  }
  const params = utxoParams(network, chains[network]);
  if (params === null) return { kind: 'invalid', message: `${label} has no chain called ${chains[network]}.` };
  const parsed = parseUtxoWallet(params, { kind, text });
  if (parsed.kind === 'invalid') return parsed;
  const { source, scriptType: addressKind, note, deriver } = parsed;
  return { kind: 'ok', source, addressKind, note, warnings: spendingWarnings(params, parsed.spending), deriver };
}
