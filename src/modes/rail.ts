import type { AssetCode } from '../domain/asset-code.ts';
import type { Token } from '../domain/asset.ts';
import type { Refusal } from '../domain/way-out.ts';
import type { Network } from '../domain/networks.ts';
import type { EvmChain } from '../domain/payment-uri.ts';
import type { Confirmations, Payment, Transfer } from '../domain/payment.ts';
import type { Mode } from '../domain/permission.ts';
import type { PayoutChain } from '../rails/family.ts';
import type { DeriveAddresses } from '../rails/derive-addresses.ts';
import type { WalletOpener } from '../rails/wallet.ts';
import type { RateSource } from '../rates/source.ts';
import type { Trx } from '../store/database.ts';
import type { Statement, StatementRunner } from '../store/pipeline.ts';

/** The wallet and index of an issued address, and the wallet's terms. */
export interface IssuingWallet {
  readonly id: string;
  readonly index: number;
  /** The hash of the block up to which the chain was read; null: none was. */
  readonly afterBlock: string | null;
  /** How many confirmations a transfer needs. */
  readonly confirmations: number;
  /** How far from the owed amount still counts as exact, in hundredths of a percent. */
  readonly toleranceBasisPoints: number;
  /** How long the project's payments are watched after their end, in hours; null: the service's setting. */
  readonly monitoringHours: number | null;
}

/** How far below or above the owed amount still counts as exact, unless the wallet says otherwise: 0.5 %. */
export const DEFAULT_TOLERANCE_BASIS_POINTS = 50;

/** An address issued for a payment; `wallet` is null if nothing has to be watched. */
export type Issued =
  | {
      readonly kind: 'issued';
      readonly address: string;
      readonly wallet: IssuingWallet | null;
    }
  | ({ readonly kind: 'no_method' } & Refusal);

/** A rail's answer about a payment that is due. */
export type DueView =
  /** The money arrived in full: the sandbox's timer. */
  | { readonly kind: 'settled' }
  /** Seen money advances by one stage: the sandbox's timer. */
  | { readonly kind: 'next_stage' }
  /** Everything up to this time was seen, so an earlier deadline may take effect. */
  | { readonly kind: 'seen_up_to'; readonly at: number };

/** The sources of quotes: prices, tokens and addresses. */
export interface Issuer {
  readonly rates: RateSource;
  /** The prices for a project's customers: the market's, plus the merchant's spread. */
  ratesFor(projectId: string, trx?: Trx): RateSource | Promise<RateSource>;
  /**
   * The tokens that the project's customers are offered now, in the project's order, or most popular first. Callers
   * inside a transaction must pass it: waiting for a second connection while holding one would deadlock the pool.
   */
  tokens(projectId: string, trx?: Trx): readonly Token[] | Promise<readonly Token[]>;
  /** Like `tokens`, including those that the project has switched off; most popular first. */
  payable(projectId: string, trx?: Trx): readonly Token[] | Promise<readonly Token[]>;
  /** A new address for a payment. Never calls a node. If the transaction is rolled back, the address was not issued. */
  issue(
    payment: { readonly id: string; readonly projectId: string; readonly amountUsdCents: bigint },
    token: Token,
    trx?: Trx,
  ): Issued | Promise<Issued>;
}

/** Quotes a whole batch and issues its addresses from the wallets that it has locked. */
export interface LockedIssuer extends Issuer {
  /** Statements that must run in the transaction that saves the payments, so that no address is issued twice. */
  taken(): readonly Statement[];
}

/** A token named by a client. */
export interface WantedToken {
  readonly projectId: string;
  readonly asset: string;
  readonly network: string | null;
}

/**
 * How money is seen: the only difference between the sandbox and real chains. All other code follows the rail and
 * treats the mode as data.
 */
export type Rail = SandboxRail | ChainRail;

/** Test mode: its addresses are made up, and no money is ever sent. */
export interface SandboxRail extends AnyRail {
  readonly kind: 'sandbox';
  /** A transfer of a merchant's simulated step, to the address of the payment's quote. */
  simulate(payment: Payment, step: SimulatedMoney): Transfer;
}

/** Live mode: real addresses, real money. */
export interface ChainRail extends AnyRail {
  readonly kind: 'chain';
  readonly openWallet: WalletOpener;
  /** Derives addresses for purposes other than payments. */
  readonly derive: DeriveAddresses;
}

/** The parts of both rails. */
interface AnyRail extends Issuer {
  /** Every token in which money can be seen, with its decimals here. */
  readonly seenTokens: readonly Token[];
  /**
   * Locks everything needed to issue addresses for payments in these tokens, until the transaction ends. The resulting
   * issuer knows no other tokens. Null: nothing has to be locked.
   */
  readonly lock: ((runner: StatementRunner, wanted: readonly WantedToken[]) => Promise<LockedIssuer>) | null;
  /** These tokens in the order in which a page lists them. */
  listed(projectId: string): readonly Token[] | Promise<readonly Token[]>;
  /**
   * The decimals of a token: the operator may have configured another contract than the well-known one. Null if there
   * is no such token.
   */
  decimals(token: Pick<Token, 'asset' | 'network'>): number | null;
  /**
   * The newest address that the payment already has on the token's network, from the present wallet there; null if it
   * has none. The address stays the same if the token is chosen again or changed.
   */
  held(payment: { readonly id: string }, token: Token, trx: Trx): Issued | null | Promise<Issued | null>;
  /** When a new payment completes automatically; null: never. */
  completesAt(createdAt: number, expiresAt: number): number | null;
  /**
   * The rail's view of each of these payments, by id, read in the transaction that holds their locks, with the same
   * number of statements however many payments there are.
   */
  dueViews(
    payments: readonly Payment[],
    now: number,
    trx: Trx,
  ): ReadonlyMap<string, DueView> | Promise<ReadonlyMap<string, DueView>>;
  /** The confirmations of the payment's money; null if none are counted. */
  confirmations(payment: Payment): Confirmations | null | Promise<Confirmations | null>;
  /** The EVM chain of a token; null on other networks. */
  evmChain(token: Pick<Token, 'asset' | 'network'>): EvmChain | null;
  /** The chain whose addresses a refund may use. */
  payoutChain(network: Network): PayoutChain;
  /** How and when a refund of this rail ends automatically. */
  refundOutcome(refund: {
    readonly id: string;
    readonly network: Network;
    readonly reason: string | null;
    readonly address: string | null;
  }): RefundOutcome;
}

export interface SimulatedMoney {
  /** By default the quote's. */
  readonly asset?: AssetCode;
  readonly amountUnits: bigint;
  /** How many transfers the payment has already: each gets a transaction of its own. */
  readonly earlier: number;
  readonly firstSeenAt: number;
  readonly state: 'seen' | 'mined' | 'confirmed';
}

export interface RefundOutcome {
  /** Counted from its creation, or from the time when its customer gave the address. */
  readonly afterMs: number;
  readonly observation:
    | { readonly kind: 'paid'; readonly transactionHash: string }
    | { readonly kind: 'failed'; readonly reason: 'test_failure' | 'unpaid' };
}

/** The rail of a mode; wired in the composition root. */
export type RailFor = (mode: Mode) => Rail;
