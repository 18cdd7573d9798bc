import type { AssetCode } from './asset-code.ts';
import {
  ETHER,
  evm,
  FAMILY_FACTS,
  tiers,
  token,
  utxo,
  type EvmFacts,
  type FamilyFacts,
  type NetworkFacts,
  type UtxoFacts,
} from './network-facts.ts';

/** BIP 44: by default, wallets stop scanning after this many unused addresses in a row. */
export const GAP_LIMIT = 20;

/**
 * The networks, one row each, in the order in which the API lists them. `docs/how-to/add-an-evm-chain.md` says where to
 * find the facts for a new one. Addresses and first blocks of the UTXO chains are in `rails/utxo/params.ts`.
 *
 * The confirmations grow with the amount: below 1,000 USD, below 100,000 USD, and above. On Bitcoin the middle tier is
 * the customary six blocks; on Ethereum it is past justification and the last one past finality (two epochs).
 *
 * USDC: https://developers.circle.com/stablecoins/usdc-contract-addresses, always the native contract; bridged versions
 * (USDC.e, USDbC) are other tokens. USDT: https://tether.to/en/supported-protocols for Ethereum; on Polygon and
 * Arbitrum the contracts made by the chains' own bridges, which are USDT0 today (https://docs.usdt0.to). On BNB Chain
 * neither issuer has a contract: those are Binance's pegged tokens, with 18 decimals
 * (https://www.binance.com/en/collateral-btokens).
 */
const ROWS = {
  bitcoin: utxo({
    label: 'Bitcoin',
    // Bitcoin Core's dust limit for P2PKH.
    coin: { asset: 'BTC', decimals: 8, dustUnits: 546n },
    coinType: 0,
    smallestUnit: 'sat',
    legacyPrefix: '1…',
    rpcPort: 8_332,
    dustUnitsPerKvb: 3_000n,
    hasMweb: false,
    blockMs: 600_000,
    fees: 'high',
    explorer: 'https://mempool.space',
    confirmations: tiers(2, 6, 12),
  }),
  ethereum: evm({
    label: 'Ethereum',
    standard: 'ERC-20',
    chainId: 1,
    testChainId: 11_155_111,
    coin: ETHER,
    tokens: {
      USDT: token('0xdAC17F958D2ee523a2206206994597C13D831ec7', 6),
      USDC: token('0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', 6),
    },
    tokenUriWallets: ['Trust Wallet'],
    blockMs: 12_000,
    fees: 'high',
    explorer: 'https://etherscan.io',
    publicNode: 'https://ethereum.reth.rs/rpc',
    confirmations: tiers(12, 32, 64),
  }),
  litecoin: utxo({
    label: 'Litecoin',
    coin: { asset: 'LTC', decimals: 8, dustUnits: 5_460n },
    coinType: 2,
    smallestUnit: 'litoshi',
    legacyPrefix: 'L…',
    rpcPort: 9_332,
    dustUnitsPerKvb: 30_000n,
    hasMweb: true,
    blockMs: 150_000,
    fees: 'low',
    explorer: 'https://litecoinspace.org',
    confirmations: tiers(6, 12, 24),
  }),
  polygon: evm({
    label: 'Polygon',
    chainId: 137,
    testChainId: 80_002,
    gasCoin: 'POL',
    tokens: {
      USDT: token('0xc2132D05D31c914a87C6611C10748AEb04B58e8F', 6),
      USDC: token('0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', 6),
    },
    // Logs of state syncs, that is of tokens that arrive over its bridge: https://github.com/0xPolygon/bor/pull/90.
    hasUnshownLogs: true,
    blockMs: 2_000,
    explorer: 'https://polygonscan.com',
    publicNode: 'https://polygon.drpc.org',
    confirmations: tiers(64, 128, 256),
  }),
  base: evm({
    label: 'Base',
    chainId: 8_453,
    testChainId: 84_532,
    coin: ETHER,
    tokens: { USDC: token('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', 6) },
    blockMs: 2_000,
    explorer: 'https://basescan.org',
    publicNode: 'https://mainnet.base.org',
    confirmations: tiers(30, 300, 900),
  }),
  arbitrum: evm({
    label: 'Arbitrum One',
    chainId: 42_161,
    testChainId: 421_614,
    coin: ETHER,
    tokens: {
      USDT: token('0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9', 6),
      USDC: token('0xaf88d065e77c8cC2239327C5EDb3A432268e5831', 6),
    },
    blockMs: 250,
    explorer: 'https://arbiscan.io',
    publicNode: 'https://arb1.arbitrum.io/rpc',
    confirmations: tiers(120, 1_200, 4_800),
  }),
  bsc: evm({
    label: 'BNB Smart Chain',
    standard: 'BEP-20',
    aliases: ['binance smart chain', 'bep20'],
    chainId: 56,
    testChainId: 97,
    gasCoin: 'BNB',
    tokens: {
      USDT: token('0x55d398326f99059fF775485246999027B3197955', 18),
      USDC: token('0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d', 18),
    },
    blockMs: 750,
    explorer: 'https://bscscan.com',
    publicNode: 'https://56.rpc.thirdweb.com',
    confirmations: tiers(20, 40, 120),
  }),
  optimism: evm({
    label: 'Optimism',
    aliases: ['op mainnet'],
    chainId: 10,
    testChainId: null,
    coin: ETHER,
    tokens: {
      // The contract of the chain's own bridge; USDT0 is another contract here.
      USDT: token('0x94b008aA00579c1307B0EF2c499aD98a8ce58e58', 6),
      USDC: token('0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85', 6),
    },
    blockMs: 2_000,
    explorer: 'https://optimistic.etherscan.io',
    publicNode: 'https://mainnet.optimism.io',
    confirmations: tiers(30, 300, 900),
  }),
} satisfies Readonly<Record<string, NetworkFacts>>;

