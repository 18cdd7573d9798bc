import type { AssetCode } from './asset-code.ts';
import type { Family } from './network-facts.ts';
import { nativeAsset, NETWORK_FACTS, UTXO_NETWORKS, type Network } from './networks.ts';
import { formatDecimal } from './money.ts';

/** The chain id of an EVM network's nodes (EIP-155), and the token's contract there; null: the chain's own coin. */
export interface EvmChain {
  readonly chainId: number;
  readonly contract: string | null;
}

export interface UriRequest {
  readonly asset: AssetCode;
  readonly network: Network;
  readonly decimals: number;
  /** The amount to send, in the token's smallest units. */
  readonly units: bigint;
  readonly address: string;
  /** Null on networks that are not EVM chains, and where the chain id is unknown. */
  readonly evm: EvmChain | null;
}

/**
 * The payment URI that wallets read from a QR code or a link: BIP 21 (amount in whole coins) or EIP-681 (amount in base
 * units, written out because not every wallet reads exponents). Null if the chain or the token's contract is unknown.
 */
export function paymentUri(request: UriRequest): string | null {
  return URIS[NETWORK_FACTS[request.network].family](request);
}

const URIS: Readonly<Record<Family, (request: UriRequest) => string | null>> = {
  utxo: ({ network, address, units, decimals }) => `${network}:${address}?amount=${formatDecimal(units, decimals)}`,
  evm: ({ asset, network, units, address, evm }) => {
    if (evm === null) return null;
    if (asset === nativeAsset(network)) return `${EVM_SCHEME}:${address}@${evm.chainId}?value=${units}`;
    if (evm.contract === null) return null;
    return `${EVM_SCHEME}:${evm.contract}@${evm.chainId}/transfer?address=${address}&uint256=${units}`;
  },
};

/** EIP-681 uses this scheme on every EVM chain. */
const EVM_SCHEME = 'ethereum';

/** The schemes of the payment URIs written here. */
export const URI_SCHEMES: readonly string[] = [...UTXO_NETWORKS, EVM_SCHEME];

/** A transaction of an EVM chain that transfers a coin or a token. */
export interface EvmTransfer {
  /** EIP-155 chain id. */
  readonly chainId: number;
  /** The recipient of the transaction: the payee, or the token's contract. */
  readonly to: string;
  /** In wei. */
  readonly value: bigint;
  readonly data: string;
}

/** `transfer(address,uint256)` of ERC-20. */
const TRANSFER = '0xa9059cbb';

/**
 * The transaction that a wallet signs to send `units` to `address`; null if the chain or the token's contract is
 * unknown.
 */
export function evmTransfer({ asset, network, units, address, evm }: UriRequest): EvmTransfer | null {
  if (evm === null) return null;
  const { chainId, contract } = evm;
  if (asset === nativeAsset(network)) return { chainId, to: address, value: units, data: '0x' };
  if (contract === null) return null;
  const word = (hex: string): string => hex.padStart(64, '0');
  return {
    chainId,
    to: contract,
    value: 0n,
    data: TRANSFER + word(address.slice(2).toLowerCase()) + word(units.toString(16)),
  };
}
