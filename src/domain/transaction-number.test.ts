import { expect, it } from 'vitest';
import { formatTransactionNumber } from './transaction-number.ts';

it('a transaction’s number has six digits at least, and more when six are not enough', () => {
  expect(formatTransactionNumber(2026, 1)).toBe('TXN-2026-000001');
  expect(formatTransactionNumber(2026, 999_999)).toBe('TXN-2026-999999');
  expect(formatTransactionNumber(2027, 1_000_000)).toBe('TXN-2027-1000000');
});
