import type { AssetCode } from './asset-code.ts';
import type { Fiat } from './money.ts';
import type { Network } from './networks.ts';
import type { PaymentApi } from './payment.ts';

/** What is added up one after the other. */
export const BOOK_STEPS = ['transfers', 'payments', 'refunds', 'deposits'] as const;
export type BookStep = (typeof BOOK_STEPS)[number];

/** More rows than this are not named one by one. */
export const MAX_NAMED = 200;

export interface TokenKey {
  readonly network: Network;
  readonly asset: AssetCode;
}

/** Money of one token that came, by what became of it; amounts in its smallest unit. */
export interface ReceivedRow extends TokenKey {
  /** Of the payments that were quoted in it; null if there is none. */
  readonly decimals: number | null;
  /** Confirmed money that came before the period, and in it. */
  readonly before: bigint;
  readonly received: bigint;
  /** Money of the period that pays for completed payments, and money beyond the amounts that they owed. */
  readonly applied: bigint;
  readonly excess: bigint;
  /** The rest is not accepted yet: its payment is still open, got too little, or got it late. */
  readonly open: bigint;
  readonly underpaid: bigint;
  readonly late: bigint;
  /** In a token in which its payment was quoted once, and in one in which it never was. */
  readonly superseded: bigint;
  readonly unquoted: bigint;
  /** Came in the period and is not confirmed. */
  readonly unconfirmed: bigint;
  readonly transfers: number;
  /** What the confirmed money of the period was worth when it came, of which of it that is unknown. */
  readonly usdCents: bigint;
  readonly unvalued: number;
}

/** The money that came in the period to payments in a currency, valued in that currency. */
export interface CurrencyRow {
  readonly currency: Fiat;
  readonly minor: bigint;
  readonly transfers: number;
  readonly unvalued: number;
}

/** A payment whose own sum is not that of its transfers. */
export interface DifferenceRow extends TokenKey {
  readonly paymentId: string;
  readonly api: PaymentApi;
  /** By its transfers, and by the payment. */
  readonly transfers: bigint;
  readonly payment: bigint;
}

export interface RefundRow extends TokenKey {
  readonly decimals: number;
  /** Paid before the period, and in it; not paid at its end. */
  readonly before: bigint;
  readonly refunded: bigint;
  readonly pending: bigint;
  readonly refunds: number;
  readonly usdCents: bigint;
  readonly unvalued: number;
}

/** A payment whose refunds in a token, paid and pending, are more than its confirmed money. */
export interface OverRefundRow extends TokenKey {
  readonly paymentId: string;
  readonly api: PaymentApi;
  readonly received: bigint;
  readonly refunded: bigint;
}

export interface LostRow extends TokenKey {
  readonly before: bigint;
  readonly received: bigint;
}

export interface SweptRow extends TokenKey {
  readonly swept: bigint;
  readonly usdCents: bigint;
  readonly sweeps: number;
  readonly unvalued: number;
}

/** What sweeps of the period paid for gas, in the chain's own coin; what `unknown` of them paid has no known worth. */
export interface FeeRow {
  readonly network: Network;
  readonly units: bigint;
  readonly usdCents: bigint;
  readonly sweeps: number;
  readonly unknown: number;
}

/** Deposit contracts: everything that ever came to them, up to now. */
export interface DepositRow extends TokenKey {
  readonly received: bigint;
  readonly swept: bigint;
  /** What lay there when a node was last asked, and what came since then; null: none was asked yet. */
  readonly there: bigint | null;
  readonly since: bigint;
}

/** A deposit on which something else lies than what came less what was swept, or of which more left. */
export interface DepositDifferenceRow extends TokenKey {
  readonly address: string;
  readonly received: bigint;
  readonly swept: bigint;
  readonly there: bigint;
  /** What is there or left it, by balances that a node told, and never came by what is known. */
  readonly unseen: bigint;
  /** Money left it in a block of which no node could say what else came in it. */
  readonly isUnclear: boolean;
}

/** Rows that explain differences, of which at most `MAX_NAMED` are named. */
export interface Named<Row> {
  readonly rows: readonly Row[];
  readonly count: number;
}

