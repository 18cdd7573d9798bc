import type { Network, UtxoNetwork } from '../domain/networks.ts';
import type { Troubles } from '../domain/trouble.ts';
import type { ChainSource, WalletDeriver } from './chain.ts';
import type { UtxoChain } from './utxo/params.ts';

/** What checking an address that somebody typed came to. `message` names the rule and the way out. */
export type AddressCheck =
  | { readonly kind: 'ok'; readonly address: string }
  /** `deadEnd`: the address is written well, but what is paid to it is lost. */
  | { readonly kind: 'invalid'; readonly message: string; readonly deadEnd?: true };

/** Which chain of each network of Bitcoin's family is meant: addresses of test chains are written differently. */
export type UtxoChains = Readonly<Record<UtxoNetwork, UtxoChain>>;

/** Which chain of a network an address must be of; `any`: main or test, where nothing is ever sent. */
export type PayoutChain = UtxoChain | 'any';

/** What a wallet's addresses come from, as the merchant gives it. */
export interface WalletSource {
  readonly kind: 'xpub' | 'descriptor' | 'treasury';
  readonly text: string;
}

export type WalletCheck =
  | {
      readonly kind: 'ok';
      readonly source: string;
      readonly note: string | null;
      /** What will not work with the wallet as it was given, and the way out. */
      readonly warnings: readonly string[];
      readonly deriver: WalletDeriver;
    }
  | { readonly kind: 'invalid'; readonly message: string };

/** How a network is written and read, made once for each: nothing here asks a node. */
export interface NetworkRules {
  /**
   * Checks an address that a payout shall go to: that it belongs to the network, that its checksum is right, and that
   * what is sent there can be spent. The answer's address is in the network's usual form (EIP-55, lowercase bech32).
   * Addresses must be those of `chain`, as far as they tell chains apart; EVM test chains have no addresses of their
   * own. `contracts` are tokens' on this network, beside the well-known ones: what is sent to a token's own contract is
   * lost.
   */
  readonly checkPayoutAddress: (text: string, chain: PayoutChain, contracts: readonly string[]) => AddressCheck;
  /** The form in which a valid address is stored and compared with what blocks show. */
  readonly matchingAddress: (address: string) => string;
  /** The reverse of `matchingAddress`: the form in which customers are shown an address. */
  readonly shownAddress: (address: string) => string;
  /** A transaction's hash as the network writes it, of 64 hex digits in lower case. */
  readonly transactionHash: (digits: string) => string;
  /**
   * A well-formed address for a test payment, of 40 hex digits; of the test network where that has addresses of its
   * own.
   */
  readonly testAddress: (digits: string) => string;
  /**
   * Reads what a wallet is derived from. Private keys and recovery phrases are recognised first and refused; no message
   * repeats any part of what was given.
   */
  readonly parseWallet: (source: WalletSource, chains: UtxoChains) => WalletCheck;
  /** Which chain's addresses a live refund may go to. */
  readonly payoutChain: (chains: UtxoChains) => PayoutChain;
}

/** How nodes are asked. */
export interface NodeAccess {
  /** For one call to one node. */
  readonly timeoutMs: number;
  readonly troubles: Troubles;
}

/**
 * All that one family of networks does in ways of its own. `Nodes` is what the operator set for one of its networks.
 * Payment URIs, which the page asks for, are `domain/payment-uri.ts`.
 */
export interface NetworkFamily<Member extends Network, Nodes, Caller> {
  readonly rulesOf: (network: Member) => NetworkRules;
  /** Follows a network's chain. Asks nothing before the first call. Throws RangeError when a URL is not usable. */
  readonly createSource: (nodes: Nodes, access: NodeAccess) => ChainSource;
  /**
   * Asks a network's nodes how things are now, without following the chain. Throws RangeError when a URL is not usable.
   */
  readonly createCaller: (nodes: Nodes, access: NodeAccess) => Caller;
}