type Rows = typeof ROWS;
export type Network = keyof Rows;
type NetworkOf<Facts> = { [Key in Network]: Rows[Key] extends Facts ? Key : never }[Network];
export type UtxoNetwork = NetworkOf<UtxoFacts>;
export type EvmNetwork = NetworkOf<EvmFacts>;

export const NETWORK_FACTS: Readonly<Record<UtxoNetwork, UtxoFacts> & Record<EvmNetwork, EvmFacts>> = ROWS;

/** The chains that payments can be made on. */
export const NETWORKS: readonly Network[] = Object.keys(ROWS).filter(isNetwork);
export const UTXO_NETWORKS: readonly UtxoNetwork[] = NETWORKS.filter(isUtxoNetwork);
export const EVM_NETWORKS: readonly EvmNetwork[] = NETWORKS.filter(isEvmNetwork);

export function isNetwork(name: string): name is Network {
  return Object.hasOwn(ROWS, name);
}

export function isUtxoNetwork(network: Network): network is UtxoNetwork {
  return NETWORK_FACTS[network].family === 'utxo';
}

export function isEvmNetwork(network: Network): network is EvmNetwork {
  return NETWORK_FACTS[network].family === 'evm';
}

/** A value for each of these networks. */
export function perNetwork<Some extends Network, Value>(
  networks: readonly Some[],
  valueOf: (network: Some) => Value,
): Readonly<Record<Some, Value>> {
  return Object.fromEntries(networks.map((network) => [network, valueOf(network)])) as Record<Some, Value>;
}

/** The network's coin, if payments are accepted in it. */
export function nativeAsset(network: Network): AssetCode | null {
  return NETWORK_FACTS[network].coin?.asset ?? null;
}

/** The name of the setting for a network's nodes, such as `ETHEREUM_RPC_URL`. */
export function settingOf(network: Network, what: 'RPC_URL' | 'COOKIE_FILE' | 'CHAIN' | 'CHAIN_ID' | 'TOKENS'): string {
  return `${network.toUpperCase()}_${what}`;
}

/** The facts that the network shares with all of its family. */
export function familyFacts(network: Network): FamilyFacts {
  return FAMILY_FACTS[NETWORK_FACTS[network].family];
}

/** The page of the explorer at this origin that shows a transaction. */
export function transactionPage(explorer: string, hash: string): string {
  return `${explorer}/tx/${encodeURIComponent(hash)}`;
}

/** The page of the explorer at this origin that shows an address, given in its display form. */
export function addressPage(explorer: string, address: string): string {
  return `${explorer}/address/${encodeURIComponent(address)}`;
}

/** How many confirmations a payment of this amount needs on a network. */
export function requiredConfirmations(network: Network, amountUsdCents: bigint): number {
  const { confirmations } = NETWORK_FACTS[network];
  const tier = confirmations.find(({ belowUsdCents }) => belowUsdCents === null || amountUsdCents < belowUsdCents);
  return tier?.confirmations ?? 1;
}
