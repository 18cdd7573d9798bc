import { expect, it } from 'vitest';
import { EMPTY_BOOKS } from '../domain/books.fixture.ts';
import { statementOf, type Books, type DepositDifferenceRow } from '../domain/books.ts';
import { statementRecord } from './books.ts';

const WEI = 13_122n;

/** Whether a difference of a deposit is explained, and by how much. */
function explained(row: Omit<DepositDifferenceRow, 'address' | 'network'>): string | null | undefined {
  const books: Books = {
    ...EMPTY_BOOKS,
    deposits: [{ ...row, network: 'ethereum', since: 0n }],
    depositDifferences: { rows: [{ ...row, address: '0x1', network: 'ethereum' }], count: 1 },
  };
  const days = { from: '2026-06-01', to: '2026-06-30', zone: 'UTC' } as const;
  const decimals = () => (row.asset === 'ETH' ? 18 : 6);
  const statement = statementOf(books, decimals);
  return statementRecord(statement, days, { startAt: 0, endAt: 1 }, 0).deposit_differences.rows[0]?.from_contracts;
}

it('more of the chain’s own coin than came is explained by the balances that prove it, and not by what is said to have been swept', () => {
  const row = { asset: 'ETH', received: WEI, swept: WEI, there: 7n, isUnclear: false } as const;
  expect(explained({ ...row, unseen: 7n })).toBe('0.000000000000000007');
  // A sweep that is recorded twice brought nothing.
  expect(explained({ ...row, swept: 2n * WEI, there: 0n, unseen: 0n })).toBeNull();
  // A token leaves a log wherever it comes from.
  expect(explained({ ...row, asset: 'USDT', unseen: 7n })).toBeNull();
});

it('an amount of a coin that got nothing in the period has the decimals of the coin', () => {
  const difference = {
    paymentId: '01975b2a-0000-7000-8000-000000000001',
    api: 'order',
    network: 'bitcoin',
    asset: 'BTC',
  } as const;
  const books: Books = {
    ...EMPTY_BOOKS,
    differences: { rows: [{ ...difference, transfers: 0n, payment: 62_375_000n }], count: 1 },
  };
  const days = { from: '2026-06-01', to: '2026-06-30', zone: 'UTC' } as const;
  const { differences } = statementRecord(
    statementOf(books, () => 8),
    days,
    { startAt: 0, endAt: 1 },
    0,
  );
  expect(differences.rows[0]).toMatchObject({ transfers: '0', payment_sum: '0.62375' });
});
