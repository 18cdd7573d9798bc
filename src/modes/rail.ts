import type { Token } from '../domain/asset.ts';
import type { Network } from '../domain/networks.ts';
import type { EvmChain } from '../domain/payment-uri.ts';
import type { Confirmations, Payment, Transfer } from '../domain/payment.ts';
import type { Mode } from '../domain/permission.ts';
import type { PayoutChain } from '../rails/family.ts';
import type { RateSource } from '../rates/source.ts';
import type { Trx } from '../store/database.ts';
import type { Statement, StatementRunner } from '../store/pipeline.ts';

/** Which address of which wallet was issued, and on what terms. */
export interface IssuingWallet {
  readonly id: string;
  readonly index: number;
  /** How deep a transfer must be to count as confirmed. */
  readonly confirmations: number;
  /** How far from the owed amount still counts as exact, in hundredths of a percent. */
  readonly toleranceBasisPoints: number;
}

/** How far below or above the owed amount still counts as exact, where the wallet says nothing else: 0.5 %. */
export const DEFAULT_TOLERANCE_BASIS_POINTS = 50;

/** An address issued for a payment; `wallet` is null where nothing has to be watched. */
export type Issued =
  | {
      readonly kind: 'issued';
      readonly address: string;
      readonly wallet: IssuingWallet | null;
    }
  | { readonly kind: 'no_method'; readonly message: string };

/** What a rail says of a payment whose moment is due. */
export type DueView =
  /** The money arrived whole: the sandbox's timer. */
  | { readonly kind: 'settled' }
  /** Everything up to this time was seen, so a deadline before it may be drawn. */
  | { readonly kind: 'seen_up_to'; readonly at: number };

/** What payments are quoted by, and where their addresses come from. */
export interface Issuer {
  readonly rates: RateSource;
  /** The prices that a project's customers are quoted: the market's, and what the merchant adds. */
  ratesFor(projectId: string, trx?: Trx): RateSource | Promise<RateSource>;
  /**
   * The tokens that the project can be paid in now, its favourite first. Who holds a transaction passes it: waiting for
   * a second connection while holding one would deadlock the pool.
   */
  tokens(projectId: string, trx?: Trx): readonly Token[] | Promise<readonly Token[]>;
  /**
   * A fresh address for a payment. Never touches the network. In a transaction it is given back when that is undone.
   */
  issue(
    payment: { readonly id: string; readonly projectId: string; readonly amountUsdCents: bigint },
    token: Token,
    trx?: Trx,
  ): Issued | Promise<Issued>;
}

/**
 * Quotes a whole batch and issues its addresses from what one statement has read and locked, without waiting for
 * anything.
 */
export interface LockedIssuer extends Issuer {
  /** What has to be carried out in the transaction that saves the payments, so that no address is issued again. */
  taken(): readonly Statement[];
}

/** A payment's token as its client names it. */
export interface WantedToken {
  readonly projectId: string;
  readonly asset: string;
  readonly network: string | null;
}

/**
 * How money is seen: the one seam between the sandbox and real chains. Everything else takes what a rail says and
 * treats the mode as data.
 */
export type Rail = SandboxRail | ChainRail;

/** Test mode: its addresses are made up, and no money is ever sent. */
export interface SandboxRail extends AnyRail {
  readonly kind: 'sandbox';
  /** What a merchant's simulated step makes arrive. */
  simulate(payment: Payment, step: SimulatedMoney, now: number): Transfer;
}

/** Live mode: real addresses, real money. */
export interface ChainRail extends AnyRail {
  readonly kind: 'chain';
}

/** What both have. */
interface AnyRail extends Issuer {
  /**
   * Locks all that payments in these tokens are issued addresses from, until the transaction ends. Its issuer knows no
   * other tokens of theirs. With `mayPredict` it may go by what it saw last: then `taken` holds the lock too, which
   * undoes the transaction with an error that `isUnexpected` knows when that has changed. Null: nothing has to be
   * locked.
   */
  readonly lock:
    | ((
        runner: StatementRunner,
        wanted: readonly WantedToken[],
        options: { readonly mayPredict: boolean },
      ) => Promise<LockedIssuer>)
    | null;
  /**
   * The newest address that the payment already has on the token's network, from the wallet in use there; null where it
   * has none. An address that is asked for again stays the same, whatever its token.
   */
  held(payment: { readonly id: string }, token: Token, trx: Trx): Issued | null | Promise<Issued | null>;
  /** When a new payment completes by itself; null: never. */
  completesAt(createdAt: number, expiresAt: number): number | null;
  /**
   * What it says of each of these payments, by id, read in the transaction that holds their locks: as many statements
   * for many payments as for one.
   */
  dueViews(
    payments: readonly Payment[],
    now: number,
    trx: Trx,
  ): ReadonlyMap<string, DueView> | Promise<ReadonlyMap<string, DueView>>;
  /** Which of a wallet's own addresses the payment's is, counted from 0; null where none was derived from a key. */
  addressIndex(payment: Payment): null | Promise<number | null>;
  /** How deep the payment's money is; null where nothing is counted. */
  confirmations(payment: Payment): null | Promise<Confirmations | null>;
  /** Which EVM chain a token lives on; null on other networks. */
  evmChain(token: Pick<Token, 'asset' | 'network'>): EvmChain | null;
  /** Which chain's addresses a refund may go to. */
  payoutChain(network: Network): PayoutChain;
  /** How a refund of this rail ends by itself, and after how long. */
  refundOutcome(refund: {
    readonly id: string;
    readonly network: Network;
    readonly reason: string | null;
  }): RefundOutcome;
}

export interface SimulatedMoney {
  readonly amountUnits: bigint;
  readonly firstSeenAt: number;
  readonly state: 'seen' | 'mined' | 'confirmed';
}

export interface RefundOutcome {
  readonly afterMs: number;
  readonly observation:
    | { readonly kind: 'paid'; readonly transactionHash: string }
    | { readonly kind: 'failed'; readonly reason: 'test_failure' | 'unpaid' };
}

/** Picks the rail of a mode; wired in the composition root. */
export type RailFor = (mode: Mode) => Rail;
