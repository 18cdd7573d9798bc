import type { Books } from './books.ts';

const NONE = { rows: [], count: 0 } as const;

/** Books in which nothing happened. */
export const EMPTY_BOOKS: Books = {
  currency: 'USD',
  received: [],
  currencies: [],
  differences: NONE,
  refunds: [],
  refundCurrencies: [],
  overRefunds: NONE,
  repeatedRefunds: NONE,
  lost: [],
  swept: [],
  fees: [],
  deposits: [],
  depositDifferences: NONE,
};
