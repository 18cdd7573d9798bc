import { nativeAsset, NETWORK_FACTS, UTXO_NETWORKS, type EvmNetwork } from '../../domain/networks.ts';
import { invalid } from '../../domain/sentence.ts';
import type { NetworkFamily, WalletCheck, WalletSource, AddressCheck } from '../family.ts';
import { toChecksumAddress, parseEvmAddress } from './address.ts';
import { createEvmCaller, type EvmCaller } from './caller.ts';
import { parseTreasury, isDepositMachinery } from './deposit.ts';
import { createEvmSource } from './source.ts';
import { type TokenContracts, EVM_TOKENS } from './tokens.ts';
import { parseEvmXpub } from './wallet.ts';

/** The first 2^16 addresses: the zero address, the chains' own contracts, and room for more of them. */
const RESERVED_ADDRESS = /^0x0{36}/;

/**
 * Checks an address for a payout; refuses addresses whose key nobody has. `contracts` are tokens' contracts in addition
 * to the well-known ones.
 */
function checkEvmPayout(network: EvmNetwork, text: string, contracts: readonly string[]): AddressCheck {
  const checked = parseEvmAddress(text);
  if (checked.kind === 'invalid') return checked;
  const { address } = checked;
  const tokens = [...contracts, ...EVM_TOKENS[network].values().map(({ contract }) => contract)];
  const isToken = tokens.some((contract) => toChecksumAddress(contract) === address);
  const code = /^0x0{40}$/.test(address)
    ? 'address_zero'
    : RESERVED_ADDRESS.test(address)
      ? 'address_reserved'
      : isToken
        ? 'address_token'
        : isDepositMachinery(address)
          ? 'address_factory'
          : null;
  return code === null ? checked : { ...invalid(code), deadEnd: true };
}

export interface EvmNodes {
  readonly family: 'evm';
  readonly network: EvmNetwork;
  readonly urls: readonly string[];
  /** The chain that the nodes must be on (EIP-155). */
  readonly chainId: number;
  readonly tokens: TokenContracts;
}

const UTXO_LABELS = UTXO_NETWORKS.map((network) => NETWORK_FACTS[network].label);

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
      return invalid('descriptor_not_evm', {
        networks: UTXO_LABELS.slice(0, -1).join(', '),
        last: UTXO_LABELS.at(-1) ?? '',
      });
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
