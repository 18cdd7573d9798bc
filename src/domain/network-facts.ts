import type { AssetCode } from './asset.ts';
import { pow10 } from './money.ts';

/** How many confirmations a payment needs that is worth less than so many US cents; the last tier has no bound. */
export interface ConfirmationTier {
  readonly belowUsdCents: bigint | null;
  readonly confirmations: number;
}

/** What fees are paid in, where payments are taken in it. */
export interface Coin {
  readonly asset: AssetCode;
  readonly decimals: number;
  /** Below this, in the smallest unit, a payment cannot be spent economically. */
  readonly dustUnits: bigint;
}

/** A token's contract on one network. */
export interface TokenContract {
  /** `0x` and 40 hex digits; with the checksum of EIP-55 in `networks.ts`, in lower case where it is compared. */
  readonly contract: string;
  /** What the contract's `decimals()` gives: 10^decimals smallest units are one whole token. */
  readonly decimals: number;
}

interface CommonFacts {
  /** As customers are shown it. */
  readonly label: string;
  /** What exchanges call tokens on it; null where they call them nothing. */
  readonly standard: string | null;
  /** What people look for beside the label, the standard and the network's own word, in lower case. */
  readonly aliases: readonly string[];
  /** Null where Cointill takes tokens only. */
  readonly coin: Coin | null;
  /** The tokens of the main chain; none where there are no contracts. */
  readonly tokens: Readonly<Partial<Record<AssetCode, TokenContract>>>;
  /** Wallets that read EIP-681 for tokens of this network, beside those that do on every one (docs/decisions/0037). */
  readonly tokenUriWallets: readonly string[];
  /** Mean time between blocks. */
  readonly blockMs: number;
  /** From the smallest amount on. */
  readonly confirmations: readonly ConfirmationTier[];
}

/** A chain whose nodes speak Bitcoin Core's JSON-RPC. */
export interface UtxoFacts extends CommonFacts {
  readonly family: 'utxo';
  readonly coin: Coin;
  /** SLIP-44, of the main chain; all test chains have 1. */
  readonly coinType: number;
  /** What the coin's smallest unit is called in a fee rate. */
  readonly smallestUnit: string;
  /** How P2PKH addresses of the main chain begin. */
  readonly legacyPrefix: string;
  /** Where its node listens for JSON-RPC, unless told otherwise. */
  readonly rpcPort: number;
  /** `dustRelayFee` of its node, per 1,000 bytes. */
  readonly dustUnitsPerKvb: bigint;
  /** Whether money comes out of MWEB (MimbleWimble extension blocks), and is young for a while. */
  readonly hasMweb: boolean;
}

/** A chain whose nodes speak Ethereum's JSON-RPC. */
export interface EvmFacts extends CommonFacts {
  readonly family: 'evm';
  /** EIP-155, as in the registry at chainlist.org (ethereum-lists/chains). */
  readonly chainId: number;
  /**
   * Of its public test network, so that no wallet offers to send real money for a test payment. Null: live only, the sandbox
   * does not offer it.
   */
  readonly testChainId: number | null;
  /** Whether blocks hold logs that the header's bloom filter does not show. */
  readonly hasUnshownLogs: boolean;
}

export type NetworkFacts = UtxoFacts | EvmFacts;
export type Family = NetworkFacts['family'];

const THOUSAND_USD = 100_000n;

/** The confirmations below 1,000 USD, below 100,000 USD, and above. */
export function tiers(small: number, middle: number, large: number): readonly ConfirmationTier[] {
  return [
    { belowUsdCents: THOUSAND_USD, confirmations: small },
    { belowUsdCents: 100n * THOUSAND_USD, confirmations: middle },
    { belowUsdCents: null, confirmations: large },
  ];
}

/** Ether, on whichever network; its dust is the smallest unit that is shown. */
export const ETHER: Coin = { asset: 'ETH', decimals: 18, dustUnits: pow10(10) };

/** A token's contract, in the form of EIP-55, and its decimals. */
export function token(contract: string, decimals: number): TokenContract {
  return { contract, decimals };
}

type Optional = 'standard' | 'aliases' | 'coin' | 'tokens' | 'hasUnshownLogs' | 'tokenUriWallets';

/** A row of an EVM chain: what most of them have need not be said. */
export function evm(facts: Omit<EvmFacts, 'family' | Optional> & Partial<Pick<EvmFacts, Optional>>): EvmFacts {
  const usual = { standard: null, aliases: [], coin: null, tokens: {}, hasUnshownLogs: false, tokenUriWallets: [] };
  return { family: 'evm', ...usual, ...facts };
}

/** A row of a chain of Bitcoin's family. */
export function utxo(
  facts: Omit<UtxoFacts, 'family' | 'standard' | 'aliases' | 'tokens' | 'tokenUriWallets'>,
): UtxoFacts {
  return { family: 'utxo', standard: null, aliases: [], tokens: {}, tokenUriWallets: [], ...facts };
}

/** What the networks of one family have in common, as far as more than `rails/` goes by it. */
export interface FamilyFacts {
  /** Whether transactions are seen while they wait; else only the blocks tell of them. */
  readonly seesWaiting: boolean;
  /** What pays a refund beside a payment URI. */
  readonly refundsBy: 'psbt' | 'call';
  /** How much earlier than what it followed upon a block may be dated: miners of Bitcoin set their clocks as they like. */
  readonly blockClockMarginMs: number;
  /** What `cointill wallet set` takes, as its options. */
  readonly walletOptions: string;
}

export const FAMILY_FACTS: Readonly<Record<Family, FamilyFacts>> = {
  utxo: {
    seesWaiting: true,
    refundsBy: 'psbt',
    blockClockMarginMs: 2 * 60 * 60_000,
    walletOptions: '--xpub XPUB',
  },
  evm: {
    seesWaiting: false,
    refundsBy: 'call',
    blockClockMarginMs: 2 * 60_000,
    walletOptions: '--treasury 0x… or --xpub XPUB',
  },
};
