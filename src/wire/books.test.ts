import { expect, it } from 'vitest';
import { statementOf, type Books, type DepositDifferenceRow } from '../domain/books.ts';
import { statementRecord } from './books.ts';

const NONE = { rows: [], count: 0 } as const;
const WEI = 13_122n;

/** Whether a difference of a deposit is explained, and by how much. */
function explained(row: Omit<DepositDifferenceRow, 'address' | 'network'>): string | null | undefined {
  const books: Books = {
    received: [],
    currencies: [],
    differences: NONE,
    refunds: [],
    refundCurrencies: [],
    overRefunds: NONE,
    lost: [],
    swept: [],
    fees: [],
    deposits: [{ ...row, network: 'ethereum', since: 0n }],
    depositDifferences: { rows: [{ ...row, address: '0x1', network: 'ethereum' }], count: 1 },
  };
  const days = { from: '2026-06-01', to: '2026-06-30', zone: 'UTC' } as const;
  const decimals = () => (row.asset === 'ETH' ? 18 : 6);
  const statement = statementOf(books, decimals);
  return statementRecord(statement, days, { startAt: 0, endAt: 1 }, 0).deposit_differences.rows[0]?.from_contracts;
}

it('more of the chain’s own coin than came is explained by what proves it: what left the deposit, or lies there', () => {
  expect(explained({ asset: 'ETH', received: WEI, swept: WEI + 999n, there: 0n })).toBe('0.000000000000000999');
  expect(explained({ asset: 'ETH', received: WEI, swept: WEI, there: 7n })).toBe('0.000000000000000007');
  expect(explained({ asset: 'ETH', received: WEI, swept: WEI - 1n, there: 0n })).toBeNull();
  // A token leaves a log wherever it comes from.
  expect(explained({ asset: 'USDT', received: WEI, swept: 2n * WEI, there: 0n })).toBeNull();
});
