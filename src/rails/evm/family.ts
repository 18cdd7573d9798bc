import { nativeAsset, NETWORK_FACTS, UTXO_NETWORKS, type EvmNetwork } from '../../domain/networks.ts';
import type { NetworkFamily, WalletCheck, WalletSource } from '../family.ts';
import { toChecksumAddress } from './address.ts';
import { createEvmCaller, type EvmCaller } from './caller.ts';
import { parseTreasury } from './deposit.ts';
import { checkEvmPayout } from './payout-address.ts';
import { createEvmSource } from './source.ts';
import type { TokenContracts } from './tokens.ts';
import { parseEvmXpub } from './wallet.ts';

export interface EvmNodes {
  readonly family: 'evm';
  readonly network: EvmNetwork;
  readonly urls: readonly string[];
  /** The chain that they must be on (EIP-155). */
  readonly chainId: number;
  readonly tokens: TokenContracts;
}

const UTXO_LABELS = UTXO_NETWORKS.map((network) => NETWORK_FACTS[network].label).join(' and ');

/** Ethereum and the chains that work like it. Addresses and wallets are the same on all of them. */
export const evmFamily = {
  rulesOf: (network) => ({
    checkPayoutAddress: (text, _chain, contracts) => checkEvmPayout(network, text, contracts),
    // Nodes write lower case; the case of letters is only a checksum.
    matchingAddress: (address) => address.toLowerCase(),
    shownAddress: toChecksumAddress,
    transactionHash: (digits) => `0x${digits}`,
    testAddress: (digits) => toChecksumAddress(`0x${digits}`),
    parseWallet: parseEvmWallet,
    payoutChain: () => 'main',
  }),
  createSource: ({ network, urls, chainId, tokens }, access) =>
    createEvmSource({ ...access, network, nativeAsset: nativeAsset(network), urls, chainId, tokens }),
  createCaller: ({ network, urls, chainId }, access) => createEvmCaller({ ...access, network, urls, chainId }),
} satisfies NetworkFamily<EvmNetwork, EvmNodes, EvmCaller>;

const FINE = { kind: 'ok', note: null, warnings: [] } as const;

function parseEvmWallet({ kind, text }: WalletSource): WalletCheck {
  switch (kind) {
    case 'descriptor':
      return {
        kind: 'invalid',
        message: `Output descriptors are for ${UTXO_LABELS}. Give --treasury or --xpub instead.`,
      };
    case 'treasury': {
      const parsed = parseTreasury(text);
      if (parsed.kind === 'invalid') return parsed;
      return { ...FINE, source: parsed.treasury, addressKind: 'deposit', deriver: parsed.deriver };
    }
    case 'xpub': {
      const parsed = parseEvmXpub(text);
      if (parsed.kind === 'invalid') return parsed;
      return { ...FINE, source: parsed.xpub, addressKind: 'account', deriver: parsed.deriver };
    }
  }
}
