import type { Network, UtxoNetwork } from '../domain/networks.ts';
import type { Problems } from '../domain/problems.ts';
import type { Invalid } from '../domain/sentence.ts';
import type { ChainSource, WalletDeriver } from './chain.ts';

/**
 * The script types that wallets receive payments on; `p2wsh` is always a multisignature wallet with sorted keys (BIP
 * 67).
 */
export type ScriptType = 'p2pkh' | 'p2sh-p2wpkh' | 'p2wpkh' | 'p2tr' | 'p2wsh';

/** The names of Bitcoin Core's `-chain`: `test` is testnet3 of Bitcoin and testnet4 of Litecoin. */
export const UTXO_CHAINS = ['main', 'test', 'testnet4', 'signet', 'regtest'] as const;

export type UtxoChain = (typeof UTXO_CHAINS)[number];

/** The configured chain of each UTXO network: test chains write addresses differently. */
export type UtxoChains = Readonly<Record<UtxoNetwork, UtxoChain>>;

/** The result of checking an address that somebody typed. */
export type AddressCheck =
  | { readonly kind: 'ok'; readonly address: string }
  /** `deadEnd`: the address is valid, but money sent to it is lost. */
  | (Invalid & { readonly deadEnd?: true });

/** The chain of a network that an address must belong to; `any`: main or test, where nothing is ever sent. */
export type PayoutChain = UtxoChain | 'any';

/** The source of a wallet's addresses, as the merchant gives it. */
export interface WalletSource {
  readonly kind: 'xpub' | 'descriptor' | 'treasury';
  readonly text: string;
}

/** The kind of a wallet's addresses. `account`: the owner's own wallet; `deposit`: contracts that pay out to it. */
export type AddressKind = ScriptType | 'account' | 'deposit';

export type WalletCheck =
  | {
      readonly kind: 'ok';
      readonly source: string;
      readonly addressKind: AddressKind;
      readonly note: string | null;
      /** Expected problems with the wallet, each with the way out. */
      readonly warnings: readonly string[];
      readonly deriver: WalletDeriver;
    }
  | Invalid;

/** A network's own formats. Created once per network; nothing here queries a node. */
export interface NetworkRules {
  /**
   * Checks an address for a payout: it must belong to the network, its checksum must be right, and money sent there
   * must be spendable. The resulting address is in the network's usual form (EIP-55, lower-case bech32). Addresses must
   * belong to `chain` if they differ between chains; on EVM test chains they do not. `contracts` are tokens' contracts
   * on this network in addition to the well-known ones: money sent to a token's own contract is lost.
   */
  readonly checkPayoutAddress: (text: string, chain: PayoutChain, contracts: readonly string[]) => AddressCheck;
  /** The form in which a valid address is stored and compared with what blocks contain. */
  readonly matchingAddress: (address: string) => string;
  /** The reverse of `matchingAddress`: the form in which customers see an address. */
  readonly shownAddress: (address: string) => string;
  /** Makes a transaction hash in the network's form from 64 lower-case hex digits. */
  readonly transactionHash: (digits: string) => string;
  /**
   * Makes a valid address for a test payment from 40 hex digits; of the test network if that has different addresses.
   */
  readonly testAddress: (digits: string) => string;
  /**
   * Parses the source of a wallet. Private keys and recovery phrases are recognised first and refused. No fault
   * repeats any part of the input.
   */
  readonly parseWallet: (source: WalletSource, chains: UtxoChains) => WalletCheck;
  /** The chain whose addresses a live refund may use. */
  readonly payoutChain: (chains: UtxoChains) => PayoutChain;
}

/** The settings for querying nodes. */
export interface NodeAccess {
  /** The timeout of one call to one node. */
  readonly timeoutMs: number;
  readonly problems: Problems;
}

/**
 * Everything that differs between families of networks. `Nodes` is the operator's configuration for one of its
 * networks. Payment URIs, which the page needs, are in `domain/payment-uri.ts`.
 */
export interface NetworkFamily<Member extends Network, Nodes, Caller> {
  readonly rulesOf: (network: Member) => NetworkRules;
  /**
   * Creates the source that follows a network's chain. Sends nothing before the first call. Throws RangeError if a URL
   * is not usable.
   */
  readonly createSource: (nodes: Nodes, access: NodeAccess) => ChainSource;
  /**
   * Creates a caller for the current state of a network, without following its chain. Throws RangeError if a URL is not
   * usable.
   */
  readonly createCaller: (nodes: Nodes, access: NodeAccess) => Caller;
}
