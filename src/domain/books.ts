import type { AssetCode } from './asset-code.ts';
import type { Fiat } from './money.ts';
import type { Network } from './networks.ts';
import type { PaymentApi } from './payment.ts';
import type { ProjectMode } from './permission.ts';

/** The steps of adding up a statement, in their order. */
export const BOOK_STEPS = ['transfers', 'payments', 'refunds', 'deposits'] as const;
export type BookStep = (typeof BOOK_STEPS)[number];

/** The largest number of rows that are listed one by one. */
export const MAX_NAMED = 200;

/** A project's money of a mode, and the currency of its values. */
export interface CountedScope extends ProjectMode {
  readonly currency: Fiat;
}

export interface TokenKey {
  readonly network: Network;
  readonly asset: AssetCode;
}

/** The received money of one token, by its state; amounts in its smallest unit. */
export interface ReceivedRow extends TokenKey {
  /** Decimals used in quotes of this token; null if no payment was quoted in it. */
  readonly decimals: number | null;
  /** Confirmed money received before the period, and in it. */
  readonly before: bigint;
  readonly received: bigint;
  /** Money of the period that pays for completed payments, and money beyond the amounts that they owed. */
  readonly applied: bigint;
  readonly excess: bigint;
  /** Money not accepted yet: its payment is still open, was underpaid, or was paid late. */
  readonly open: bigint;
  readonly underpaid: bigint;
  readonly late: bigint;
  /** Money in a token in which its payment was quoted earlier, and in a token in which it never was. */
  readonly superseded: bigint;
  readonly unquoted: bigint;
  /** Money received in the period that is not confirmed. */
  readonly unconfirmed: bigint;
  readonly transfers: number;
  /** The value at receipt of the period's confirmed money; `unvalued` counts the transfers without a known rate. */
  readonly value: bigint;
  readonly unvalued: number;
}

/** The money received in the period for payments in a currency, valued in that currency. */
export interface CurrencyRow {
  readonly currency: Fiat;
  readonly minor: bigint;
  readonly transfers: number;
  readonly unvalued: number;
}

/** A payment whose recorded sum differs from that of its transfers. */
export interface DifferenceRow extends TokenKey {
  readonly paymentId: string;
  readonly api: PaymentApi;
  /** The sum by its transfers, and by the payment. */
  readonly transfers: bigint;
  readonly payment: bigint;
}

export interface RefundRow extends TokenKey {
  readonly decimals: number;
  /** Refunds paid before the period, in the period, and not paid at its end. */
  readonly before: bigint;
  readonly refunded: bigint;
  readonly pending: bigint;
  readonly refunds: number;
  readonly value: bigint;
  readonly unvalued: number;
}

/** A payment whose refunds in a token, paid and pending, are more than its confirmed money. */
export interface OverRefundRow extends TokenKey {
  readonly paymentId: string;
  readonly api: PaymentApi;
  readonly received: bigint;
  readonly refunded: bigint;
}

/** A refund that several mined transactions pay, guesses apart. */
export interface RepeatedRefundRow extends TokenKey {
  readonly paymentId: string;
  readonly api: PaymentApi;
  readonly refundId: string;
  readonly units: bigint;
  readonly payouts: number;
}

export interface LostRow extends TokenKey {
  readonly before: bigint;
  readonly received: bigint;
}

export interface SweptRow extends TokenKey {
  readonly swept: bigint;
  readonly value: bigint;
  readonly sweeps: number;
  readonly unvalued: number;
}

/** Gas fees of the period's sweeps, in the chain's own coin; the fees of `unknown` sweeps have no known worth. */
export interface FeeRow {
  readonly network: Network;
  readonly units: bigint;
  readonly value: bigint;
  readonly sweeps: number;
  readonly unknown: number;
}

/** Deposit contracts: all money that ever came to them, up to now. */
export interface DepositRow extends TokenKey {
  readonly received: bigint;
  readonly swept: bigint;
  /** The last balance that a node told, and arrivals since then; null: no node was asked yet. */
  readonly there: bigint | null;
  readonly since: bigint;
}

/** A deposit whose balance differs from its arrivals less its sweeps, or from which more left than came. */
export interface DepositDifferenceRow extends TokenKey {
  readonly address: string;
  readonly received: bigint;
  readonly swept: bigint;
  readonly there: bigint;
  /** Money that a node's balances show, present or gone, without a recorded arrival. */
  readonly unseen: bigint;
  /** Money left it in a block for which no node could list the arrivals. */
  readonly isUnclear: boolean;
}

/** Rows that explain differences, of which at most `MAX_NAMED` are listed. */
export interface Named<Row> {
  readonly rows: readonly Row[];
  readonly count: number;
}

/** A project's money in a period; values are in its currency, in the smallest unit. */
export interface Books {
  readonly currency: Fiat;
  readonly received: readonly ReceivedRow[];
  readonly currencies: readonly CurrencyRow[];
  readonly differences: Named<DifferenceRow>;
  readonly refunds: readonly RefundRow[];
  readonly refundCurrencies: readonly CurrencyRow[];
  readonly overRefunds: Named<OverRefundRow>;
  readonly repeatedRefunds: Named<RepeatedRefundRow>;
  readonly lost: readonly LostRow[];
  readonly swept: readonly SweptRow[];
  readonly fees: readonly FeeRow[];
  readonly deposits: readonly DepositRow[];
  readonly depositDifferences: Named<DepositDifferenceRow>;
}

/** One token's money in a period, to the last unit. */
export interface TokenStatement extends TokenKey {
  readonly decimals: number;
  /** Confirmed money received before, less refunds; `closing` is the same at the end. */
  readonly opening: bigint;
  readonly received: ReceivedRow;
  /** Money on addresses that a restore lost. */
  readonly lost: bigint;
  readonly refunds: RefundRow;
  readonly swept: SweptRow;
  readonly closing: bigint;
  /** The received money, less all of its uses: 0 unless this program is wrong. */
  readonly unexplained: bigint;
  readonly deposits: DepositRow | null;
}

/** `explained`: each difference is attributed to a payment. */
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
  value: 0n,
  unvalued: 0,
} as const;
const NO_REFUNDS = { before: 0n, refunded: 0n, pending: 0n, refunds: 0, value: 0n, unvalued: 0 } as const;
const NO_SWEEPS = { swept: 0n, value: 0n, sweeps: 0, unvalued: 0 } as const;

/** The uses of confirmed money, whose sum is all of it. */
export const BOOK_PARTS = [
  'applied',
  'excess',
  'open',
  'underpaid',
  'late',
  'superseded',
  'unquoted',
] as const satisfies readonly (keyof ReceivedRow)[];

/** Combines the sums of each token. `decimalsOf` gives the decimals of a token in which no payment was quoted. */
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
  { differences, overRefunds, repeatedRefunds, depositDifferences }: Books,
): BooksVerdict {
  if (tokens.some(({ unexplained }) => unexplained !== 0n)) return 'unexplained';
  const named = differences.count + overRefunds.count + repeatedRefunds.count + depositDifferences.count;
  return named === 0 ? 'balanced' : 'explained';
}
