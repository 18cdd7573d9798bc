import type { AssetCode, Network } from '../../domain/asset.ts';
import { formatDecimal } from '../../domain/money.ts';
import type { Mode } from '../../domain/permission.ts';

type EvmNetwork = Exclude<Network, 'bitcoin' | 'litecoin'>;

/** EIP-155 chain ids; in test mode those of the public test networks, so that no wallet offers to send real money. */
const CHAIN_IDS: Readonly<Record<Mode, Readonly<Record<EvmNetwork, number>>>> = {
  live: { ethereum: 1, polygon: 137, base: 8453, arbitrum: 42161, bsc: 56 },
  test: { ethereum: 11155111, polygon: 80002, base: 84532, arbitrum: 421614, bsc: 97 },
};

/** The chain that the operator's node is on, and the token's contract there (null: the chain's own coin). */
export interface EvmChain {
  readonly chainId: number;
  readonly contract: string | null;
}

export interface UriRequest {
  readonly mode: Mode;
  readonly asset: AssetCode;
  readonly network: Network;
  readonly decimals: number;
  /** What is to be sent, in the token's smallest units. */
  readonly units: bigint;
  readonly address: string;
  /** Null: the network's usual chain for this mode. */
  readonly evm: EvmChain | null;
}

/**
 * The payment URI that wallets read from a QR code or a link: BIP 21 (amount in whole coins) or EIP-681 (value in base
 * units, written out because not every wallet reads exponents). Null for a token whose contract is not given.
 */
export function paymentUri({ mode, asset, network, decimals, units, address, evm }: UriRequest): string | null {
  if (network === 'bitcoin' || network === 'litecoin') {
    return `${network}:${address}?amount=${formatDecimal(units, decimals)}`;
  }
  const chainId = evm?.chainId ?? CHAIN_IDS[mode][network];
  if (asset === 'ETH') return `ethereum:${address}@${chainId}?value=${units}`;
  if (!evm?.contract) return null;
  return `ethereum:${evm.contract}@${chainId}/transfer?address=${address}&uint256=${units}`;
}
