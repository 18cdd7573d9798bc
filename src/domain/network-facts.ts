import type { AssetCode } from './asset-code.ts';
import { pow10 } from './money.ts';

/** How many confirmations a payment worth less than `belowUsdCents` needs; the last tier has no bound. */
export interface ConfirmationTier {
  readonly belowUsdCents: bigint | null;
  readonly confirmations: number;
}

/** The coin that pays fees, if payments are accepted in it. */
export interface Coin {
  readonly asset: AssetCode;
  readonly decimals: number;
  /** An amount below this, in the smallest unit, costs more to spend than it is worth. */
  readonly dustUnits: bigint;
}

/** A token's contract on one network. */
export interface TokenContract {
  /** `0x` and 40 hex digits: with the EIP-55 checksum in `networks.ts`, in lower case where it is compared. */
  readonly contract: string;
  /** The contract's `decimals()`: 10^decimals smallest units are one whole token. */
  readonly decimals: number;
}

interface CommonFacts {
  /** The name that customers see. */
  readonly label: string;
  /** The name that exchanges give this network's tokens; null where there is none. */
  readonly standard: string | null;
  /** Further search terms beside the label, the standard and the network's id, in lower case. */
  readonly aliases: readonly string[];
  /** Null if Cointill accepts only tokens there. */
  readonly coin: Coin | null;
  /** The tokens of the main chain; empty if it has no contracts. */
  readonly tokens: Readonly<Partial<Record<AssetCode, TokenContract>>>;
  /**
   * Wallets that read EIP-681 URIs for tokens of this network, beside those that do so on every network
   * (docs/design/payment-page.md).
   */
  readonly tokenUriWallets: readonly string[];
  /** Average time between blocks. */
  readonly blockMs: number;
  /** The usual fee of a transfer: `low` is cents, `high` is often more than a dollar. */
  readonly fees: 'low' | 'high';
  /** The block explorer of the main chain: an origin that shows `/tx/HASH` and `/address/ADDRESS`. */
  readonly explorer: string;
  /** Ordered by amount, smallest first. */
  readonly confirmations: readonly ConfirmationTier[];
}

/** A chain whose nodes speak Bitcoin Core's JSON-RPC. */
export interface UtxoFacts extends CommonFacts {
  readonly family: 'utxo';
  readonly coin: Coin;
  /** SLIP-44 coin type of the main chain; all test chains have 1. */
  readonly coinType: number;
  /** The name of the coin's smallest unit in a fee rate. */
  readonly smallestUnit: string;
  /** The first characters of P2PKH addresses on the main chain. */
  readonly legacyPrefix: string;
  /** The default JSON-RPC port of its node. */
  readonly rpcPort: number;
  /** The node's `dustRelayFee`, per 1,000 bytes. */
  readonly dustUnitsPerKvb: bigint;
  /** Whether coins can leave MWEB (MimbleWimble extension blocks); such coins cannot be spent at once. */
  readonly hasMweb: boolean;
}

/** A chain whose nodes speak Ethereum's JSON-RPC. */
export interface EvmFacts extends CommonFacts {
  readonly family: 'evm';
  /** EIP-155 chain id, as in the registry at chainlist.org (ethereum-lists/chains). */
  readonly chainId: number;
  /**
   * Chain id of its public test network, so that no wallet offers to send real money for a test payment. Null: live
   * mode only, the sandbox does not offer it.
   */
  readonly testChainId: number | null;
  /** Whether blocks contain logs that the header's bloom filter does not cover. */
  readonly hasUnshownLogs: boolean;
  /** The symbol of the coin that pays for gas, even if Cointill does not accept it; null if unstated. */
  readonly gasCoin: string | null;
  /** A node of the main chain that anyone may use, for wallets that do not know the chain; null where none is known. */
  readonly publicNode: string | null;
}

export type NetworkFacts = UtxoFacts | EvmFacts;
export type Family = NetworkFacts['family'];

const THOUSAND_USD = 100_000n;

/** Confirmations below 1,000 USD, below 100,000 USD, and above. */
export function tiers(small: number, middle: number, large: number): readonly ConfirmationTier[] {
  return [
    { belowUsdCents: THOUSAND_USD, confirmations: small },
    { belowUsdCents: 100n * THOUSAND_USD, confirmations: middle },
    { belowUsdCents: null, confirmations: large },
  ];
}

/** Ether on any network; its dust limit is the smallest amount that is shown. */
export const ETHER: Coin = { asset: 'ETH', decimals: 18, dustUnits: pow10(10) };

/** A token's contract in EIP-55 form, and its decimals. */
export function token(contract: string, decimals: number): TokenContract {
  return { contract, decimals };
}

type Optional =
  | 'standard'
  | 'aliases'
  | 'coin'
  | 'tokens'
  | 'hasUnshownLogs'
  | 'tokenUriWallets'
  | 'fees'
  | 'gasCoin'
  | 'publicNode';

/** A row of an EVM chain, with defaults for the values that most of them share. */
export function evm(facts: Omit<EvmFacts, 'family' | Optional> & Partial<Pick<EvmFacts, Optional>>): EvmFacts {
  const usual = { standard: null, aliases: [], coin: null, tokens: {}, hasUnshownLogs: false, tokenUriWallets: [] };
  return { family: 'evm', fees: 'low', gasCoin: facts.coin?.asset ?? null, publicNode: null, ...usual, ...facts };
}

/** A row of a chain of the UTXO family. */
export function utxo(
  facts: Omit<UtxoFacts, 'family' | 'standard' | 'aliases' | 'tokens' | 'tokenUriWallets'>,
): UtxoFacts {
  return { family: 'utxo', standard: null, aliases: [], tokens: {}, tokenUriWallets: [], ...facts };
}

/** Facts that the networks of a family share, as far as code outside `rails/` depends on them. */
export interface FamilyFacts {
  /** Whether transactions are seen in the mempool; otherwise only in blocks. */
  readonly seesWaiting: boolean;
  /** The document that the merchant signs to pay a refund, beside a payment URI. */
  readonly refundsBy: 'psbt' | 'call';
  /** The ways in which its wallets can be given, the usual one first. */
  readonly walletKinds: readonly ('xpub' | 'descriptor' | 'treasury')[];
}

export const FAMILY_FACTS: Readonly<Record<Family, FamilyFacts>> = {
  utxo: {
    seesWaiting: true,
    refundsBy: 'psbt',
    walletKinds: ['xpub', 'descriptor'],
  },
  evm: {
    seesWaiting: false,
    refundsBy: 'call',
    walletKinds: ['treasury', 'xpub'],
  },
};
