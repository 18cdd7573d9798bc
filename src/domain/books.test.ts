import { describe, expect, it } from 'vitest';
import { EMPTY_BOOKS } from './books.fixture.ts';
import { BOOK_PARTS, statementOf, type Books, type ReceivedRow } from './books.ts';

const BTC = { network: 'bitcoin', asset: 'BTC' } as const;
const ETH = { network: 'ethereum', asset: 'ETH' } as const;
const USDT = { network: 'ethereum', asset: 'USDT' } as const;
/** 100 before, and 127 in the period, each use with an amount of its own. */
const RECEIVED: ReceivedRow = {
  ...BTC,
  decimals: 8,
  before: 100n,
  received: 127n,
  applied: 1n,
  excess: 2n,
  open: 4n,
  underpaid: 8n,
  late: 16n,
  superseded: 32n,
  unquoted: 64n,
  unconfirmed: 7n,
  transfers: 3,
  value: 5n,
  unvalued: 1,
};
const REFUNDS = { ...BTC, decimals: 8, before: 10n, refunded: 20n, pending: 3n, refunds: 2, value: 9n, unvalued: 0 };
const of = (books: Partial<Books>) => statementOf({ ...EMPTY_BOOKS, ...books }, () => 6);

describe('a statement', () => {
  it('of nothing has no tokens, and balances', () => {
    expect(of({})).toMatchObject({ tokens: [], verdict: 'balanced', books: EMPTY_BOOKS });
  });

  it('opens with what came before less its refunds, and closes with what the period adds and takes', () => {
    const lost = [{ ...BTC, before: 1_000n, received: 2_000n }];
    const [token] = of({ received: [RECEIVED], refunds: [REFUNDS], lost }).tokens;
    expect(token).toMatchObject({ ...BTC, decimals: 8, opening: 1_090n, lost: 2_000n, closing: 3_197n });
    expect(token).toMatchObject({ received: RECEIVED, refunds: REFUNDS, unexplained: 0n, deposits: null });
    expect(of({ received: [RECEIVED], refunds: [REFUNDS], lost }).verdict).toBe('balanced');
  });

  it.each(BOOK_PARTS)('leaves unexplained what is missing in %s', (part) => {
    const { tokens, verdict } = of({ received: [{ ...RECEIVED, [part]: RECEIVED[part] - 1n }] });
    expect(tokens[0]?.unexplained).toBe(1n);
    expect(verdict).toBe('unexplained');
  });

  it('has each token once, by network and name, with its own rows alone', () => {
    const swept = [{ ...USDT, swept: 5n, value: 6n, sweeps: 1, unvalued: 0 }];
    const deposits = [{ ...ETH, received: 9n, swept: 4n, there: 5n, since: 0n }];
    const { tokens } = of({ received: [RECEIVED], refunds: [REFUNDS], swept, deposits });
    expect(tokens.map(({ network, asset }) => [network, asset])).toEqual([
      ['bitcoin', 'BTC'],
      ['ethereum', 'ETH'],
      ['ethereum', 'USDT'],
    ]);
    expect(tokens.map((token) => token.swept.swept)).toEqual([0n, 0n, 5n]);
    expect(tokens.map((token) => token.deposits?.there)).toEqual([undefined, 5n, undefined]);
    expect(tokens.map((token) => token.closing)).toEqual([197n, 0n, 0n]);
  });

  it('takes the decimals of payments, else of refunds, else those of the token', () => {
    const decimals = (books: Partial<Books>) =>
      of(books).tokens.map((token) => [token.decimals, token.refunds.decimals]);
    expect(decimals({ received: [RECEIVED] })).toEqual([[8, 8]]);
    expect(decimals({ received: [{ ...RECEIVED, decimals: null }], refunds: [{ ...REFUNDS, decimals: 7 }] })).toEqual([
      [7, 7],
    ]);
    expect(decimals({ lost: [{ ...ETH, before: 0n, received: 1n }] })).toEqual([[6, 6]]);
  });

  it.each(['differences', 'overRefunds', 'repeatedRefunds', 'depositDifferences'] as const)(
    'is explained where %s are named',
    (named) => {
      expect(of({ [named]: { rows: [], count: 1 } }).verdict).toBe('explained');
      expect(of({ [named]: { rows: [], count: 1 }, received: [{ ...RECEIVED, applied: 0n }] }).verdict).toBe(
        'unexplained',
      );
    },
  );

  it('is explained where several kinds are named, as many of each', () => {
    const one = { rows: [], count: 1 };
    expect(of({ differences: one, overRefunds: one }).verdict).toBe('explained');
    expect(of({ overRefunds: one, depositDifferences: one }).verdict).toBe('explained');
  });
});