export interface Books {
  readonly received: readonly ReceivedRow[];
  readonly currencies: readonly CurrencyRow[];
  readonly differences: Named<DifferenceRow>;
  readonly refunds: readonly RefundRow[];
  readonly refundCurrencies: readonly CurrencyRow[];
  readonly overRefunds: Named<OverRefundRow>;
  readonly lost: readonly LostRow[];
  readonly swept: readonly SweptRow[];
  readonly fees: readonly FeeRow[];
  readonly deposits: readonly DepositRow[];
  readonly depositDifferences: Named<DepositDifferenceRow>;
}

/** One token's money in a period, to the last unit. */
export interface TokenStatement extends TokenKey {
  readonly decimals: number;
  /** Everything that came and was confirmed before, less what was refunded; `closing` the same at the end. */
  readonly opening: bigint;
  readonly received: ReceivedRow;
  /** On addresses that a restore lost. */
  readonly lost: bigint;
  readonly refunds: RefundRow;
  readonly swept: SweptRow;
  readonly closing: bigint;
  /** The money that came, less all that became of it: 0 unless this program is wrong. */
  readonly unexplained: bigint;
  readonly deposits: DepositRow | null;
}

/** `explained`: what differs is named, payment by payment. */
export type BooksVerdict = 'balanced' | 'explained' | 'unexplained';

export interface Statement {
  readonly tokens: readonly TokenStatement[];
  readonly verdict: BooksVerdict;
  readonly books: Books;
}

const NO_RECEIPTS = {
  decimals: null,
  before: 0n,
  received: 0n,
  applied: 0n,
  excess: 0n,
  open: 0n,
  underpaid: 0n,
  late: 0n,
  superseded: 0n,
  unquoted: 0n,
  unconfirmed: 0n,
  transfers: 0,
  usdCents: 0n,
  unvalued: 0,
} as const;
const NO_REFUNDS = { before: 0n, refunded: 0n, pending: 0n, refunds: 0, usdCents: 0n, unvalued: 0 } as const;
const NO_SWEEPS = { swept: 0n, usdCents: 0n, sweeps: 0, unvalued: 0 } as const;

/** The uses of confirmed money; together they are all of it. */
export const BOOK_PARTS = [
  'applied',
  'excess',
  'open',
  'underpaid',
  'late',
  'superseded',
  'unquoted',
] as const satisfies readonly (keyof ReceivedRow)[];

/**
 * Puts the sums of each token together. `decimalsOf` says the decimals of a token in which no payment was quoted.
 */
export function statementOf(books: Books, decimalsOf: (token: TokenKey) => number): Statement {
  const keyOf = ({ network, asset }: TokenKey): string => `${network} ${asset}`;
  const rows: readonly TokenKey[] = [books.received, books.refunds, books.lost, books.swept, books.deposits].flat();
  const keys = new Map(rows.map(({ network, asset }) => [keyOf({ network, asset }), { network, asset }]));
  const tokens = [...keys.values()]
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    .map((token): TokenStatement => {
      const isOwn = (row: TokenKey): boolean => keyOf(row) === keyOf(token);
      const received = books.received.find(isOwn) ?? { ...token, ...NO_RECEIPTS };
      const found = books.refunds.find(isOwn);
      const decimals = received.decimals ?? found?.decimals ?? decimalsOf(token);
      const refunds = found ?? { ...token, decimals, ...NO_REFUNDS };
      const lost = books.lost.find(isOwn) ?? { before: 0n, received: 0n };
      const opening = received.before + lost.before - refunds.before;
      return {
        ...token,
        decimals,
        opening,
        received,
        lost: lost.received,
        refunds,
        swept: books.swept.find(isOwn) ?? { ...token, ...NO_SWEEPS },
        closing: opening + received.received + lost.received - refunds.refunded,
        unexplained: BOOK_PARTS.reduce((left, part) => left - received[part], received.received),
        deposits: books.deposits.find(isOwn) ?? null,
      };
    });
  return { tokens, verdict: verdictOf(tokens, books), books };
}

function verdictOf(
  tokens: readonly TokenStatement[],
  { differences, overRefunds, depositDifferences }: Books,
): BooksVerdict {
  if (tokens.some(({ unexplained }) => unexplained !== 0n)) return 'unexplained';
  const named = differences.count + overRefunds.count + depositDifferences.count;
  return named === 0 ? 'balanced' : 'explained';
}
