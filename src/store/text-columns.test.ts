import { expect, it } from 'vitest';
import { TEXT_COLUMNS } from './text-columns.fixture.ts';
import { TABLES } from './tables.ts';

const HOLDS_WORDS = new Set(['text', 'jsonb', 'ARRAY']);

it('every column that can hold words says whether they are a customer’s, which decides whether they can be deleted', () => {
  const there = Object.entries(TABLES).flatMap(([table, columns]) =>
    Object.entries(columns).flatMap(([name, { sqlType }]) => (HOLDS_WORDS.has(sqlType) ? [`${table}.${name}`] : [])),
  );
  const classed = Object.entries(TEXT_COLUMNS).flatMap(([table, columns]) =>
    Object.keys(columns).map((name) => `${table}.${name}`),
  );
  expect(classed.toSorted()).toEqual(there.toSorted());
});
