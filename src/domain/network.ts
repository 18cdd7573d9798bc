import type { AssetCode, Network } from './asset.ts';

/** How many confirmations a payment needs that is worth less than so many US cents; the last tier has no bound. */
export interface ConfirmationTier {
  readonly belowUsdCents: bigint | null;
  readonly confirmations: number;
}

/** BIP 44: wallets look no further than this many unused addresses, unless told to. */
export const GAP_LIMIT = 20;

export interface NetworkFacts {
  readonly name: string;
  /** `utxo`: Bitcoin Core's JSON-RPC; `evm`: Ethereum's. */
  readonly family: 'utxo' | 'evm';
  /** What fees are paid in; null where Cointill takes tokens only. */
  readonly nativeAsset: AssetCode | null;
  /** Mean time between blocks. */
  readonly blockMs: number;
  /** From the smallest amount on. */
  readonly confirmations: readonly ConfirmationTier[];
}

const THOUSAND_USD = 100_000n;

function tiers(small: number, middle: number, large: number): readonly ConfirmationTier[] {
  return [
    { belowUsdCents: THOUSAND_USD, confirmations: small },
    { belowUsdCents: 100n * THOUSAND_USD, confirmations: middle },
    { belowUsdCents: null, confirmations: large },
  ];
}

/**
 * The networks as data. Confirmations grow with what is at stake: below 1,000 USD, below 100,000 USD, and above. On
 * Bitcoin the middle one is the customary six blocks; on Ethereum it is past justification and the last one past finality (two epochs).
 */
export const NETWORK_FACTS: Readonly<Record<Network, NetworkFacts>> = {
  bitcoin: {
    name: 'Bitcoin',
    family: 'utxo',
    nativeAsset: 'BTC',
    blockMs: 600_000,
    confirmations: tiers(2, 6, 12),
  },
  litecoin: {
    name: 'Litecoin',
    family: 'utxo',
    nativeAsset: 'LTC',
    blockMs: 150_000,
    confirmations: tiers(6, 12, 24),
  },
  ethereum: { name: 'Ethereum', family: 'evm', nativeAsset: 'ETH', blockMs: 12_000, confirmations: tiers(12, 32, 64) },
  polygon: { name: 'Polygon', family: 'evm', nativeAsset: null, blockMs: 2_000, confirmations: tiers(64, 128, 256) },
  base: { name: 'Base', family: 'evm', nativeAsset: 'ETH', blockMs: 2_000, confirmations: tiers(30, 300, 900) },
  arbitrum: {
    name: 'Arbitrum',
    family: 'evm',
    nativeAsset: 'ETH',
    blockMs: 250,
    confirmations: tiers(120, 1_200, 4_800),
  },
  bsc: { name: 'BNB Chain', family: 'evm', nativeAsset: null, blockMs: 750, confirmations: tiers(20, 40, 120) },
};

/** The confirmations that a payment of this worth needs on a network. */
export function requiredConfirmations(network: Network, amountUsdCents: bigint): number {
  const { confirmations } = NETWORK_FACTS[network];
  const tier = confirmations.find(({ belowUsdCents }) => belowUsdCents === null || amountUsdCents < belowUsdCents);
  return tier?.confirmations ?? 1;
}
